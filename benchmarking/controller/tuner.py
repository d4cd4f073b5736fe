"""The loop of one experiment: takes one step after another, each derived from the state, and writes each down before its effect."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from backends.base import Backend
from backends.events import Accepted, Event, Progressed, Reported, Retained, Started
from backends.failures import Cause
from benchmarking.controller.adopting import adopted_jobs, adopted_pools
from benchmarking.controller.budget import cost_usd
from benchmarking.controller.end_request import EndRequest
from benchmarking.controller.ending import Ending, Reason, budget_use, ending, final_ending, final_reason
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.interfaces import JobFactory, Observer, Wallet
from benchmarking.controller.journal import Journal, JournalLostError
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.prefixes import first_over
from benchmarking.controller.recorder import Recorder
from benchmarking.controller.replay import downtime_s, replay
from benchmarking.controller.settlement import due_settlement
from benchmarking.controller.starter import Starter
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.stopping import nothing_left, stop_cause, why_stopping
from benchmarking.controller.wait_limits import TICK_S, limit_at, timeout_s
from definitions.schema import Budget

_RELEASE_S = 300.0
"""Longest wait at the end for what warm instances cost."""

_OF_A_RUNNING_JOB = frozenset({Accepted, Started, Progressed, Reported})
"""Events that free no worker and end nothing."""


class Tuner:
    """Runs one experiment from wherever its journal stands.

    Args:
        state: a fresh state; records of the journal are folded into it by `run`.
        adapter: the method.
        backend: where jobs run; the caller closes it.
        journal: the record; the caller closes it.
        jobs: makes job specifications.
        budget: the limits.
        n_workers: trials that may be in flight at once.
        wallet: money spent by the invocation's earlier experiments.
        observers: called after each record, for progress.
        code: body of the record that says which version of the code runs, its hash under `code`; None where that is not known.
        learned: body of the record of what earlier experiments measured; None for nothing. A journal that has begun has its own.
    """

    def __init__(
        self,
        *,
        state: ExperimentState,
        adapter: MethodAdapter,
        backend: Backend,
        journal: Journal,
        jobs: JobFactory,
        budget: Budget,
        n_workers: int,
        wallet: Wallet | None = None,
        observers: tuple[Observer, ...] = (),
        code: Mapping[str, Any] | None = None,
        learned: Mapping[str, Any] | None = None,
    ) -> None:
        self.state = state
        self._adapter, self._backend, self._journal = adapter, backend, journal
        self.virtual = backend.capabilities.virtual_time
        self.now, self.price = backend.now, jobs.price
        recorder = Recorder(journal, state, backend.now, observers, virtual=self.virtual)
        self._record, self._commit, self._recorder = recorder.record, recorder.commit, recorder
        self.note, self.book, self.record = recorder.note, recorder.book, recorder.record
        self._jobs, self._budget, self._n_workers = jobs, budget, n_workers
        self._wallet = wallet or Wallet()
        self._starter = Starter(
            state=state, adapter=adapter, backend=backend, recorder=recorder, jobs=jobs, budget=budget, n_workers=n_workers,
            wallet=self._wallet, code=code,
        )  # fmt: skip
        self._learned = learned
        self._events: deque[Event] = deque()
        self._stop_requests: deque[tuple[int, Cause, str]] = deque()
        self._asked = EndRequest()
        self._downtime_s = 0.0
        self._release_until: float | None = None
        adapter.attach(backend.capabilities, backend.wake)

    @property
    def is_ending(self) -> bool:
        """Whether somebody asked it to wind down, or to leave everything to the next controller."""
        return self._asked.is_made or self._asked.detached

    def interrupt(self, *, alone: bool = False) -> None:
        """Wind down: stop what runs, record it, return; `alone`: without the others of its command. Safe in a signal handler."""
        self._asked.make(alone=alone)
        self._backend.wake()

    def detach(self) -> None:
        """End soon: jobs that outlive this controller run on for the next one, others are stopped. Safe in a signal handler."""
        self._asked.detach(stops=not self._backend.capabilities.survives_controller)
        self._backend.wake()

    def request_stop(self, trial: int | None, cause: Cause = Cause.OUTSIDE, message: str = "stopped by request") -> None:
        """Stop a running trial for a cause, or wind down where it is None, alone where that is the cause. Safe in other threads."""
        if trial is None:
            self.interrupt(alone=cause is Cause.ALONE)
        else:
            self._stop_requests.append((trial, cause, message))
            self._backend.wake()

    def run(self) -> Ending:
        """Run to an end and return it.

        Raises:
            UserError: the journal cannot be written, or the method failed.
            JournalLostError: another controller is at work; what runs is its.
        """
        try:
            return self._run()
        except JournalLostError:
            raise
        except (Exception, KeyboardInterrupt):
            self._abandon()
            raise
        finally:
            self._adapter.close()

    def _abandon(self) -> None:
        """Write down that what runs is stopped by us, as the back-end is closed now: else a resume took it for somebody else's doing."""
        with contextlib.suppress(Exception):
            for job in self.state.jobs.values():
                if job.stop_requested_at is None:
                    self._record("stop", {"job": job.name, "reason": str(Cause.INTERRUPTED)})
            self._commit(always=True)

    def _run(self) -> Ending:
        self._replay()
        if self._learned is not None and not self.state.sequence:
            self._adapter.learn(self._learned)
            self._record("learn", self._learned)
        while True:
            if self._asked.detached and not self._asked.is_made:
                return self._detached()
            stopping = self._stopping()
            # From before the step: what comes due after it looked is neither too dear nor forgotten.
            looked_at = self._backend.now() if self.state.waiting or self.state.doors or not self.state.jobs else None
            if self._step(stopping):
                continue
            if self.state.jobs:
                self._release_until = None
            else:
                since = (self._backend.now() if looked_at is None else looked_at) + TICK_S
                why = stopping or nothing_left(self.state, self._budget, since, is_computing=self._adapter.is_computing)
                if why is not None and not self._is_releasing():
                    return self._end(*why)
            self._take_event(stopping, looked_at)

    @property
    def elapsed_s(self) -> float:
        """Seconds that this experiment's controllers have run since its first job began; what they waited for that is no run time."""
        first = self.state.first_start
        return 0.0 if first is None else (now := self._backend.now()) - first[1] - self._downtime_s - self.state.waits.seconds(now)

    @property
    def spent_usd(self) -> float:
        """Money that the invocation has spent on closed jobs."""
        return self._wallet.spent_usd + self.state.money.spent_usd

    def _is_releasing(self) -> bool:
        """Return whether instances that were kept warm are still to be accounted for; asks for their release the first time."""
        if self._release_until is None and self.state.money.pools:
            self._release_until = self._backend.now() + _RELEASE_S
            self._backend.release()
        return bool(self.state.money.pools) and self._backend.now() < (self._release_until or 0.0)

    def _replay(self) -> None:
        received = replay(self._journal, self._adapter, self.state)
        if self.state.sequence:
            jobs = self.state.jobs.values()
            specs = {job.name: replace(self._starter.spec(job.trial, job.attempt, job.restore_from), name=job.name) for job in jobs}
            self._backend.adopt(adopted_jobs(self.state, specs, received), self.state.last_at)
            self._backend.adopt_pools(adopted_pools(self.state))
        self._asked.earlier = frozenset(job.name for job, _ in self.state.due_settlements)
        self._downtime_s = downtime_s(self._journal, self.state, self._backend.now())

    def _stopping(self) -> tuple[Reason, str] | None:
        elapsed_s = 0.0 if self._budget.max_wallclock_time is None else self.elapsed_s
        full = self._recorder.disk_full
        return why_stopping(self.state, self._budget, self._asked, disk_full=full, elapsed_s=elapsed_s, n_workers=self._n_workers)

    def _step(self, stopping: tuple[Reason, str] | None) -> bool:
        """Take the next step that the state calls for; return whether there was one."""
        state = self.state
        if state.due_settlements:
            self._settle()
        elif state.due_tells:
            tell = state.due_tells[0]
            decision = self._adapter.tell(tell)
            body = {"call": tell.call, "evaluation": tell.evaluation, "level": tell.level, "decision": str(decision)}
            self._record("tell", body)
        elif state.due_stops:
            self._stop(*state.due_stops[0])
        elif (over := first_over(state.trials, state.jobs, state.prefixes)) and over[0] <= self._backend.now() + TICK_S:
            self._stop(over[1], Cause.PREFIX)
        elif self._stop_requests:
            self._stop_as_asked(*self._stop_requests.popleft())
        elif stopping is not None:
            return self._stop_one(*stopping)
        else:
            return self._start_one()
        return True

    def _settle(self) -> None:
        self._record("settle", due_settlement(self.state, self._jobs, self._backend.now(), self._asked))

    def _stop(self, job: str, reason: Cause, message: str = "") -> None:
        self._record("stop", {"job": job, "reason": str(reason), **({"message": message} if message else {})})
        self._commit()
        self._backend.stop(job, reason)

    def _stop_as_asked(self, trial: int, cause: Cause, message: str) -> None:
        """Stop a trial as somebody asked; one that does not run is left as it is."""
        for job in self.state.jobs.values():
            if job.trial == trial and job.stop_requested_at is None:
                self._stop(job.name, cause, message)
                return

    def _stop_one(self, reason: Reason, detail: str) -> bool:
        for job in self.state.jobs.values():
            if job.stop_requested_at is None:
                self._stop(job.name, stop_cause(reason), self._used(reason) or detail)
                return True
        return False

    def _used(self, reason: Reason) -> str:
        use = {"trials": len(self.state.trials), "failures": self.state.counted_failures}
        return budget_use(reason, self._budget, **use, elapsed_s=self.elapsed_s, spent_usd=self.spent_usd)

    def _start_one(self) -> bool:
        """Start or plan one trial if there is a free worker; return whether a step was taken."""
        if not self._starter.has_room:
            return False
        # What has happened already comes first: a suggestion shall know of every result that is there.
        if not self._events:
            self._commit()
            self._events.extend(self._backend.wait(0.0))
        if self._events:
            self._record_event()
            return True
        return self._starter.start_one()

    def _take_event(self, stopping: tuple[Reason, str] | None, looked_at: float | None) -> None:
        """Record the next event, waiting for it if need be, and those after it for as long as nothing follows from them.

        Nothing follows from an event of a running job as long as the method is not to hear of it, no worker is free and time has no limit.
        In doubt something does: the loop just looks again.
        """
        # Such events free no worker, and let nothing be due at a later time: both need no look after each report.
        state, due_tells, forever = self.state, self.state.due_tells, False
        is_full = self._budget.max_wallclock_time is None and not self._starter.has_room and not state.prefixes
        while True:
            if not self._events:
                self._commit()
                if self._stop_requests or (self.is_ending and stopping is None):
                    return
                timeout_s = None if forever else self._timeout_s(stopping, looked_at)
                forever = timeout_s is None
                self._events.extend(self._backend.wait(timeout_s))
                if not self._events:
                    return
            event = self._record_event()
            if not is_full or due_tells or self._stop_requests or self.is_ending or type(event) not in _OF_A_RUNNING_JOB:
                return

    def _record_event(self) -> Event:
        event = self._events.popleft()
        kind, body = event_record(event)
        if isinstance(event, Retained):
            price = self._jobs.price({"instance_type": event.instance_type, "instance_count": event.instance_count})
            body["worst_usd"] = cost_usd(event.worst_s, *price)
            body["cost_usd"] = None if event.billable_s is None else cost_usd(event.billable_s, *price)
        self._record(kind, body, event)
        return event

    def _timeout_s(self, stopping: tuple[Reason, str] | None, looked_at: float | None) -> float | None:
        return timeout_s(
            self.state,
            self._backend.now,
            stopping=stopping is not None,
            limit_at=limit_at(self.state, self._budget.max_wallclock_time, self._downtime_s),
            is_computing=self._adapter.is_computing,
            release_until=self._release_until,
            looked_at=looked_at,
        )

    def _detached(self) -> Ending:
        while self._events:
            self._record_event()
        self._commit(always=True)
        return ending(Reason.DETACHED, finite=self._adapter.finite, unfinished=True, trials=len(self.state.trials))

    def _end(self, reason: Reason, detail: str) -> Ending:
        if self._asked.detached and reason is Reason.INTERRUPTED:
            return self._detached()
        reason, detail = final_reason(reason, detail, self.state)
        conclusion = self._adapter.conclude() if reason is Reason.EXHAUSTED else None
        result = final_ending(reason, detail, self.state, finite=self._adapter.finite, conclusion=conclusion, used=self._used(reason))
        ended = self.state.ended
        if ended is None or ended["reason"] != result.reason:
            self._record("end", {"reason": str(result.reason), "message": result.message, "exit_code": result.exit_code})
        self._commit(always=True)
        return result
