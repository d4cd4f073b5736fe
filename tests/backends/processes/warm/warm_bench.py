"""A module that is worth preloading, and the worker that did."""

from __future__ import annotations

from tests.backends.local_bench import LocalBench

HEAVY = """
import os
BY = os.getpid()
state = {}
"""
"""A module whose `BY` tells who imported it: the job itself, or a worker."""


def worker_of(bench: LocalBench) -> int:
    worker = bench.backend._runner._starter._worker
    assert worker is not None
    return worker.pid
