"""How often the service is asked how jobs stand. Pure: no call for what cannot have changed, or what a log tells first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backends.sagemaker.jobs.job import WAITING_STAGES, CloudJob

_RARER = 4.0
"""Times as long between two listings where logs are read that tell sooner when a script begins or ends."""
_SURELY_STARTING = 0.5
"""Share of the shortest start so far within which no further job is expected to run its script."""
_LONGEST_UNSEEN_S = 60.0
"""How much later than one alone those that share a pace may hear of a job that ended without a word in its log."""


@dataclass(frozen=True)
class PollIntervals:
    """How often the service is asked, in seconds.

    Args:
        shortest_s, longest_s: between two listings; in between, a twentieth of the age of the youngest job.
        settle_s: how long the last lines of a log are awaited whose end is not marked.
        full_s: between two listings of all jobs, changed or not.
        mark_s: between two looks for a mark that the run is to end, where no job is created meanwhile.
    """

    shortest_s: float = 3.0
    longest_s: float = 15.0
    settle_s: float = 60.0
    full_s: float = 300.0
    mark_s: float = 20.0

    def every_s(self, youngest_s: float) -> float:
        """Return the seconds between two looks while the youngest job is so old."""
        return min(self.longest_s, max(self.shortest_s, 0.05 * youngest_s))


AWS_INTERVALS = PollIntervals()
EMULATED_INTERVALS = PollIntervals(shortest_s=2.0, longest_s=2.0, settle_s=4.0, mark_s=10.0)


def listing_s(live: Sequence[CloudJob], begun_at: float, every_s: float, shortest_start_s: float, sharers: int) -> float:
    """Return the seconds from one listing to the next.

    Args:
        live: the jobs that exist and are not over.
        begun_at: when the last listing was begun, by the back-end's clock.
        every_s: the least seconds between two.
        shortest_start_s: from the creation of a job to its instances, as seen so far; 0 where none was seen.
        sharers: processes of this machine that make listings in turns; where no news is expected, they make together hardly more than
            one alone would.
    """
    rarer_s = _RARER * every_s
    found = max(rarer_s, min(rarer_s * sharers, rarer_s + _LONGEST_UNSEEN_S))
    logs_are_read = any(cloud.runs_script for cloud in live)
    for cloud in live:
        if cloud.stop_reason is not None or cloud.outlives_script or cloud.stage not in ("Training", *WAITING_STAGES):
            return every_s
        if cloud.stage in WAITING_STAGES:
            starts_at = cloud.exists_since + max(every_s, _SURELY_STARTING * shortest_start_s)
            found = min(found, max(rarer_s if logs_are_read else every_s, starts_at - begun_at))
    return found
