"""Ends jobs before their time: one that is not wanted any more, or all of them with whoever runs them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping

from backends.common.reactor import Reactor
from backends.failures import Cause, Outcome
from backends.processes.job import ProcessJob, Termination
from backends.processes.runner import JobRunner

_CLOSE_TIMEOUT_S = 10.0
_TURN_S = 0.1


def stop_job(runner: JobRunner, job: ProcessJob, reason: Cause) -> None:
    """Send a job's processes TERM and after the grace period KILL, or give it up where it has none; the first decision about it stands."""
    if job.decided is not None or job.exit_code is not None:
        return
    termination = Termination(Outcome.STOPPED, reason, "stopped before it started" if job.child is None else "")
    if job.child is None:
        runner.give_up(job, termination)
    elif not job.child.has_ended():
        runner.terminate(job, termination)


def interrupt_jobs(runner: JobRunner, jobs: Iterable[ProcessJob], now: float, grace_s: float) -> None:
    """Let jobs end within a grace period, as whoever runs them is about to."""
    for job in jobs:
        job.kill_at = min(job.kill_at or math.inf, now + grace_s)
        interrupted = job.decided or Termination(Outcome.STOPPED, Cause.INTERRUPTED)
        if job.child is None:
            runner.give_up(job, interrupted)
        elif job.running:
            runner.terminate(job, interrupted)


def wait_until_gone(
    reactor: Reactor, jobs: Mapping[str, ProcessJob], now: Callable[[], float], grace_s: float, turned: Callable[[], None] = lambda: None
) -> list[str]:
    """Turn the reactor until no job is open, and return the names of those that could not be stopped.

    Args:
        reactor: that the jobs are watched by.
        jobs: those that are open; a closed one leaves it.
        now: the reactor's clock.
        grace_s: seconds that they were given.
        turned: called after each turn.
    """
    give_up_at = time.monotonic() + grace_s + _CLOSE_TIMEOUT_S
    while jobs and time.monotonic() < give_up_at:
        reactor.turn(now() + _TURN_S)
        turned()
    return [name for name, job in jobs.items() if job.ended_at is None]
