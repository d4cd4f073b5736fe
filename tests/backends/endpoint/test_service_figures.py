"""The service's own figures of a load: which minutes are asked for, and how they are added up."""

from __future__ import annotations

from backends.endpoint.service_figures import service_figures


class FakeCloudWatch:
    def __init__(self, **points):
        self.points, self.asked = points, []

    def get_metric_statistics(self, **request):
        self.asked.append(request)
        return {"Datapoints": self.points.get(request["MetricName"], [])}


def point(count, total, most):
    return {"SampleCount": count, "Sum": total, "Maximum": most}


def test_minutes_are_weighted_by_their_values_and_microseconds_become_milliseconds():
    client = FakeCloudWatch(ModelLatency=[point(1.0, 9000.0, 9000.0), point(3.0, 3000.0, 2000.0)], ModelCacheHit=[point(4.0, 3.0, 1.0)])
    found = service_figures(client, "x1", 130.0, 185.0)
    assert found == {"model_ms": {"mean": 3.0, "max": 9.0, "count": 4.0}, "cache_hit": {"mean": 0.75, "max": 1.0, "count": 4.0}}
    first = client.asked[0]
    assert (first["StartTime"].timestamp(), first["EndTime"].timestamp(), first["Period"]) == (120.0, 240.0, 60)
    assert first["Dimensions"][0] == {"Name": "EndpointName", "Value": "x1"}


def test_of_a_day_and_more_no_more_values_are_asked_for_than_an_answer_holds():
    client = FakeCloudWatch()
    assert service_figures(client, "x1", 0.0, 200_000.0) == {}
    assert client.asked[0]["Period"] == 180
