"""Jobs share memory between processes by sockets in the temporary folder, whose paths must stay short."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.slow

CODE = """
import os, socket, tempfile
folder = tempfile.mkdtemp(prefix="pymp-")
path = os.path.join(folder, "listener-abcdefgh")
socket.socket(socket.AF_UNIX).bind(path)
print("bound", len(path) < 108, flush=True)
"""


def test_a_socket_in_the_temporary_folder_can_be_bound_whatever_the_jobs_name(bench):
    name = bench.submit([sys.executable, "-c", CODE], name="n" * 63)
    bench.completed(name)
    assert [line for line in bench.lines(name) if line.startswith("bound")] == ["bound True"]
