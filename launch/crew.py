"""Runs several experiments of a study at once, each in a process of its own."""

from __future__ import annotations

import selectors
import time
from collections.abc import Sequence
from typing import Any, Protocol

from benchmarking.archive.identity import ExperimentSpec
from definitions.errors import EXIT_FAULT, EXIT_TAKEN_OVER
from launch.at_once import Stage, may_begin
from launch.crew_member import CrewMember
from launch.crew_progress import CrewProgress
from launch.experiment_outcome import ExperimentOutcome
from launch.request import RunRequest
from launch.signals import winding_down

_END_S = 10.0
"""Seconds that an idle process has to end."""
_HURRIED_S = 15.0
"""Seconds that processes have to end what they run when the user interrupts for the second time."""


class Agenda(Protocol):
    """What is to be done of a study, by what came of it so far."""

    def settled(self, spec: ExperimentSpec) -> ExperimentOutcome | None:
        """Return the outcome of an experiment that is not to be run; None where it is."""
        ...

    def heard(self, outcome: ExperimentOutcome) -> None:
        """Take note of what came of an experiment that was run."""
        ...


class Crew:
    """Child processes among which experiments are shared out, in order.

    Args:
        specs: the experiments.
        request: of the command.
        agenda: knows which need not run.
        progress: of all.
        most: how many may run at once.
        one_by_one: see `may_begin`.
    """

    def __init__(
        self, specs: Sequence[ExperimentSpec], request: RunRequest, agenda: Agenda, progress: CrewProgress, most: int, *, one_by_one: bool
    ) -> None:
        self._specs, self._request, self._agenda, self._progress = specs, request, agenda, progress
        self._most, self._one_by_one = most, one_by_one
        self._next = 0
        self._nothing_more = self._is_left = False
        self._members: list[CrewMember] = []
        self._outcomes: dict[int, ExperimentOutcome] = {}
        self._places = {spec.folder: place for place, spec in enumerate(specs)}
        self._selector = selectors.DefaultSelector()

    def run(self) -> list[ExperimentOutcome]:
        """Run the experiments and return what came of those that were begun, or were over before, in their order.

        The first signal winds down all that run, the second raises KeyboardInterrupt once they have stopped.
        """
        timeout_s = _END_S
        try:
            with winding_down(self._wind_down, self._progress.say, self._detach):
                self._progress.start()
                self._begin()
                while self._busy():
                    self._turn(None)
                    self._begin()
        except KeyboardInterrupt:
            timeout_s = 0.0
            self._stop_at_once()
            raise
        finally:
            self._progress.stop()
            for member in self._members:
                member.let_go()
            for member in self._members:
                member.close(timeout_s)
            self._selector.close()
        return [self._outcomes[place] for place in sorted(self._outcomes)]

    def _busy(self) -> list[CrewMember]:
        return [member for member in self._members if member.spec is not None]

    def _begin(self) -> None:
        """Begin what may begin now."""
        while self._next < len(self._specs) and not self._nothing_more:
            if not may_begin(self._most, [member.stage for member in self._busy()], one_by_one=self._one_by_one):
                return
            place, spec = self._next, self._specs[self._next]
            self._next += 1
            settled = self._agenda.settled(spec)
            if settled is not None:
                self._outcomes[place] = settled
                self._progress.over()
                continue
            idle = (member for member in self._members if member.spec is None and not member.ended())
            member = next(idle, None) or self._hired()
            self._progress.stands(spec, Stage.PREPARES)
            member.begin(spec, f"{place + 1} of {len(self._specs)}")
            if self._nothing_more:  # a signal that came in the middle of this
                (member.detach if self._is_left else member.wind_down)()

    def _hired(self) -> CrewMember:
        member = CrewMember(self._request, panel=self._progress.has_panel)
        self._members.append(member)
        for descriptor in member.descriptors:
            self._selector.register(descriptor, selectors.EVENT_READ, member)
        return member

    def _turn(self, timeout_s: float | None) -> None:
        """Wait for what the processes say, and take note of it."""
        for member in dict.fromkeys(key.data for key, _ in self._selector.select(timeout_s)):
            # Asked first: what it said before its end is all there then.
            ended = member.ended()
            for message in member.read():
                self._hear(member, message)
            if ended:
                self._lost(member, ended)

    def _hear(self, member: CrewMember, message: dict[str, Any]) -> None:
        spec = member.spec
        if spec is None:
            if "say" in message:
                self._progress.say(message["say"])
        elif "say" in message:
            self._progress.say(message["say"], spec)
        elif "once" in message:
            self._progress.say_once(message["once"], spec)
        elif "stage" in message:
            member.stage = Stage(message["stage"])
            self._progress.stands(spec, member.stage)
        elif "panel" in message:
            self._progress.stands(spec, member.stage, message["panel"])
        elif "outcome" in message:
            self._over(member, ExperimentOutcome(spec, **message["outcome"]))

    def _over(self, member: CrewMember, outcome: ExperimentOutcome) -> None:
        # Free first: whoever is told of the outcome may want to begin the next one with it.
        member.spec = None
        self._outcomes[self._places[outcome.spec.folder]] = outcome
        self._progress.over(outcome.spec)
        self._agenda.heard(outcome)
        self._nothing_more = self._nothing_more or outcome.ends_all
        if outcome.exit_code == EXIT_TAKEN_OVER:
            # Whoever took over one of them has them all.
            self._detach()

    def _lost(self, member: CrewMember, ended: str) -> None:
        """Let go of a process that ended; what it was at work on is listed with that as its cause."""
        for descriptor in member.descriptors:
            self._selector.unregister(descriptor)
        self._members.remove(member)
        spec = member.spec
        member.close(0.0)
        if spec is not None:
            outcome = ExperimentOutcome(spec, EXIT_FAULT, "killed", f"{ended}; what it measured is kept", has_run=True)
            self._progress.say(f"{spec.title}: {outcome.reason}: {outcome.cause}")
            self._over(member, outcome)

    def _wind_down(self) -> None:
        self._nothing_more = True
        for member in self._busy():
            member.wind_down()

    def _detach(self) -> None:
        self._nothing_more = self._is_left = True
        for member in self._busy():
            member.detach()

    def _stop_at_once(self) -> None:
        for member in self._busy():
            member.stop_at_once()
        deadline = time.monotonic() + _HURRIED_S
        while self._busy() and time.monotonic() < deadline:
            self._turn(max(0.0, deadline - time.monotonic()))
