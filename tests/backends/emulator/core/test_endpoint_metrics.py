"""Sums of what endpoints did, by the second."""

from __future__ import annotations

from backends.emulator.core.endpoint_metrics import EndpointMetrics, MetricSum


def test_invocations_of_one_second_are_one_sum_and_are_taken_once():
    metrics = EndpointMetrics()
    for at, value in ((10.1, 5.0), (10.9, 1.0), (11.0, 7.0)):
        metrics.add("e", "v", at, {"ModelLatency": (value, "Microseconds")})
    assert metrics.take() == [
        MetricSum("e", "v", "ModelLatency", "Microseconds", 10, 2, 6.0, 1.0, 5.0),
        MetricSum("e", "v", "ModelLatency", "Microseconds", 11, 1, 7.0, 7.0, 7.0),
    ]
    assert metrics.take() == []
