"""What the built-in benchmarks preload can be forked: where it cannot, jobs start cold, which is only slower, and no other test sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.failures import Outcome
from definitions.registry import Registry
from definitions.resolve import resolve
from tests.backends.local_bench import LocalBench

pytestmark = pytest.mark.slow


def preloads() -> dict[str, tuple[str, ...]]:
    registry = Registry()
    found = {listed.name: resolve(registry.find(listed.name), "local").definition.preload for listed in registry.names()}
    return {name: tuple(preload) for name, preload in found.items() if preload and preload != "auto"}


@pytest.mark.parametrize("preload", sorted(set(preloads().values())), ids="+".join)
def test_what_a_benchmark_preloads_can_be_forked(tmp_path: Path, preload: tuple[str, ...], caplog: pytest.LogCaptureFixture) -> None:
    bench = LocalBench(tmp_path, preload=preload)
    try:
        code = f"import sys\nreport(known=sum(name in sys.modules for name in {preload!r}))"
        ended = bench.end_of(bench.job("one", code))
    finally:
        bench.backend.close()
    assert ended.outcome is Outcome.COMPLETED
    assert "cannot be used" not in caplog.text
