"""How right forecasts were: scores of configurations that also ran in full."""

import math

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.past_jobs import calibration_of, scores_of
from tests.benchmarking.forecasting.canary_tables import canaries, table


def test_a_full_run_is_scored_by_its_distance_over_the_half_width():
    small = canaries(instance_type="ml.m5.large")
    found = scores_of(table(small, [Canary("job", 1.0, total_s=1020.0, instance_type="ml.m5.large")]), "us-east-1")
    assert set(found) == {"total_s"}
    (near,) = found["total_s"]
    assert 0 <= near < 0.6
    (far,) = scores_of(table(small, [Canary("job", 1.0, total_s=2040.0)]), "us-east-1")["total_s"]
    assert far > near + 3


def test_the_mean_of_several_full_runs_is_what_it_took():
    small = canaries()
    two = [Canary("job", 1.0, n, total_s=value) for n, value in enumerate((800.0, 1240.0))]
    assert scores_of(table(small, two), "us-east-1") == scores_of(table(small, [Canary("job", 1.0, total_s=1020.0)]), "us-east-1")


@pytest.mark.parametrize("runs", [[], [Canary("job", 1.0, total_s=1020.0, status="failed")], [Canary("other", 1.0, total_s=1020.0)]])
def test_without_a_completed_full_run_of_its_own_there_is_no_score(runs):
    assert scores_of(table(canaries(), runs), "us-east-1") == {}


def test_bills_are_scored_by_what_was_billed():
    small = canaries(instance_type="ml.m5.large")
    full = Canary("job", 1.0, total_s=1020.0, instance_type="ml.m5.large", about={"cost_usd": 1020 / 3600 * 0.115})
    found = scores_of(table(small, [full]), "us-east-1")
    assert found["cost_usd"][0] == pytest.approx(found["total_s"][0], abs=0.05)
    assert math.isfinite(found["cost_usd"][0])


def test_a_folder_that_is_not_there_has_no_scores(tmp_path):
    assert calibration_of(tmp_path / "nowhere").scores == {}
    assert calibration_of(tmp_path).scores == {}
