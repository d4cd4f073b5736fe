"""Which faults strike one job, and when: at its creation, at its start, after a time, at a step that it prints, at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backends.emulator.core.job import Job
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.faults.rules import DEFAULT_STEP, WHILE_TRAINING, FaultRule

NO_CAPACITY = "Unable to provision requested ML compute capacity. Please retry using a different ML instance type."
NOTICE_S = 120.0
"""Seconds between the notice of a spot interruption and the loss of the instance, where nothing else is said."""


@dataclass(frozen=True)
class TrainingFault:
    """A fault that strikes while the script runs.

    Args:
        number: of the rule.
        kind: of the rule, one of `WHILE_TRAINING`.
        after_s: seconds from the script's start; None for one that waits for a line.
        step: from which on it strikes; None where any line that fits will do.
        regex: what the line looks like; its first group is the step's number.
        notice_s: seconds between notice and loss of spot instances.
        log_lost: whether what was printed and has not arrived yet is lost with a script that is killed.
    """

    number: int
    kind: str
    after_s: float | None
    step: int | None
    regex: re.Pattern[str]
    notice_s: float
    log_lost: bool = False


class JobFaults:
    """The faults in force, as one job sees them in its present life.

    Args:
        job: whose incarnation is looked up anew in each call.
        injector: holds the rules, and counts those that struck.
    """

    def __init__(self, job: Job, injector: FaultInjector) -> None:
        self._job, self._injector = job, injector

    def no_capacity(self, on: str, instance_type: str) -> str | None:
        """Return what a lack of capacity says that strikes now, `on` `create` or `start`; None where there is capacity."""
        for number, rule in self._planned("capacity", instance_type):
            if rule.get("on", "start") == on:
                self.struck(number)
                return str(rule.get("message", NO_CAPACITY))
        return None

    def pending_s(self) -> float | None:
        """Return how many seconds the job is kept in `Pending`; None where it is not."""
        rule = self._now("pending")
        return None if rule is None else float(rule.get("seconds", 0.0))

    def breaks_at_start(self) -> bool:
        """Return whether an internal error strikes before there are instances, which counts as struck."""
        for number, rule in self._planned("internal_error", self._job.instance_type):
            if not {"at_s", "at_step", "at_line"} & set(rule.fields):
                self.struck(number)
                return True
        return False

    def while_training(self) -> Iterator[TrainingFault]:
        """Yield the faults that are to strike while the script runs; `struck` counts one when it did."""
        for kind in WHILE_TRAINING:
            if kind == "spot_interruption" and not self._job.spot:
                continue
            for number, rule in self._planned(kind, self._job.instance_type):
                # An internal error for which no moment is given strikes at the start.
                if kind == "internal_error" and not {"at_s", "at_step", "at_line"} & set(rule.fields):
                    continue
                waits = {"at_step", "at_line"} & set(rule.fields)
                regex = re.compile(rule.get("at_line", "") or rule.get("step_regex", DEFAULT_STEP))
                after_s = None if waits else float(rule.get("at_s", 0.0))
                step = None if "at_line" in rule.fields else rule.get("at_step", 0)
                yield TrainingFault(number, kind, after_s, step, regex, rule.get("notice_s", NOTICE_S), rule.get("log_lost", False))

    def slow_stop_s(self) -> float:
        """Return by how many seconds the end of the job is delayed, which counts as struck."""
        rule = self._now("slow_stop")
        return 0.0 if rule is None else float(rule.get("seconds", 0.0))

    def struck(self, number: int) -> None:
        """Count a fault as struck."""
        self._injector.struck(number, self._job.name)

    def _now(self, kind: str) -> FaultRule | None:
        return self._injector.for_job(kind, self._job.name, self._job.instance_type, self._job.incarnation)

    def _planned(self, kind: str, instance_type: str) -> list[tuple[int, FaultRule]]:
        return self._injector.planned(kind, self._job.name, instance_type, self._job.incarnation)


def strikes(fault: TrainingFault, line: str) -> bool:
    """Return whether a printed line says that a fault's moment has come."""
    match = fault.regex.search(line) if fault.after_s is None else None
    if match is None or fault.step is None:
        return match is not None
    return match[1].isdigit() and int(match[1]) >= fault.step
