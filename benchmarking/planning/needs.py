"""What jobs need to read their data: packages of our readers and programs, for one configuration; and what of it is missing here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from definitions.ingestion import Ingestion
from definitions.schema import BenchmarkDefinition

WORKLOADS = Path(__file__).resolve().parents[1] / "workloads"
"""Our scripts, which read by our readers."""

IsThere = Callable[[str], bool]


def packages_of(
    definition: BenchmarkDefinition, entry: Ingestion, layout: str, settings: Mapping[str, Any], *, is_emulated: bool
) -> tuple[str, ...]:
    """Return the packages that a job imports to read one channel, as they are called where they are imported.

    What a layout takes, and a loader, is asked of our scripts alone: nobody knows what a script of the user's own reads a table with.

    Args:
        definition: the resolved definition.
        entry: the ingestion.
        layout: of the data set.
        settings: arguments and configuration, by name.
        is_emulated: whether the job's reader imitates the platform's mode.
    """
    ours = Path(definition.source_dir).resolve() == WORKLOADS
    loader = ("torchdata",) if ours and settings.get("loader") == "stateful" else ()
    return (*entry.needs(is_emulated, layout if ours else ""), *loader)


def missing_text(name: str, entry: Ingestion, packages: tuple[str, ...], is_installed: IsThere, is_on_path: IsThere) -> str | None:
    """Return what is missing for an ingestion on this machine, and how to get it; None where nothing is.

    Args:
        name: of the ingestion, as the user says it.
        entry: the same.
        packages: that jobs import.
        is_installed: whether a package can be imported.
        is_on_path: whether there is a program.
    """
    missing = [package for package in packages if not is_installed(package)]
    if missing:
        return f"ingestion {name!r} needs what is not installed: pip install {' '.join(missing)}"
    if entry.program and not is_on_path(entry.program):
        return f"ingestion {name!r} needs the program {entry.program}, which is not on the path (https://github.com/awslabs/mountpoint-s3)"
    return None


def here(python: str | None) -> IsThere:
    """Return whether a package can be imported by the interpreter of jobs on this machine.

    Args:
        python: the interpreter; None for this one.
    """
    if python is None or (Path(python).resolve() == Path(sys.executable).resolve() and Path(python).parent == Path(sys.executable).parent):
        return _is_importable
    return lambda package: _is_importable_by(python, package)


def is_on_path(program: str) -> bool:
    """Return whether there is a program of this name."""
    return shutil.which(program) is not None


@cache
def _is_importable(package: str) -> bool:
    return find_spec(package) is not None


@cache
def _is_importable_by(python: str, package: str) -> bool:
    """Ask another interpreter; one that does not start is somebody else's to name."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    try:
        asked = subprocess.run([python, "-c", code, package], check=False, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return asked.returncode == 0
