"""Keeps a controller going within its job: starts it, starts it again, lets it end, and has the next generation follow."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

from benchmarking.remote.controller_word import EVERY_S, ControllerState, Restart
from definitions.errors import EXIT_DONE, EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, OutriderError
from launch.remote.lives import Asked, Restarts, Step, Then, after_end, hands_over_in_s, margin_s, on_term

logger = logging.getLogger(__name__)

_HAND_OVER_AGAIN_S = 15.0
"""Seconds between two tries to create the next generation."""
_LAST_WORDS = 800


@dataclass(frozen=True)
class ControllerEnded:
    """The controller's process has ended, with this exit code, negative for a signal."""

    code: int


@dataclass(frozen=True)
class JobTold:
    """The job was told to end: TERM came."""


Happening = ControllerEnded | JobTold


class RunningController(Protocol):
    """A controller's process."""

    def ask(self, what: Asked) -> None:
        """Ask it to end in that way; one that has ended already is not there to hear it."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def last_words(self) -> str:
        """Return the last that it said, where it has ended; empty where nothing."""
        ...


class JobSurroundings(Protocol):
    """What a supervisor needs of its job; a fake in tests."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    def wait(self, timeout_s: float) -> Happening | None:
        """Wait for what happens, at most so many seconds; None where nothing did."""
        ...

    def start(self) -> RunningController:
        """Bring the run's state here and start a controller with it; raises `OutriderError` where that cannot be."""
        ...

    def finished(self) -> int:
        """Return how many trials are finished, by the journals here."""
        ...

    def status(self) -> str | None:
        """Return the job's own status; None where the service does not say so in time."""
        ...

    def is_marked(self) -> bool:
        """Return whether somebody left a mark that the run is to end."""
        ...

    def is_succeeded(self) -> bool:
        """Return whether a later generation is claimed; raises `OutriderError` where the store refuses."""
        ...

    def succeed(self) -> None:
        """Claim the next generation and create its job, whoever claimed it; raises `OutriderError` where that cannot be (now)."""
        ...

    def word(self, state: ControllerState, why: str, restarts: tuple[Restart, ...], seconds_left: float) -> None:
        """Say how the controller stands, to whoever asks from anywhere."""
        ...

    def utc(self) -> float:
        """Return seconds since 1970."""
        ...

    def say(self, line: str) -> None:
        """Write a line into the job's log."""
        ...

    def fail(self, why: str) -> None:
        """Leave the reason of the job's failure where the service takes it from."""
        ...


class Supervisor:
    """One life of a controller's job.

    Args:
        job: its surroundings.
        restarts: that its controller has.
        max_run_s: limit of the job; `used_s`: seconds of it that are used.
        may_succeed: whether one more generation may follow this one.
        earlier: restarts in earlier lives of this job.
    """

    def __init__(
        self,
        job: JobSurroundings,
        restarts: Restarts,
        max_run_s: float,
        used_s: float,
        *,
        may_succeed: bool = True,
        earlier: tuple[Restart, ...] = (),
    ) -> None:
        self._job, self._restarts, self._may_succeed = job, restarts, may_succeed
        now = job.monotonic()
        self._limit_at = now + max_run_s - used_s
        self._hands_over_at = now + hands_over_in_s(max_run_s, used_s)
        self._killed_at = self._limit_at - margin_s(max_run_s) / 2
        self._asked = Asked.NOTHING
        self._restarted = earlier
        self._said_at, self._said = float("-inf"), (ControllerState.STARTING, "")

    @property
    def _left_s(self) -> float:
        return self._limit_at - self._job.monotonic()

    def run(self) -> int:
        """Keep the controller going to an end of some kind, and return the job's exit code."""
        while True:
            if self._is_succeeded():
                # Its host was lost when it had handed over, or it was frozen for long: what was claimed is created, unless it is there.
                self._may_succeed = True
                return self._end(Step(Then.HAND_OVER, "a later generation is claimed"), EXIT_DONE)
            step, code = self._live()
            if step.then is not Then.AGAIN:
                return self._end(step, code)
            self._job.say(f"{step.why}; it is started again in {step.wait_s:.0f} s")
            self._restarts = self._restarts.again()
            self._restarted = (*self._restarted, Restart(self._job.utc(), step.why))
            self._word(ControllerState.WAITING, step.why)
            ended = self._pause(step.wait_s)
            if ended is not None:
                return self._end(ended, EXIT_INTERRUPTED)

    def _is_succeeded(self) -> bool:
        try:
            return self._job.is_succeeded()
        except OutriderError as error:
            # Whether it is one or not, what it writes is refused where another writes.
            self._job.say(f"whether a later generation is claimed is not known: {error}")
            return False

    def _live(self) -> tuple[Step, int]:
        """Have one controller live; return what comes after it, and its exit code."""
        self._asked = Asked.NOTHING
        self._word(ControllerState.STARTING)
        try:
            controller = self._job.start()
        except OutriderError as error:
            code, said = EXIT_USAGE if error.is_denied else error.exit_code, str(error)
        except Exception as error:
            logger.exception("the controller could not be started")
            code, said = EXIT_FAULT, f"{type(error).__name__}: {error}"
        else:
            code = self._follow(controller)
            said = controller.last_words()
        self._restarts = self._restarts.looked(self._job.finished())
        return after_end(code, self._asked, self._restarts, said[-_LAST_WORDS:]), code

    def _follow(self, controller: RunningController) -> int:
        state = ControllerState.RUNNING
        while True:
            self._word(state)
            now = self._job.monotonic()
            due = (
                self._killed_at
                if self._asked is Asked.HAND_OVER
                else self._hands_over_at
                if self._asked is Asked.NOTHING
                else now + EVERY_S
            )
            happened = self._job.wait(max(0.0, min(EVERY_S, due - now)))
            if isinstance(happened, ControllerEnded):
                return happened.code
            if isinstance(happened, JobTold):
                state = self._told(controller)
            elif self._asked is Asked.NOTHING and self._job.monotonic() >= self._hands_over_at:
                state = self._ask(controller, Asked.HAND_OVER)
            elif self._asked is Asked.HAND_OVER and self._job.monotonic() >= self._killed_at:
                self._job.say("the controller does not end; what it was to do is in S3 before it does it, so that it can be killed")
                controller.kill()
                self._killed_at = self._limit_at

    def _told(self, controller: RunningController) -> ControllerState:
        if self._asked in (Asked.WIND_DOWN, Asked.DETACH):
            return ControllerState.WINDING_DOWN if self._asked is Asked.WIND_DOWN else ControllerState.DETACHING
        return self._ask(controller, self._why_told())

    def _why_told(self) -> Asked:
        status, left_s = self._job.status(), self._left_s
        found = on_term(status, is_marked=self._job.is_marked(), left_s=left_s)
        self._job.say(f"TERM: the service shows this job as {status or 'nothing, in time'}, {max(0.0, left_s):.0f} s are left")
        return found

    def _ask(self, controller: RunningController, what: Asked) -> ControllerState:
        words, state = {
            Asked.WIND_DOWN: ("somebody stopped it: trials are stopped", ControllerState.WINDING_DOWN),
            Asked.DETACH: ("trials run on, and whoever comes next goes on with them", ControllerState.DETACHING),
            Asked.HAND_OVER: ("its time is nearly up: trials run on, and the next generation takes over", ControllerState.HANDING_OVER),
        }[what]
        self._asked = what
        self._job.say(words)
        controller.ask(what)
        return state

    def _pause(self, seconds: float) -> Step | None:
        """Wait before a restart; return what comes instead where the job is told to end, or its time is nearly up."""
        until = self._job.monotonic() + seconds
        while (now := self._job.monotonic()) < until:
            if now >= self._hands_over_at:
                return Step(Then.HAND_OVER, "its job's time is nearly up")
            happened = self._job.wait(min(until, self._hands_over_at) - now)
            if isinstance(happened, JobTold):
                self._asked = self._why_told()
                return Step(Then.HAND_OVER if self._asked is Asked.HAND_OVER else Then.END, "the job was told to end")
        return None

    def _end(self, step: Step, code: int) -> int:
        if step.then is Then.LEAVE:
            # The word is the other's.
            self._job.say(step.why)
            return EXIT_DONE
        if step.then is Then.HAND_OVER:
            step = self._hand_over(step.why)
        if step.then is Then.FAIL:
            self._job.say(f"it ends: {step.why}; trials that run are left to their own limits")
            self._word(ControllerState.FAILED, step.why)
            self._job.fail(step.why)
            return EXIT_FAULT
        state = ControllerState.ENDED
        if step.then is Then.HAND_OVER:
            state = ControllerState.HANDED_OVER
        elif self._asked is Asked.DETACH:
            state = ControllerState.INTERRUPTED
        elif self._asked is Asked.WIND_DOWN or code == EXIT_INTERRUPTED:
            state = ControllerState.STOPPED
        self._job.say(step.why)
        self._word(state, step.why)
        return EXIT_DONE

    def _hand_over(self, why: str) -> Step:
        """Have the next generation created; return that it was, or why it could not be."""
        self._word(ControllerState.HANDING_OVER, why)
        if not self._may_succeed:
            return Step(Then.FAIL, f"{why}, and this is the last generation that there may be")
        while True:
            # Between the end of the controller and this somebody may have stopped the job.
            if self._job.is_marked() or on_term(self._job.status(), is_marked=False, left_s=self._left_s) is Asked.WIND_DOWN:
                self._asked = Asked.WIND_DOWN
                return Step(Then.END, "somebody stopped it: no generation follows")
            try:
                self._job.succeed()
            except OutriderError as error:
                problem, is_denied = str(error), error.is_denied
            else:
                return Step(Then.HAND_OVER, why)
            left_s = self._left_s
            if is_denied or left_s < _HAND_OVER_AGAIN_S:
                return Step(Then.FAIL, f"{why}, and the next generation could not be created: {problem}")
            self._job.say(f"the next generation could not be created, which is tried again: {problem}")
            self._job.wait(min(_HAND_OVER_AGAIN_S, left_s))

    def _word(self, state: ControllerState, why: str = "") -> None:
        """Say how the controller stands: at once where that changed, else at most every so many seconds."""
        now = self._job.monotonic()
        if (state, why) != self._said or now >= self._said_at + EVERY_S:
            self._said, self._said_at = (state, why), now
            self._job.word(state, why, self._restarted, max(0.0, self._limit_at - now))
