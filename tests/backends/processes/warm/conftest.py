"""Benches whose jobs are forked from a worker, and ones whose jobs are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.local_bench import LocalBench, zombies
from tests.backends.processes.warm.warm_bench import HEAVY


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LocalBench]:
    (tmp_path / "heavy.py").write_text(HEAVY)
    before = {*zombies()}
    bench = LocalBench(tmp_path, preload=("heavy",))
    yield bench
    assert bench.backend.close() == []
    assert {*zombies()} <= before


@pytest.fixture
def cold(tmp_path: Path) -> Iterator[LocalBench]:
    (tmp_path / "cold").mkdir()
    (tmp_path / "cold" / "heavy.py").write_text(HEAVY)
    bench = LocalBench(tmp_path / "cold")
    yield bench
    assert bench.backend.close() == []
