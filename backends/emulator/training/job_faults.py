"""Which faults strike one job, and when: at its creation, at its start, after a time, at a step that it prints, at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from backends.emulator.core.job import Job
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.faults.rules import DEFAULT_STEP, FaultRule

NO_CAPACITY = "Unable to provision requested ML compute capacity. Please retry using a different ML instance type."
NOTICE_S = 120.0
"""Seconds between the notice of a spot interruption and the loss of the instance, where nothing else is said."""


@dataclass(frozen=True)
class TrainingFault:
    """A fault that strikes while the script runs.

    Args:
        number: of the rule.
        interrupts: whether it takes spot instances away; otherwise it is an internal error.
        after_s: seconds from the script's start; None for one that waits for a step.
        step, regex: the step from which on it strikes, and how a line says its number.
        notice_s: seconds between notice and loss of spot instances.
    """

    number: int
    interrupts: bool
    after_s: float | None
    step: int
    regex: re.Pattern[str]
    notice_s: float


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
            if "at_s" not in rule.fields and "at_step" not in rule.fields:
                self.struck(number)
                return True
        return False

    def while_training(self) -> Iterator[TrainingFault]:
        """Yield the faults that are to strike while the script runs; `struck` counts one when it did."""
        for kind in ("spot_interruption", "internal_error"):
            interrupts = kind == "spot_interruption"
            if interrupts and not self._job.spot:
                continue
            for number, rule in self._planned(kind, self._job.instance_type):
                at_step = "at_step" in rule.fields
                if not at_step and not interrupts and "at_s" not in rule.fields:
                    continue
                regex = re.compile(rule.get("step_regex", DEFAULT_STEP))
                after_s = None if at_step else float(rule.get("at_s", 0.0))
                yield TrainingFault(number, interrupts, after_s, rule.get("at_step", 0), regex, rule.get("notice_s", NOTICE_S))

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
    """Return whether a printed line says that a fault's step has come."""
    match = fault.regex.search(line) if fault.after_s is None else None
    return match is not None and match[1].isdigit() and int(match[1]) >= fault.step
