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

            # The C library that the interpreter itself has loaded.
            self._prctl = ctypes.CDLL(None).prctl
            # Remembered, as the program that runs us may be one already and rely on it.
            value = ctypes.c_int(0)
            self._prctl(_GET, ctypes.byref(value), 0, 0, 0)
            self._before = value.value

    def claim(self) -> None:
        """Set the attribute; again whenever another user of this process may have restored it."""
        # Not inherited by children, so that a job's own orphans still come here and not to the job.
        if self._prctl is not None:
            self._prctl(_SET, 1, 0, 0, 0)

    def restore(self) -> None:
        """Set the attribute to what it was."""
        # Orphans that have come here already stay ours; later ones go where they went before.
        if self._prctl is not None:
            self._prctl(_SET, self._before, 0, 0, 0)
