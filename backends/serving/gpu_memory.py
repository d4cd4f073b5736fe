"""Memory of GPUs as NVIDIA's management library (NVML) tells it, where a driver is."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any

_LIBRARY = "libnvidia-ml.so.1"


class _MemoryInfo(ctypes.Structure):
    """`nvmlMemory_t`, in bytes."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class GpuMemory:
    """Asks the driver; it is loaded once, and nothing is asked where there is none.

    Args:
        load: makes the library of a name; raises OSError where there is none.
    """

    def __init__(self, load: Callable[[str], Any] = ctypes.CDLL) -> None:
        self._library: Any = None
        with contextlib.suppress(OSError):
            library = load(_LIBRARY)
            self._library = library if library.nvmlInit_v2() == 0 else None

    def used_bytes(self) -> int | None:
        """Return the bytes in use on all GPUs that the driver shows; None where there is no driver, or it does not tell."""
        if self._library is None:
            return None
        count = ctypes.c_uint()
        if self._library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            return None
        used = 0
        for number in range(count.value):
            device, info = ctypes.c_void_p(), _MemoryInfo()
            if self._library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(number), ctypes.byref(device)) != 0:
                return None
            if self._library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(info)) != 0:
                return None
            used += int(info.used)
        return used
