"""Scores of finished jobs, and the stretch that they ask for."""

import pytest

from benchmarking.forecasting.model.calibration import Calibration, score
from benchmarking.forecasting.model.result import Forecast, Status

FORECAST = Forecast("a", "total_s", 100.0, 90.0, 120.0, 80.0, 150.0, Status.OK, "")


def test_a_score_is_the_distance_over_the_half_width_of_its_side():
    assert score(FORECAST, 150.0) == pytest.approx(1.0)
    assert score(FORECAST, 80.0) == pytest.approx(1.0)
    assert score(FORECAST, 100 * 1.5**2) == pytest.approx(2.0)
    assert score(FORECAST, 0.0) is None


@pytest.mark.parametrize(
    ("scores", "factor"),
    [
        ([k / 10 for k in range(1, 21)], 1.9),  # the 19th of 20: (20 + 1) 0.9 rounded up
        ([0.1] * 20, 0.8),
        ([9.0] * 20, 4.0),
        ([2.0] * 19, 1.0),
        ([], 1.0),
    ],
)
def test_the_stretch_is_the_conformal_quantile_within_limits_and_from_20_jobs_on(scores, factor):
    assert Calibration({"total_s": scores}).stretch("total_s")[0] == pytest.approx(factor)


def test_words_say_how_many_were_inside():
    assert "19 of 20 finished jobs, 12 inside" in Calibration({"total_s": [0.5] * 12 + [1.5] * 7}).stretch("total_s")[1]
    assert Calibration({"total_s": [2.0]}).stretch("cpu_s") == (1.0, "")
