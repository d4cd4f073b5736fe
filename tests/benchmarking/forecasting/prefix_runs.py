"""Made-up runs that say how far they are: beginnings of the full job, and small ones of the same code."""

from __future__ import annotations

from backends.events import Progressed
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.data.canary import COMPLETED, PREFIX, Canary
from benchmarking.forecasting.prefix.measured import measured

LOCAL = "local.1cpu"


def curve(times, total, *, startup_s=2.0, cores=1.0, peaks=None, incarnation=0, from_done=0, phases=None, at_most=None, delays=None):
    """Return the curve of a job whose steps take these seconds; `peaks` gives its memory after so many."""
    found, elapsed_s = None, startup_s
    for done in range(len(times) + 1):
        event = Progressed(
            "j", 1000.0 + elapsed_s, float(done + from_done), total, elapsed_s, cores * elapsed_s, phases or {}, incarnation, done,
            at_most, peak_bytes=0.0 if peaks is None else peaks(done), delayed_s=0.0 if delays is None else delays(done),
        )  # fmt: skip
        if found is None:
            found = ProgressCurve.begun(event)
        else:
            found.take(event)
        elapsed_s += times[done] if done < len(times) else 0.0
    return found


def prefix(times, total, *, name="c", rss_bytes=None, instance_type=LOCAL, **more):
    """Return the beginning of a job whose steps take these seconds, stopped after the last of them."""
    told = measured(curve(times, total, **more))
    seconds = {"total_s": told.end_s, "cpu_s": told.end_cpu_s}
    return Canary(name, 1.0, **seconds, rss_bytes=rss_bytes, status=PREFIX, instance_type=instance_type, progress=told)


def small(fraction, times, *, after_s=0.0, name="c", repeat=0, rss_bytes=None, instance_type=LOCAL, stopped=False, **more):
    """Return a small job that ran to its end, `after_s` seconds after its last step; `stopped` early, of how many it had not known."""
    told = measured(curve(times, None, **more).at_own_end() if stopped else curve(times, float(len(times)), **more))
    cores = more.get("cores", 1.0)
    seconds = {"total_s": told.end_s + after_s, "cpu_s": told.end_cpu_s + cores * after_s}
    return Canary(name, fraction, repeat, **seconds, rss_bytes=rss_bytes, status=COMPLETED, instance_type=instance_type, progress=told)
