"""Values of metrics are shown once, in their order."""

from __future__ import annotations

from backends.emulator.core.metric_series import MetricPoint, MetricSeries


def test_what_was_taken_is_not_taken_again():
    series = MetricSeries()
    points = [MetricPoint("job", "loss", value, value) for value in (3.0, 1.0, 2.0)]
    for point in points[:2]:
        series.add(point)
    assert series.take() == points[:2]
    series.add(points[2])
    assert (series.take(), series.take()) == ([points[2]], [])


def test_the_latest_are_kept_where_nobody_takes_them():
    series = MetricSeries()
    for number in range(200_003):
        series.add(MetricPoint("job", "loss", float(number), 0.0))
    assert [point.value for point in series.take()[:1]] == [3.0]
