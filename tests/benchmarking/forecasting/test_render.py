"""Forecasts as text: values in their units, one line for a configuration, CSV and JSON."""

import json

import pytest

from benchmarking.forecasting.model.result import Forecast, Status
from benchmarking.forecasting.render import as_csv, as_json, as_table, readable, summary_rows

MIB, GIB = 1024**2, 1024**3


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("total_s", 99.94, "99.9 s"),
        ("total_s", 100.0, "100 s"),
        ("total_s", 100.4, "100 s"),
        ("load_s", 0.01234, "0.0123 s"),
        ("train_s", 1234.5, "1234 s"),
        ("rss_bytes", 2.5 * GIB, "2.50 GiB"),
        ("gpu_bytes", 0.1 * GIB, "0.10 GiB"),
        ("rss_bytes", 51.25 * MIB, "51.2 MiB"),
        ("cost_usd", 0.0123, "$0.012"),
        ("cpu_util", 12.345, "12.3"),
        ("total_s", None, "-"),
    ],
)
def test_values_have_their_unit(metric, value, text):
    assert readable(metric, value) == text


def made(metric, median, status=Status.OK, configuration="a"):
    ends = [None] * 4 if median is None else [0.9 * median, 1.1 * median, 0.8 * median, 1.2 * median]
    return Forecast(configuration, metric, median, *ends, status, "5 runs")


def test_a_configuration_is_one_line_with_the_gravest_of_time_and_memory():
    found = [made("total_s", 200.0, Status.WIDE), made("rss_bytes", 4.0 * GIB), made("total_s", 100.0, configuration="b"),
             made("rss_bytes", 9.0 * GIB, Status.DOES_NOT_FIT, "b"), made("cost_usd", None, Status.NOT_DECIDED, "b")]  # fmt: skip
    header, rows = summary_rows(found, {"a": 0.25, "b": None})
    assert header == ["configuration", "price/h", "time", "cost", "memory", "status"]
    assert rows[0] == ["a", "$0.25", "200 s (180 s to 220 s)", "-", "4.00 GiB (3.60 GiB to 4.40 GiB)", "wide"]
    assert rows[1] == ["b", "unknown", "100 s (90 s to 110 s)", "-", "9.00 GiB (8.10 GiB to 9.90 GiB)", "does not fit"]


def test_csv_has_empty_cells_and_json_nulls_where_nothing_can_be_said():
    found = [made("total_s", None, Status.NOT_DECIDED)]
    assert as_csv(found).splitlines() == [
        "configuration,metric,median,lo80,hi80,lo90,hi90,status,why",
        "a,total_s,,,,,,not decided,5 runs",
    ]
    assert json.loads(as_json(found))[0]["median"] is None


def test_the_table_has_a_line_for_each_metric_with_both_intervals():
    header, _, line, nothing = as_table([made("total_s", 200.0), made("cost_usd", None, Status.NOT_DECIDED)]).splitlines()
    assert header.split("  ")[0] == "configuration"
    assert "200 s" in line
    assert "180 s to 220 s" in line
    assert "160 s to 240 s" in line
    assert nothing.split()[:2] == ["a", "cost_usd"]
