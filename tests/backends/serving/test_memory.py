"""The memory of a tree of processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from backends.serving.memory import tree_bytes

TAKES = "import sys; held = bytearray(64 << 20); print('there', flush=True); sys.stdin.read()"


@pytest.mark.slow
def test_what_a_process_takes_of_its_own_is_counted_whole_and_files_once():
    taking = [subprocess.Popen([sys.executable, "-c", TAKES], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for process in taking:
            process.stdout.readline()
        one, other, both = (tree_bytes([process.pid for process in chosen]) for chosen in (taking[:1], taking[1:], taking))
        assert one > 64 << 20
        assert abs(one - other) < 4 << 20
        assert 128 << 20 < both < one + other, "the files of the second, which are those of the first, are not counted again"
    finally:
        for process in taking:
            process.stdin.close()
            process.wait()
            process.stdout.close()


def test_a_process_that_is_gone_takes_nothing():
    assert tree_bytes([2**22 + 1]) == 0 < tree_bytes([os.getpid()])
