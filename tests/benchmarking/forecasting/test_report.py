"""The two tables at the end of a run with canaries, and what full runs say of their forecasts."""

import pytest

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.model.result import Forecast, Status
from benchmarking.forecasting.report import ForecastOutcome, outcomes, raw_rows


def test_columns_that_nothing_was_measured_for_are_left_out_but_for_those_that_name_a_run():
    header, rows = raw_rows(CanaryTable((Canary("a", 0.01, total_s=3.0, about={"trial": 7}), Canary("a", 0.1, rss_bytes=2.0 * 1024**3))))
    assert header == ["configuration", "status", "fraction", "repeat", "job", "total_s", "memory peak"]
    assert rows == [["a", "completed", 0.01, 0, 7, 3.0, None], ["a", "completed", 0.1, 0, None, None, "2.00 GiB"]]


def test_a_full_run_is_set_beside_its_forecast():
    made = Forecast("a", "total_s", 110.0, 95.0, 120.0, 90.0, 130.0, Status.OK, "")
    full = [Canary("a", 1.0, n, total_s=value) for n, value in enumerate((95.0, 105.0))]
    (line,) = outcomes(CanaryTable((*full, Canary("a", 1.0, 2, total_s=900.0, status="failed"), Canary("b", 1.0, total_s=5.0))), [made])
    assert line == "a ran in full: 100 s; forecast 110 s, +10%, inside its 90 % interval"
    (line,) = outcomes(CanaryTable((Canary("a", 1.0, total_s=131.0),)), [made])
    assert line.endswith("-16%, outside its 90 % interval")


@pytest.mark.parametrize(
    ("actual", "low", "high", "inside"),
    [
        (90.0, 90.0, 130.0, True),
        (130.0, 90.0, 130.0, True),
        (130.5, 90.0, 130.0, False),
        (89.0, 90.0, 130.0, False),
        (100.0, None, 130.0, False),
    ],
)
def test_an_interval_holds_its_ends_and_one_that_is_not_known_holds_nothing(actual, low, high, inside):
    forecast = Forecast("a", "total_s", 110.0, 95.0, 120.0, low, high, Status.OK, "")
    assert ForecastOutcome(forecast, actual, 1).inside is inside
