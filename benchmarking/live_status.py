"""How an experiment stands, as its controller says it to whoever asks from anywhere: the content of live.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.state import ExperimentState
from benchmarking.status import StatusTeller


def live_status(utc: Callable[[], float]) -> Callable[[ExperimentSpec, ExperimentState], Mapping[str, Any]]:
    """Return what says how an experiment stands.

    It has the fields of `ExperimentStatus`, and: `in_flight`, how many jobs are open; `next`, how many trials are planned (`queued`) or to
    be tried again (`waiting`), and when the first of these is (`at`, seconds since 1970, None where there is none); `reserved_usd`, what
    open jobs cost at most; `ended`, the reason of its end, None before.

    Args:
        utc: seconds since 1970.
    """
    tell = StatusTeller()

    def described(spec: ExperimentSpec, state: ExperimentState) -> Mapping[str, Any]:
        status = asdict(tell(spec, state, utc()))
        waiting = [*state.waiting]
        return {
            **status,
            "standing": str(status["standing"]),
            "running": {str(trial): text for trial, text in status["running"].items()},
            "in_flight": len(state.jobs),
            "next": {"queued": len(state.queue), "waiting": len(waiting), "at": waiting[0][0] if waiting else None},
            "reserved_usd": state.money.reserved_usd,
            "ended": None if state.ended is None else str(state.ended["reason"]),
        }

    return described
