"""What the job of a function runs: it calls the function with its trial's values and reports what that returns.

A copy stands beside the script that defines the function, in a process that may have nothing else of ours. Standard library only.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

IN_FUNCTION = "OUTRIDER_FUNCTION_JOB"
"""Variable that is set in the job of a function."""


def begin(folders: list[str]) -> None:
    """Look for modules in these folders too, as the process did that the function comes from."""
    os.environ[IN_FUNCTION] = "1"
    sys.path[1:1] = folders


def module_of(file: str) -> ModuleType:
    """Return what a file defines, as if it were imported."""
    sys.path.insert(0, str(Path(file).parent))
    spec = importlib.util.spec_from_file_location("tuned_function", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tuned_function"] = module
    spec.loader.exec_module(module)
    return module


def imported(module: str, name: str = "") -> Any:
    """Return a module, or what is found in it under a dotted name."""
    found: Any = importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


def value_of(name: str) -> Any:
    """Return what a file beside this one holds."""
    with Path(__file__).with_name(name).open("rb") as file:
        return pickle.load(file)


def call(function: Callable[..., Any], objective: str) -> None:
    """Call a function with the values in the file that the command line names, and report what it returns.

    Args:
        function: of keyword arguments.
        objective: what a returned number is called.

    Raises:
        TypeError: it returned something else than a number, a mapping of metrics or None.
    """
    arguments = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found = function(**arguments)
    if found is None:
        return
    if not isinstance(found, Mapping):
        try:
            found = {objective: float(found)}
        except (TypeError, ValueError):
            kind = type(found).__name__
            raise TypeError(f"the function returned a {kind}; a number, a mapping of metrics, or nothing is expected") from None
    importlib.import_module("outrider_report").report(**found)
