"""Fronts of tests end with them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.backends.serving.front_bench import FrontBench


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Callable[..., FrontBench]]:
    """Start fronts in folders of the test; each is asked to end afterwards, and killed where it does not."""
    made: list[FrontBench] = []

    def make(**settings: Any) -> FrontBench:
        place = tmp_path / f"front{len(made)}" if made else tmp_path
        made.append(FrontBench(place, **{"folder": str(tmp_path / "targets"), **settings}))
        return made[-1]

    yield make
    for bench in made:
        with contextlib.suppress(OSError, TimeoutError):
            bench.close()
        bench.process.kill()
        bench.process.wait()
        if bench.process.stdout is not None:
            bench.process.stdout.close()
