"""What modules noted about the process that imported them, renewed in each job. Standard library only.

A module that keeps its process's number or working directory would take a job for the worker: it would not see that it was forked, or would
write where the worker is.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NotedFacts:
    """The global variables of loaded modules that hold this process's number or its working directory, found before it is forked."""

    def __init__(self) -> None:
        self._numbers: list[tuple[dict[str, Any], str]] = []
        self._folders: list[tuple[dict[str, Any], str]] = []
        pid, folder = os.getpid(), os.getcwd()  # noqa: PTH109 (pathlib would be one more module in each job)
        for module in [*sys.modules.values()]:
            names: dict[str, Any] = getattr(module, "__dict__", None) or {}
            for name, value in [*names.items()] if type(names) is dict else ():
                # Any number may be equal to ours by chance, so that its name has to say what it is; a folder's path is no accident.
                if type(value) is int and value == pid and "pid" in name.lower():
                    self._numbers.append((names, name))
                elif _path(value) == folder:
                    self._folders.append((names, name))

    def renew(self) -> None:
        """Have them hold those of this process."""
        for names, name in self._numbers:
            names[name] = os.getpid()
        for names, name in self._folders:
            names[name] = type(names[name])(os.getcwd())  # noqa: PTH109


def _path(value: object) -> str:
    """Return what a text or a path of the standard library says, and nothing for all else, whose code is not ours to run."""
    if type(value) is str:
        return value
    paths = sys.modules.get("pathlib")
    # By its type, as an object may answer anything for its class; a type may answer anything for its module.
    return str(value) if paths is not None and issubclass(type(value), paths.PurePath) else ""
