"""Forecasts beside outcomes: made-up ones value by value, and those of a stored experiment as its own report has them."""

from __future__ import annotations

from benchmarking.figures import forecasts as module
from benchmarking.figures.forecasts import forecasts_figure, outcomes_figure
from benchmarking.forecasting.data.experiment import canaries_of
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.result import Forecast, Status
from benchmarking.forecasting.report import ForecastOutcome, forecasts_of, measured_outcomes
from tests.benchmarking.figures.made_details import experiment, stored


def made(configuration, metric, median, low, high, actual=None, runs=1, status=Status.OK):
    forecast = Forecast(configuration, metric, median, low, high, low, high, status, "")
    return "b, RS seed 0", forecast, None if actual is None else ForecastOutcome(forecast, actual, runs)


def test_points_stand_at_what_was_measured_with_the_interval_of_the_forecast():
    figure = outcomes_figure(
        [
            made("a", "total_s", 110.0, 90.0, 130.0, 100.0, 2),
            made("c", "total_s", 50.0, 40.0, 60.0, 70.0),
            made("a", "cost_usd", 0.5, 0.25, 1.0, 0.25),
            made("a", "cpu_s", 8.0, 7.0, 9.0, 8.5),
            made("d", "total_s", None, None, None, status=Status.NOT_DECIDED),
        ]
    )
    total, cost, table = figure.panels
    (points,) = total.points
    assert (total.title, total.x.unit, total.y.unit, total.x.log) == ("total_s", "s", "s", False)
    assert (points.x, points.y, points.y_low, points.y_high) == ((100.0, 70.0), (110.0, 50.0), (90.0, 40.0), (130.0, 60.0))
    assert points.texts == ("b, RS seed 0: a", "b, RS seed 0: c")
    assert [(curve.x, curve.y) for curve in total.curves] == [((50.0, 110.0), (50.0, 110.0))]
    assert (cost.title, cost.x.unit, cost.points[0].x, cost.points[0].y) == ("cost_usd", "USD", (0.25,), (0.5,))
    assert table.rows == (
        ("b, RS seed 0", "a", "total_s", 110.0, 90.0, 130.0, "ok", 100.0, 2, True),
        ("b, RS seed 0", "c", "total_s", 50.0, 40.0, 60.0, "ok", 70.0, 1, False),
        ("b, RS seed 0", "a", "cost_usd", 0.5, 0.25, 1.0, "ok", 0.25, 1, True),
        ("b, RS seed 0", "a", "cpu_s", 8.0, 7.0, 9.0, "ok", 8.5, 1, True),
        ("b, RS seed 0", "d", "total_s", None, None, None, "not decided", None, None, None),
    )
    assert figure.notes == ("3 of 4 measurements lie within the 90 % interval of their forecast.",)


def test_values_more_than_ten_times_apart_are_on_logarithmic_axes():
    panel = outcomes_figure([made("a", "rss_bytes", 4.0, 1.0, 9.0, 2.0), made("c", "rss_bytes", 50.0, 9.0, 90.0, 70.0)]).panels[0]
    assert (panel.x.log, panel.y.log, panel.x.unit) == (True, True, "bytes")


def test_what_did_not_run_in_full_is_in_the_table_alone():
    figure = outcomes_figure([made("a", "total_s", 1.0, 1.0, 2.0)], left_out=3)
    assert [panel.title for panel in figure.panels] == ["All forecasts"]
    assert figure.notes == ("No forecast configuration ran in full.", "3 more experiments with canaries are left out.")


def test_a_stored_race_has_the_numbers_of_its_forecasts(tmp_path):
    one = stored(tmp_path, "race")
    forecasts = forecasts_of(one.definition, one.state, Question(Billing(one.region)))
    outcomes = measured_outcomes(canaries_of(one.definition, one.state), forecasts)
    figure = forecasts_figure([one])
    rows = {(row[1], row[2]): row[3:] for row in figure.panels[-1].rows}
    assert {key: row[:3] for key, row in rows.items()} == {(f.configuration, f.metric): (f.median, f.lo90, f.hi90) for f in forecasts}
    assert {key: row[4] for key, row in rows.items() if row[4] is not None} == {
        (found.forecast.configuration, found.forecast.metric): found.actual for found in outcomes
    }


def test_of_exactly_as_many_as_are_forecast_none_is_said_to_be_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_EXPERIMENTS", 1)
    one = stored(tmp_path, "race")
    assert not any("left out" in note for note in forecasts_figure([one, experiment()]).notes)
    assert forecasts_figure([one, one]).notes[-1] == "1 more experiments with canaries are left out."


def test_without_canaries_it_says_so():
    assert forecasts_figure([experiment(), experiment(state=None)]).notes == ("No experiment has canaries.",)
