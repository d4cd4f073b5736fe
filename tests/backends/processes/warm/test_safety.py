"""What a process holds that a fork cannot share."""

from __future__ import annotations

import sys
import types

import pytest

from backends.processes.warm import safety


def test_devices_and_cuda_are_no_things_to_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "thread_count", lambda: 1)
    monkeypatch.setattr(safety, "_children", lambda: False)
    monkeypatch.setattr(safety, "open_descriptors", lambda: {0: "/dev/null", 5: "/dev/urandom", 7: "/dev/nvidiactl"})
    assert safety.unsafe({0}) == "opened the device /dev/nvidiactl, which a fork cannot share"
    assert safety.unsafe({0, 7}) == ""
    torch = types.SimpleNamespace(cuda=types.SimpleNamespace(is_initialized=lambda: True))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert safety.unsafe({0, 7}) == "initialised CUDA, which does not survive a fork"
