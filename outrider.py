"""Outrider from Python and a notebook: `run` tunes a definition or a function, `load` reads a run again, `report` reports.

A `launch.py`, `definitions/`, `backends/` or `benchmarking/` of the user's own hides nothing: ours are imported from beside this file.
`report` imports none of them, so that in a job these names are the script's.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

__all__ = ["load", "program", "report", "run"]

_HOME = Path(__file__).resolve().parent
_PACKAGES = ("definitions", "backends", "benchmarking", "launch")


def run(benchmark: Any, **options: Any) -> Any:
    """Run experiments and return what came of them.

    Args:
        benchmark: a name, the path of a YAML file, a mapping with the keys of a definition, a `BenchmarkDefinition`, or a function of
            keyword arguments that reports or returns its metrics.
        **options: `space` and other keys of a definition, over those of the mapping or function; `settings` and the other fields of
            `launch.request.RunRequest`; `max_num_trials` and the other limits of `outrider run`.

    Returns:
        A `launch.result.Result`, or a list of them where there are several experiments.

    Raises:
        UserError: wrong use; what was measured is kept.
    """
    _own_packages()
    return importlib.import_module("launch.face").run(benchmark, options)


def load(tag: str, results_dir: Path | str | None = None) -> Any:
    """Return the result of a tag's experiment, or a list where it has several; raises `UserError` for an unknown one.

    Args:
        tag: `experiment_tag` of the run.
        results_dir: folder of all results; default `results`, or that of OUTRIDER_RESULTS.
    """
    _own_packages()
    return importlib.import_module("launch.face").load(tag, results_dir)


def report(**metrics: Any) -> None:
    """Report metrics from a script or function that is tuned: `outrider_report.report`."""
    _reporter().report(**metrics)


def program() -> int:
    """Run as the program `outrider` and return its exit code."""
    _own_packages()
    return int(importlib.import_module("launch.__main__").program())


def _reporter() -> Any:
    """Return the reporter's module, that of the job where there is one."""
    name = "outrider_report"
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, _HOME / "backends" / "reporter" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _own_packages() -> None:
    """Import our four packages from beside this file, whatever else on the path has their names.

    Raises:
        ImportError: another module of such a name was imported before.
    """
    sys.path.insert(0, str(_HOME))
    try:
        for name in _PACKAGES:
            module = importlib.import_module(name)
            found = getattr(module, "__file__", None)
            if found is None or Path(found).resolve() != _HOME / name / "__init__.py":
                raise ImportError(
                    f"outrider needs its own package {name!r}, and {found or module} was imported before under that name; "
                    f"import it after outrider.run, or rename it"
                )
    finally:
        sys.path.remove(str(_HOME))
