"""A running job's forecast in words, for people who wait for it. Pure."""

from __future__ import annotations

from benchmarking.forecasting.running.outlook import RunningForecast
from benchmarking.forecasting.running.projection import Openness
from benchmarking.report.text import dollars, duration


def running_text(found: RunningForecast, now: float, price: tuple[float | None, int] = (None, 1)) -> str:
    """Return how far a job is, when it ends, and what it will have cost then; where what follows its loop is not known, when that ends.

    Args:
        found: what is forecast of it.
        now: the back-end's time.
        price: dollars per instance-hour, None where that is not known, and the number of instances.
    """
    curve, end, latest = found.curve, found.end, found.latest
    last = curve.points[-1]
    since_s = last.elapsed_s + max(0.0, now - curve.at)
    ends = "ends" if found.tail is not None else "its loop ends"
    if end is Openness.MAY_STOP:
        far = f"{last.done:g} of at most {curve.at_most:g} done"
        if isinstance(latest, Openness):
            return far
        return f"{far}, {ends} in {duration(max(0.0, latest.hi90_s - since_s))} at the latest (95 %)"
    if isinstance(end, Openness):
        far = f"{last.done / curve.total:.0%} done" if curve.total and last.done <= curve.total else f"{last.done:g} done"
        return far if end is Openness.TOO_EARLY else f"{far}; its end is not decided: {end}"
    if end.done >= 1.0 and found.tail is None:
        return "100% done; what comes after its loop is not known"
    left, low, high = (max(0.0, seconds - since_s) for seconds in (end.median_s, end.lo80_s, end.hi80_s))
    text = f"{end.done:.0%} done, {ends} in {duration(left)} ({duration(low)} to {duration(high)})"
    usd_per_hour, count = price
    return text if usd_per_hour is None else f"{text}, will have cost {dollars(end.median_s * usd_per_hour * count / 3600)}"
