"""What is known beforehand of algorithms and of short runs."""

import pytest

from benchmarking.forecasting.model.growth_prior import drift_of
from benchmarking.forecasting.model.priors import exponents_of
from definitions.errors import UserError


def test_an_unknown_family_is_answered_with_the_nearest_one():
    with pytest.raises(UserError, match="did you mean 'trees'"):
        exponents_of("tree")


def test_drift_is_that_of_short_runs_until_they_last_seconds():
    assert drift_of(0.02) > 0.15
    assert drift_of(0.25) == pytest.approx(0.115)
    assert drift_of(100.0) < 0.016
