"""Follows the controllers of a launched run until none of them is at work and none follows: their states, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.sagemaker.logs.tail import JobLogTail
from benchmarking.remote.launch_record import LaunchRecord
from benchmarking.remote.standing import UNSEEN_S
from definitions.errors import EXIT_CLOUD, EXIT_DONE, EXIT_INTERRUPTED
from launch.launching.place import RunPlace
from launch.launching.resuming import ControllerStanding, standings

_EXIT_CODES = {"Completed": EXIT_DONE, "Stopped": EXIT_INTERRUPTED}


@dataclass
class _Followed:
    """What is known of a controller's generation: its log, the state that was said last, and since when it has no job."""

    log: JobLogTail
    said: str = ""
    missing_since: float | None = None


@dataclass
class Watch:
    """Follows the controllers of a run.

    Args:
        place: where the run is kept.
        record: of the launch.
        say: takes each line.
        sleep: waits so many seconds.
        monotonic: a clock in seconds.
        every_s: between two looks.
    """

    place: RunPlace
    record: LaunchRecord
    say: Callable[[str], None]
    sleep: Callable[[float], None]
    monotonic: Callable[[], float]
    every_s: float = 10.0
    _followed: dict[str, _Followed] = field(default_factory=dict)

    def until_over(self, longest_s: float | None = None) -> int | None:
        """Return the gravest exit code of the controllers once all are over; None where that takes longer than `longest_s`.

        Raises:
            CloudError: AWS refuses to tell.
        """
        begun = self.monotonic()
        while True:
            there = standings(self.place, self.record)
            for one in there:
                self._look(one)
            if not any(self._goes_on(one) for one in there):
                return max((_exit_code(one) for one in there), default=EXIT_DONE)
            if longest_s is not None and self.monotonic() - begun >= longest_s:
                return None
            self.sleep(self.every_s)

    def _look(self, one: ControllerStanding) -> None:
        """Say what is new of a controller's last generation."""
        if one.claim is None:
            return
        followed = self._followed.setdefault(one.claim.job, _Followed(JobLogTail(self.place.clients, one.claim.job)))
        if one.job is None:
            followed.missing_since = self.monotonic() if followed.missing_since is None else followed.missing_since
            return
        state = state_text(one.job.description)
        # Its last lines are there before its end is said.
        before = f"{one.claim.job}: " if self.record.count > 1 else ""
        for line in followed.log.new_lines():
            self.say(f"{before}{line}")
        if state != followed.said:
            followed.said = state
            self.say(f"{one.claim.job}: {state}")

    def _goes_on(self, one: ControllerStanding) -> bool:
        if one.claim is None:
            return False
        if one.job is None:
            since = self._followed[one.claim.job].missing_since
            return since is not None and self.monotonic() - since < UNSEEN_S
        return one.job.is_live


def state_text(description: Mapping[str, Any]) -> str:
    """Return how a job stands, in words, as DescribeTrainingJob answers."""
    state, inner = str(description["TrainingJobStatus"]), str(description.get("SecondaryStatus", ""))
    reason = str(description.get("FailureReason", ""))
    shown = state if inner in ("", state) else f"{state} ({inner})"
    return f"{shown}: {reason}" if reason else shown


def _exit_code(one: ControllerStanding) -> int:
    """Return the exit code that a controller's end amounts to; one that was never created ran nothing, and the others its share."""
    return EXIT_DONE if one.job is None else _EXIT_CODES.get(one.job.state, EXIT_CLOUD)
