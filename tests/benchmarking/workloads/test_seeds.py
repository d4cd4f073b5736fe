"""What a training is seeded with."""

from __future__ import annotations

import pytest

from benchmarking.workloads.seeds import seed_of


@pytest.mark.parametrize(
    ("asked", "environ", "seed"),
    [
        (None, {"OUTRIDER_SEED": "17", "OUTRIDER_REPEAT": "2"}, 17),
        (None, {}, 0),
        (3, {"OUTRIDER_SEED": "17", "OUTRIDER_REPEAT": "2"}, 5),
        (0, {"OUTRIDER_SEED": "17"}, 0),
    ],
)
def test_what_is_asked_wins_over_what_the_job_has(asked, environ, seed):
    assert seed_of(asked, environ) == seed
