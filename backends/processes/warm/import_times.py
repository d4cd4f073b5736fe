"""Times the imports of a forked job, for a controller that wants to know what is worth importing once. Standard library only.

What a script can look at stays as it is: no hook, finder or module is added. Only the interpreter's own function that loads what is not
loaded yet is wrapped, under its own name and file, so that tracebacks leave it out as they leave out the original.
"""

from __future__ import annotations

import _frozen_importlib
import os
import sys
import time
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LEAST_S = 0.005


def measure(path: str) -> None:
    """From now on append a line to a file for each import that is none within another: (name, seconds, file, those within it)."""
    load = _frozen_importlib._find_and_load  # type: ignore[attr-defined]
    thread = get_ident()
    within: list[list[tuple[Any, ...]]] = []

    def _find_and_load(name: str, import_: Any) -> Any:
        # Imports of other threads would be taken for parts of those that the first thread is at.
        if get_ident() != thread:
            return load(name, import_)
        inner: list[tuple[Any, ...]] = []
        within.append(inner)
        began = time.perf_counter()
        try:
            return load(name, import_)
        finally:
            took_s = time.perf_counter() - began
            within.pop()
            if took_s >= _LEAST_S:
                found = (name, took_s, getattr(sys.modules.get(name), "__file__", None) or "", inner)
                if within:
                    within[-1].append(found)
                else:
                    # Written at once, as a script may end in ways that nobody hears of.
                    _append(path, f"{found!r}\n".encode(errors="backslashreplace"))

    _find_and_load.__code__ = _find_and_load.__code__.replace(co_filename=load.__code__.co_filename, co_name="_find_and_load")
    _frozen_importlib._find_and_load = _find_and_load  # type: ignore[attr-defined]


def _append(path: str, data: bytes) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    try:
        os.write(descriptor, data)
    except OSError:
        pass
    finally:
        os.close(descriptor)
