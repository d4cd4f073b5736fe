"""A guard: our four packages have plain names, and a user's own `launch.py` or `definitions/` on the path could shadow one."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

PACKAGES = ("definitions", "backends", "benchmarking", "launch")


def _find(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin)


def check_origin(find: Callable[[str], Path | None] = _find) -> str | None:
    """Return what is wrong where one of the four packages comes from elsewhere than the others, or None.

    Args:
        find: returns the file that a package would be imported from.
    """
    home = Path(__file__).resolve().parent.parent
    for package in PACKAGES:
        found = find(package)
        if found is None:
            return f"package {package!r} is missing; it belongs beside launch/ in {home}"
        if found.resolve() != home / package / "__init__.py":
            return f"package {package!r} comes from {found}, not from {home / package}; rename that file or folder, or run elsewhere"
    return None
