"""An experiment's own clock, read off its journal: seconds that controllers ran, without those in which jobs only waited for others'."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarking.controller.journal import ControllerSession
from benchmarking.controller.state import ExperimentState


class ExperimentClock:
    """Seconds that controllers ran since the first job began, as a budget of time counts them.

    Args:
        sessions: the controllers' lives, as the journal has them.
    """

    def __init__(self, sessions: Sequence[ControllerSession]) -> None:
        self._sessions = {session.after: session for session in sessions}
        # Of controllers that recorded nothing, the last one's start ends the same pause as theirs.
        self._pauses = {session.after: max(0.0, session.started_at - session.last_at) for session in sessions}

    def before(self, sequence: int, state: ExperimentState) -> None:
        """Take in that the record of this number comes next; who folds a journal calls it before each, so that no pause counts as a wait.

        Args:
            sequence: of the record.
            state: folded up to the one before.
        """
        session = self._sessions.get(sequence - 1)
        if session is not None:
            state.waits.skip(session.last_at, session.started_at)

    def at(self, time: float, sequence: int, state: ExperimentState) -> float:
        """Return what it showed at a record.

        Args:
            time: of the record, in seconds of the back-end's clock.
            sequence: number of the record.
            state: folded up to it.
        """
        if state.first_start is None:
            return 0.0
        first, began_at = state.first_start
        paused = math.fsum(pause for after, pause in self._pauses.items() if first <= after < sequence) if self._pauses else 0.0
        return max(0.0, time - began_at - paused - state.waits.seconds(time))
