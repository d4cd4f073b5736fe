"""Outrider from Python and a notebook: `run` tunes a definition or a function, `load` reads a run again, `report` reports.

A `launch.py`, `definitions/`, `backends/` or `benchmarking/` of the user's own gets in the way of nothing, and nothing gets in its way:
where there is one, ours has that name only while a call of `run` or `load` lasts. `report` imports none: in a job they are the script's.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import threading
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from definitions.errors import OutriderError, UserError
    from launch.result import Interrupted, Result, Results

__all__ = ["Interrupted", "OutriderError", "Result", "Results", "UserError", "load", "program", "report", "run"]

_HOME = Path(__file__).resolve().parent
_PACKAGES = ("definitions", "backends", "benchmarking", "launch")
_CLASSES = {
    "Interrupted": "launch.result",
    "OutriderError": "definitions.errors",
    "Result": "launch.result",
    "Results": "launch.result",
    "UserError": "definitions.errors",
}


def run(benchmark: Any = None, **options: Any) -> Any:
    """Run experiments and return what came of them.

    Args:
        benchmark: a name, the path of a YAML file, a mapping with the keys of a definition, a `BenchmarkDefinition`, or a function of
            keyword arguments that reports or returns its metrics; or a list of these. None to go on with a tag: `resume="TAG"`.
        **options: `space` and other keys of a definition, over what the benchmark says; `settings` and the other fields of
            `launch.request.RunRequest`; `max_num_trials` and the other limits of `outrider run`; `emulate` and `yes` as its flags;
            `remote=True`, or a mapping of its options, to launch it.

    Returns:
        A `Result`, or `Results`, a list of them, where there are several experiments; None after `dry_run=True`, which only prints.
        With `remote` a `RemoteRun`, which has `status`, `wait`, `collect` and `stop`.

    Raises:
        UserError: wrong use; what was measured is kept.
        Interrupted: Ctrl-C, or the stop button of a notebook; what was measured is kept, and is in it.
    """
    if os.environ.get("OUTRIDER_FUNCTION_JOB"):
        raise RuntimeError('outrider.run in a trial, which runs its file: put the call below `if __name__ == "__main__":`')
    with _own_packages() as users:
        return importlib.import_module("launch.face").run(benchmark, options, users)


def load(tag: str, results_dir: Path | str | None = None) -> Any:
    """Return the result of a tag's experiment, or all where it has several; raises `UserError` for an unknown one.

    Args:
        tag: `experiment_tag` of the run.
        results_dir: folder of all results; default `results`, or that of OUTRIDER_RESULTS.
    """
    with _own_packages():
        return importlib.import_module("launch.face").load(tag, results_dir)


def report(**metrics: Any) -> None:
    """Report metrics from a script or function that is tuned: `outrider_report.report`."""
    _reporter().report(**metrics)


def program() -> int:
    """Run as the program `outrider` and return its exit code."""
    with _own_packages():
        return int(importlib.import_module("launch.__main__").program())


def __getattr__(name: str) -> Any:
    """Return a class that `run` returns or raises; they are imported when asked for."""
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _own_packages():
        return getattr(importlib.import_module(_CLASSES[name]), name)


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


class _Names:
    """Whose modules the contested names are in `sys.modules`: ours inside of `ours`, else the user's where there are such.

    Contested are the names of our packages, and those of files beside the user's script that something else has too (`yaml.py`).
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside = 0
        self._path: list[str] = []
        self._contested: list[str] = []
        self._ours: dict[str, ModuleType] = {}
        self._theirs: dict[str, ModuleType] = {}
        self._shared: set[str] = set()

    @contextlib.contextmanager
    def ours(self) -> Iterator[Mapping[str, ModuleType]]:
        """Inside the block the names are ours, in all threads; blocks may overlap. Gives the modules by the names that the user has."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._enter()
        try:
            yield ChainMap(self._theirs, sys.modules)
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._leave()

    def _enter(self) -> None:
        main = sys.modules.get("__main__")
        file = getattr(main, "__file__", None)
        # `python -m` looks for modules where it is called, in place of beside the script.
        called = [str(Path.cwd())] if getattr(main, "__spec__", None) is not None else []
        beside = {"", *called, *([str(Path(file).parent), str(Path(file).resolve().parent)] if file else [])}
        rest = [path for path in sys.path if path not in beside]
        self._path = [*sys.path]
        # What stands beside the user's script is found as well, but only where nothing else has that name.
        sys.path[:] = [str(_HOME), *rest, *(path for path in self._path if path in beside)]
        folders = {Path(path or ".").resolve() for path in self._path if path in beside}
        self._contested = [*_PACKAGES, *(name for name in _modules_in(folders) if PathFinder.find_spec(name, rest) is not None)]
        self._theirs, self._shared = {}, set()
        for name in self._contested:
            module = sys.modules.get(name)
            if module is not None and (_file_of(module) == _own_file(name) if name in _PACKAGES else _folder_of(module) not in folders):
                self._shared.add(name)
                continue
            self._theirs |= _taken(name)
            sys.modules.update({full: one for full, one in self._ours.items() if _belongs(full, name)})
        for package in _PACKAGES:
            importlib.import_module(package)

    def _leave(self) -> None:
        sys.path[:] = [*self._path, *(path for path in sys.path if path not in (*self._path, str(_HOME)))]
        for name in self._contested:
            hidden = {full: one for full, one in self._theirs.items() if _belongs(full, name)}
            # Where the name means nothing else to the user ours stays: it may be imported, and what is pickled is found by its name.
            if hidden or (name not in self._shared and _leads_elsewhere(name)):
                self._ours |= _taken(name)
                sys.modules.update(hidden)


def _modules_in(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the names by which files and folders in these folders could be imported."""
    for folder in folders:
        with contextlib.suppress(OSError):
            for path in folder.iterdir():
                name = path.name.partition(".")[0]
                if name.isidentifier() and name not in _PACKAGES and (path.suffix in (".py", ".so") or (path / "__init__.py").is_file()):
                    yield name


def _taken(name: str) -> dict[str, ModuleType]:
    """Remove a module and all in it from `sys.modules`, and return what was there."""
    return {full: sys.modules.pop(full) for full in [*sys.modules] if _belongs(full, name)}


def _belongs(full: str, name: str) -> bool:
    return full.partition(".")[0] == name


def _own_file(package: str) -> Path:
    return _HOME / package / "__init__.py"


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).resolve()


def _folder_of(module: ModuleType) -> Path | None:
    """Return the folder that a module was found in."""
    file = _file_of(module)
    return None if file is None else file.parent.parent if hasattr(module, "__path__") else file.parent


def _leads_elsewhere(name: str) -> bool:
    """Return whether the user would get another module of this name than the one that is imported."""
    module = sys.modules.pop(name, None)
    if module is None:
        return False
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    finally:
        sys.modules[name] = module
    return spec is not None and (spec.origin is None or Path(spec.origin).resolve() != _file_of(module))


_own_packages = _Names().ours  # of the process, as `sys.modules` is

if __name__ == "__main__":
    sys.exit(program())
