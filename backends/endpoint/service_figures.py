"""What CloudWatch says of an endpoint while it was under load, beside what the client measured: the difference is the network's."""

from __future__ import annotations

import datetime
import math
from typing import Any

from backends.endpoint.requests import VARIANT

METRICS = {
    "ModelLatency": ("model_ms", 1e-3),
    "OverheadLatency": ("overhead_ms", 1e-3),
    "ModelLoadingWaitTime": ("loading_wait_ms", 1e-3),
    "ModelCacheHit": ("cache_hit", 1.0),
}
"""By CloudWatch's name: ours, and by what a value is multiplied, as times are in microseconds there and in milliseconds here."""
_PERIOD_S = 60
_MOST_POINTS = 1440


def service_figures(client: Any, endpoint: str, begin: float, end: float) -> dict[str, dict[str, float]]:
    """Return mean, largest value and number of values of each metric by our name; those that there are none of are left out.

    Args:
        client: boto3's for `cloudwatch`.
        endpoint: its name.
        begin: of the load, in seconds since the epoch; whole minutes around it are asked for.
        end: likewise.
    """
    start_s, end_s = math.floor(begin / _PERIOD_S) * _PERIOD_S, (math.floor(end / _PERIOD_S) + 1) * _PERIOD_S
    period_s = _PERIOD_S * max(1, math.ceil((end_s - start_s) / _PERIOD_S / _MOST_POINTS))
    found = {}
    for metric, (name, factor) in METRICS.items():
        answer = client.get_metric_statistics(
            Namespace="AWS/SageMaker",
            MetricName=metric,
            Dimensions=[{"Name": "EndpointName", "Value": endpoint}, {"Name": "VariantName", "Value": VARIANT}],
            StartTime=datetime.datetime.fromtimestamp(start_s, datetime.UTC),
            EndTime=datetime.datetime.fromtimestamp(end_s, datetime.UTC),
            Period=period_s,
            Statistics=["SampleCount", "Sum", "Maximum"],
        )
        points = answer.get("Datapoints", [])
        count = sum(float(one["SampleCount"]) for one in points)
        if count > 0:
            mean = sum(float(one["Sum"]) for one in points) / count
            most = max(float(one["Maximum"]) for one in points)
            found[name] = {"mean": round(mean * factor, 3), "max": round(most * factor, 3), "count": count}
    return found
