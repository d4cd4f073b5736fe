"""How far a running job was when: the moments that forecasts of its end rest on, in bounded length."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from backends.events import Progressed

_MOST_POINTS = 256


class ProgressPoint(NamedTuple):
    """A moment of a job: `done` of what it counts after `elapsed_s` seconds since its start, which took `cpu_s` processor seconds.

    `peak_bytes` is the most memory that it had until then, `delayed_s` the seconds that others had the processor; 0 where not known.
    """

    elapsed_s: float
    done: float
    cpu_s: float
    peak_bytes: float = 0.0
    delayed_s: float = 0.0


@dataclass(slots=True)
class ProgressCurve:
    """What one life of a job has said of how far it is.

    Args:
        points: in the order of time; where there would be too many, every second one of the earlier ones is left out.
        total: how many there will be, as said last; None where the script does not know.
        totals: how many different totals were said, where any was.
        went_back: whether it was less far than before.
        at: the back-end's time of the last point.
        phases_s: seconds by phase, as said last.
        at_most: how many there will be at most, where it may stop early, as said last.
        by_step: whether these are steps that it counts for its throughput, and no word of how far it is.
        is_found: whether the total was open until the job's own end, and is what was done then.
    """

    points: list[ProgressPoint]
    total: float | None
    totals: int
    went_back: bool
    incarnation: int
    at: float
    phases_s: dict[str, float]
    at_most: float | None = None
    by_step: bool = False
    is_found: bool = False

    @classmethod
    def begun(cls, event: Progressed) -> ProgressCurve:
        """Return the curve of a life of the job of which this is the first that it said."""
        point = ProgressPoint(event.elapsed_s, event.done, event.cpu_s, event.peak_bytes, event.delayed_s)
        return cls([point], event.total, 1, False, event.incarnation, event.at, dict(event.phases_s), event.at_most, event.by_step)

    def at_own_end(self) -> ProgressCurve:
        """Return the curve of a job that ran to its own end: where it did not say how much there was to do, that was what it did."""
        if self.total is not None or self.points[-1].done <= 0:
            return self
        return replace(self, total=self.points[-1].done, is_found=True)

    def take(self, event: Progressed) -> None:
        """Add what was said later; a moment at or before the last one is passed over."""
        last = self.points[-1]
        if event.elapsed_s <= last.elapsed_s:
            return
        # That a total is known from now on, or is not said each time, is no other total.
        if event.total is not None and event.total != self.total:
            self.totals += self.total is not None
            self.total = event.total
        self.went_back = self.went_back or event.done < last.done
        self.at, self.phases_s, self.at_most = event.at, dict(event.phases_s), event.at_most or self.at_most
        self.points.append(ProgressPoint(event.elapsed_s, event.done, event.cpu_s, event.peak_bytes, event.delayed_s))
        if len(self.points) > _MOST_POINTS:
            # The newer half tells how fast the job is now, so it stays whole; the first point is the end of start-up.
            middle = len(self.points) // 2
            self.points[1:middle] = self.points[2:middle:2]


def with_progress(curve: ProgressCurve | None, event: Progressed) -> ProgressCurve:
    """Return the curve with what a job says now; a life of it that began later has a curve of its own."""
    # What a script says itself counts from its first word on, in place of the steps that it counts.
    if curve is None or event.incarnation > curve.incarnation or (curve.by_step and not event.by_step):
        return ProgressCurve.begun(event)
    if event.incarnation == curve.incarnation and curve.by_step == event.by_step:
        curve.take(event)
    return curve
