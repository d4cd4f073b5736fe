"""Where the time of a call goes: what CloudWatch says of the service beside the client's own mean; the rest is the network's. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from definitions.scalars import is_number

CALLS, CALL, MODEL, OVERHEAD, LOADING, CACHE_HIT = "calls", "call_mean_ms", "model_ms", "overhead_ms", "loading_wait_ms", "cache_hit"
NETWORK, NETWORK_SHARE = "network_ms", "network_share"

_MOST_CALLS = 1.05
"""What the service may have counted for each call that the client had an answer to; more are others' calls, or such as it gave up."""

SERVICE_NAMES = (MODEL, OVERHEAD, LOADING, CACHE_HIT, NETWORK, NETWORK_SHARE)
"""All that `service_shares` gives, in the order of tables."""


def service_shares(last: Mapping[str, Any], usage: Mapping[str, Any]) -> dict[str, float]:
    """Return means of all calls of a trial's last job, in milliseconds; what is not known is left out.

    A call is the model's answer and the service's overhead, of which the wait for a model to be loaded is a part, and the way there and
    back with the client's own reading, which is what is left of the client's mean. Clocks that disagree can leave less than nothing. Where
    the service counts more calls than the client had answers to, the means are not of the same calls, and nothing is said of the network.

    Args:
        last: the last value that the script reported under each name.
        usage: of the closed job; `service` holds mean and count of each of CloudWatch's metrics.
    """
    told = usage.get("service")
    means = {name: _mean(told.get(name)) for name in (MODEL, OVERHEAD, LOADING, CACHE_HIT)} if isinstance(told, Mapping) else {}
    found = {name: mean for name, (mean, _) in means.items() if mean is not None}
    call_ms = last.get(CALL)
    if MODEL in found and LOADING in found and means[MODEL][1]:
        # Of all calls, where a service tells of those alone that waited.
        found[LOADING] *= means[LOADING][1] / means[MODEL][1]
    calls = last.get(CALLS)
    same = not is_number(calls) or means.get(MODEL, (None, 0.0))[1] <= _MOST_CALLS * calls
    if MODEL in found and OVERHEAD in found and is_number(call_ms) and call_ms > 0 and same:
        found[NETWORK] = call_ms - found[MODEL] - found[OVERHEAD]
        found[NETWORK_SHARE] = found[NETWORK] / call_ms
    return {name: round(value, 6) for name in SERVICE_NAMES if (value := found.get(name)) is not None}


def _mean(told: Any) -> tuple[float | None, float]:
    held = told if isinstance(told, Mapping) else {}
    mean, count = held.get("mean"), held.get("count")
    return (float(mean) if is_number(mean) else None), (float(count) if is_number(count) else 0.0)
