"""Repeats of a ladder's rungs, and what canaries need of a definition."""

import pytest

from benchmarking.forecasting.ladder.levels import per_job, repeats_of, rungs
from definitions.errors import UserError
from definitions.schema import PerJob, Progressive


def test_repeats_by_default_one_for_all_or_one_for_each():
    assert repeats_of((0.01, 0.03, 0.1), None, 1) == (2, 1, 1)
    assert repeats_of((0.01, 0.03, 0.1), None, 4) == (4, 4, 4)
    assert repeats_of((0.01, 0.03), 3, 4) == (3, 3)
    assert repeats_of((0.01, 0.03), [1, 5], 4) == (1, 5)
    with pytest.raises(UserError, match="the ladder has 2 rungs"):
        repeats_of((0.01, 0.03), [1], 1)


def test_rungs_are_climbed_repeat_by_repeat():
    assert rungs((0.01, 0.03), (2, 1)) == [(0.01, 0), (0.01, 1), (0.03, 0)]


def test_canaries_need_levels_that_are_jobs_of_their_own():
    fidelity = PerJob(kind="per_job", argument="fraction")
    assert per_job("CANARY", fidelity) is fidelity
    with pytest.raises(UserError, match="this definition has none"):
        per_job("CANARY", None)
    with pytest.raises(UserError, match="one job passes all levels"):
        per_job("CANARY", Progressive(kind="progressive", argument="epochs", reported_as="epoch", full=9))
    with pytest.raises(UserError, match="did you mean 'trees'"):
        per_job("CANARY", PerJob(kind="per_job", argument="fraction", family="tree"))
