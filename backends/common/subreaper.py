"""Makes this process the parent of its jobs' orphans, so that none is out of sight. Linux only."""

from __future__ import annotations

import sys
from collections.abc import Callable

_SET, _GET = 36, 37  # PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER of <linux/prctl.h>


class Subreaper:
    """Sets the process's attribute and restores it. Without Linux it does nothing."""

    def __init__(self) -> None:
        self._prctl: Callable[..., int] | None = None
        self._before = 0
        if sys.platform == "linux":
            import ctypes

            self._prctl = ctypes.CDLL(None).prctl
            value = ctypes.c_int(0)
            self._prctl(_GET, ctypes.byref(value), 0, 0, 0)
            self._before = value.value

    def claim(self) -> None:
        """Set the attribute; again whenever another user of this process may have restored it."""
        if self._prctl is not None:
            self._prctl(_SET, 1, 0, 0, 0)

    def restore(self) -> None:
        """Set the attribute to what it was."""
        if self._prctl is not None:
            self._prctl(_SET, self._before, 0, 0, 0)
