from __future__ import annotations

import io
import os
import queue
import signal
import sys
from pathlib import Path

import pytest

from backends.common.process_tree import read_process
from launch.remote.controller_process import TAKEN_BY, ControllerProcess
from launch.remote.lives import Asked

pytestmark = pytest.mark.slow

LEAVES_A_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True, stderr=subprocess.DEVNULL)
print(child.pid, flush=True)
print("it went wrong", file=sys.stderr, flush=True)
os._exit(7)
"""
OBEYS = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(6))
print("ready", file=sys.stderr, flush=True)
time.sleep(600)
"""


class Heard(io.BytesIO):
    def __init__(self) -> None:
        super().__init__()
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.lines.put(data)
        return super().write(data)


def started(code: str, tmp_path: Path) -> tuple[ControllerProcess, queue.SimpleQueue[int], Heard]:
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    heard = Heard()
    # Its stdout is a file, as it is the job's own otherwise.
    words = [sys.executable, "-c", f"import sys; sys.stdout = open({str(tmp_path / 'out')!r}, 'w')\n{code}"]
    return ControllerProcess(words, tmp_path, os.environ, heard, ended.put), ended, heard


def test_what_a_controller_leaves_behind_is_gone_when_its_end_is_told(tmp_path):
    process, ended, heard = started(LEAVES_A_CHILD, tmp_path)
    assert ended.get(timeout=60) == 7
    left = read_process(int((tmp_path / "out").read_text(encoding="utf-8")))
    assert left is None or not left.alive
    assert process.last_words() == "it went wrong"
    assert heard.getvalue() == b"it went wrong\n"


@pytest.mark.parametrize(("asked", "code"), [(Asked.WIND_DOWN, 130), (Asked.DETACH, 6), (Asked.HAND_OVER, 6)])
def test_it_is_asked_by_a_signal(tmp_path, asked, code):
    process, ended, heard = started(OBEYS, tmp_path)
    assert heard.lines.get(timeout=60) == b"ready\n"
    process.ask(asked)
    assert ended.get(timeout=60) == code


def test_one_that_is_killed_has_the_signal_as_its_code_and_is_taken_before_its_supervisor(tmp_path):
    process, ended, heard = started(OBEYS, tmp_path)
    heard.lines.get(timeout=60)
    score = int(Path(f"/proc/{process.pid}/oom_score_adj").read_text(encoding="ascii"))
    assert score == TAKEN_BY > int(Path("/proc/self/oom_score_adj").read_text(encoding="ascii"))
    os.kill(process.pid, signal.SIGKILL)
    assert ended.get(timeout=60) == -9


def test_one_that_has_ended_hears_nothing(tmp_path):
    process, ended, _ = started("raise SystemExit(0)", tmp_path)
    assert ended.get(timeout=60) == 0
    process.ask(Asked.WIND_DOWN)
    process.kill()
