"""Brings a fresh state and its method to where a journal ends, and counts the time that nobody was at work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from benchmarking.controller.event_codec import recorded_suggestion
from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.journal import ControllerSession, Journal
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.state import ExperimentState


def replay(journal: Journal, adapter: MethodAdapter, state: ExperimentState) -> dict[str, dict[tuple[int, int], Mapping[str, Any]]]:
    """Fold all records into the state, and make the calls of the method again that it had.

    Returns:
        Metrics of the reports that are in the journal, by (incarnation, sequence), for each job that is still open.
    """
    received: dict[str, dict[tuple[int, int], Mapping[str, Any]]] = {}
    clock = ExperimentClock(journal.sessions())
    for record in journal.records():
        body = record.body
        clock.before(record.sequence, state)
        if record.kind == "reported":
            received.setdefault(body["job"], {})[body.get("incarnation", 0), body["sequence"]] = body["metrics"]
        elif record.kind == "closed":
            received.pop(body["job"], None)
        elif record.kind == "suggest":
            adapter.replay(
                recorded_suggestion(body),
                len(state.evaluations),
                limited=body.get("limited", False),
                skipped=body.get("skipped", 0),
            )
        elif record.kind == "learn":
            adapter.learn(body)
        elif record.kind == "tell":
            adapter.tell(state.due_tells[0])
        state.apply(record)
    return received


def downtime_s(journal: Journal, state: ExperimentState, now: float) -> float:
    """Write down that a controller goes on now, if one had begun, and return the seconds since the first job's start in which none ran."""
    sessions = journal.sessions()
    if state.sequence:
        sessions.append(ControllerSession(state.sequence, state.last_at, now))
        journal.begin_session(sessions[-1])
        state.waits.skip(state.last_at, now)
    # Of controllers that recorded nothing, only the last one's start counts: it ends the same pause as theirs.
    first = math.inf if state.first_start is None else state.first_start[0]
    pauses = {session.after: max(0.0, session.started_at - session.last_at) for session in sessions if session.after >= first}
    return sum(pauses.values())
