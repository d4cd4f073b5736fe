import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from backends.common.child_process import Child, ForkedProcess, allowed_cores, wait_for_end


@pytest.mark.slow
@pytest.mark.parametrize("pidfd", [True, False])
def test_the_end_is_waited_for_no_longer_than_said(monkeypatch: pytest.MonkeyPatch, pidfd: bool) -> None:
    if not pidfd:
        monkeypatch.delattr("os.pidfd_open", raising=False)
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read(); sys.exit(3)"], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert not wait_for_end(process, 0.01)
        assert process.returncode is None
        process.stdin.close()
        assert wait_for_end(process, 20.0)
        assert process.returncode == 3
        assert wait_for_end(process, 0.0)


def test_where_the_system_does_not_tell_the_cores_that_are_allowed_all_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert allowed_cores() == tuple(sorted(os.sched_getaffinity(0)))
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert allowed_cores() == (0, 1, 2)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert allowed_cores() == (0,)


def test_processor_time_and_memory_are_those_that_the_system_counted() -> None:
    usage = SimpleNamespace(ru_utime=1.5, ru_stime=0.25, ru_maxrss=2048)
    forked = Child(ForkedProcess(7), 0, 0, usage)
    assert (forked.cpu_s(), forked.peak_bytes()) == (1.75, 2 * 2**20)
    # A new process starts out with this one's peak, which is none of its own.
    assert Child(SimpleNamespace(pid=7, returncode=0), 0, 0, usage).peak_bytes() == 0
    assert (Child(ForkedProcess(7), 0, 0).cpu_s(), Child(ForkedProcess(7), 0, 0).peak_bytes()) == (None, 0)
