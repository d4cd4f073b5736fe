"""A limit of memory for some processes and their children, by which the kernel kills one of them for real: groups of version 1."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

_ROOT = Path("/sys/fs/cgroup/memory")
needs_groups = pytest.mark.skipif(
    not (_ROOT / "memory.limit_in_bytes").is_file() or not os.access(_ROOT, os.W_OK), reason="groups of memory cannot be made here"
)


@contextlib.contextmanager
def memory_group(name: str, limit_bytes: int, pids: Iterable[int]) -> Iterator[Path]:
    """Give a group with a limit for what these processes, and those that they start, take from now on."""
    group = _ROOT / f"outrider-test-{os.getpid()}-{name}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit_bytes))
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                (group / "cgroup.procs").write_text(str(pid))
        yield group
    finally:
        # It can be taken away once nobody is in it.
        until = time.monotonic() + 100.0
        while (left := (group / "cgroup.procs").read_text().split()) and time.monotonic() < until:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    (_ROOT / "cgroup.procs").write_text(pid)
        group.rmdir()
