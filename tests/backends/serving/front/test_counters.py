"""What unloaded models leave, and processor seconds."""

from __future__ import annotations

import os

from backends.serving.front.counters import Leak, cpu_s


def test_what_comes_after_the_second_unload_is_a_leak():
    leak = Leak()
    for residual in (5, 30, 33, 41):
        leak.unloaded(residual)
    assert (leak.unloads, leak.left_bytes) == (4, 11)
    leak.unloaded(20)
    assert leak.left_bytes == 0


def test_processor_seconds_are_those_of_the_system():
    own = sum(os.times()[:4])
    assert own - 0.1 <= cpu_s([os.getpid()]) <= own + 1.0
    assert cpu_s([2**22 + 1]) == 0.0
