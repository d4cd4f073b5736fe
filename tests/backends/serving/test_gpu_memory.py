"""GPU memory by a stand-in for the driver's library, which fills in what it is given as NVML does."""

from __future__ import annotations

import ctypes

from backends.serving.gpu_memory import GpuMemory


class Driver:
    """NVML with GPUs of which so much is used; `fails` names a function that returns an error."""

    def __init__(self, used, fails=""):
        self.used, self.fails = used, fails

    def nvmlInit_v2(self):  # noqa: N802 (NVML's names)
        return 1 if self.fails == "init" else 0

    def nvmlDeviceGetCount_v2(self, count):  # noqa: N802
        count._obj.value = len(self.used)  # noqa: SLF001 (what a reference of ctypes is to)
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, number, device):  # noqa: N802
        device._obj.value = number.value + 1  # noqa: SLF001
        return 0

    def nvmlDeviceGetMemoryInfo(self, device, info):  # noqa: N802
        words = ctypes.cast(ctypes.byref(info._obj), ctypes.POINTER(ctypes.c_ulonglong))  # noqa: SLF001
        words[0], words[1], words[2] = 100, 100 - self.used[device.value - 1], self.used[device.value - 1]
        return 15 if self.fails == "info" else 0


def test_what_is_used_on_all_gpus_is_added_up():
    assert GpuMemory(lambda name: Driver([30, 12])).used_bytes() == 42


def test_without_a_driver_or_its_word_nothing_is_known():
    def none(name):
        raise OSError(f"{name}: cannot open shared object file")

    assert GpuMemory(none).used_bytes() is None
    assert GpuMemory(lambda name: Driver([30], fails="init")).used_bytes() is None
    assert GpuMemory(lambda name: Driver([30], fails="info")).used_bytes() is None
