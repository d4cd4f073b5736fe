"""A running job's forecast in words, for people who wait for it. Pure."""

from __future__ import annotations

from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.running.projection import Openness, project, project_latest
from benchmarking.report.text import dollars, duration


def running_text(curve: ProgressCurve, now: float, price: tuple[float | None, int] = (None, 1)) -> str:
    """Return how far a job is, when its loop will be through, and what it will have cost then.

    Args:
        curve: what it has said of its progress.
        now: the back-end's time.
        price: dollars per instance-hour, None where that is not known, and the number of instances.
    """
    found = project(curve)
    last = curve.points[-1]
    since_s = last.elapsed_s + max(0.0, now - curve.at)
    if found is Openness.MAY_STOP:
        latest = project_latest(curve)
        far = f"{last.done:g} of at most {curve.at_most:g} done"
        return far if isinstance(latest, Openness) else f"{far}, ends in {duration(max(0.0, latest.hi90_s - since_s))} at the latest (95 %)"
    if isinstance(found, Openness):
        far = f"{last.done / curve.total:.0%} done" if curve.total and last.done <= curve.total else f"{last.done:g} done"
        return far if found is Openness.TOO_EARLY else f"{far}; its end is not decided: {found}"
    if found.done >= 1.0:
        return "100 % done"
    left, low, high = (max(0.0, seconds - since_s) for seconds in (found.median_s, found.lo80_s, found.hi80_s))
    text = f"{found.done:.0%} done, ends in {duration(left)} ({duration(low)} to {duration(high)})"
    usd_per_hour, count = price
    return text if usd_per_hour is None else f"{text}, will have cost {dollars(found.median_s * usd_per_hour * count / 3600)}"
