"""The state of an experiment, folded record by record from its journal: the same code runs live and on resume."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

from backends.events import Closed, Ended, Event, Noted, Progressed, Rejected, Restarted, Retained, Started
from backends.failures import LOG_INCOMPLETE, Cause
from benchmarking.controller.aggregation import ResultAggregator, Tell
from benchmarking.controller.closed_doors import ClosedDoors
from benchmarking.controller.event_codec import record_event, recorded_suggestion
from benchmarking.controller.finished_loops import FinishedLoop, finished_loop
from benchmarking.controller.journal import Record
from benchmarking.controller.known_progress import known_progress
from benchmarking.controller.lookahead import take_out
from benchmarking.controller.method import Decision
from benchmarking.controller.money import Money
from benchmarking.controller.prefixes import end_of_prefix, is_prefix, progress_tell, ran_to_its_end, with_measurements
from benchmarking.controller.progress_curve import with_progress
from benchmarking.controller.repeat_order import ordered
from benchmarking.controller.retry_policy import Failure, TrialStatus, as_number
from benchmarking.controller.rows import EvaluationState, JobState, StateSetup, TrialState
from benchmarking.controller.waits import Waits
from benchmarking.controller.warm_usage import WarmStarts
from definitions.schema import DERIVED_OBJECTIVES


class ExperimentState:
    """Everything that the loop decides by; changed by `apply` alone."""

    def __init__(self, setup: StateSetup) -> None:
        self.setup = setup
        self.trials: dict[int, TrialState] = {}
        self.evaluations: dict[int, EvaluationState] = {}
        self.jobs: dict[str, JobState] = {}
        self.prefixes: set[str] = set()  # open jobs that are prefixes of the full one
        self.queue: deque[tuple[int, int]] = deque()
        self.overtaken: Counter[tuple[int, int]] = Counter()
        self.block: list[int] = []
        self.block_of: int | None = None
        self.skipped = 0
        self.last_reason = ""
        self.exhausted = False
        self.due_tells: deque[Tell] = deque()
        self.due_stops: deque[tuple[str, Cause]] = deque()
        self.due_settlements: deque[tuple[JobState, Closed | Rejected]] = deque()
        self.waiting: list[tuple[float, int]] = []
        self.interrupted: deque[int] = deque()
        self.doors = ClosedDoors()
        self.busy = 0
        self.failures: list[Failure] = []
        self.counted_failures = 0
        self.finished = 0
        self.succeeded = 0
        self.killed = 0
        self.money = Money()
        self.warm = WarmStarts()
        self.reports = 0
        self.loops: list[FinishedLoop] = []
        self.incomplete: dict[str, int] = {}  # trials that were completed without the end of their log, by job
        self.first_at: float | None = None
        self.first_start: tuple[int, float] | None = (
            None  # number and time of the first record of a job that runs: time is limited from then
        )
        self.waits = Waits(counts=setup.waits_for_others)
        self.last_at = 0.0
        self.sequence = 0
        self.code = ""
        self.ended: Mapping[str, Any] | None = None
        self._steps: Mapping[str, Callable[[float, Mapping[str, Any]], None]] = {
            "reported": self._reported,
            "suggest": self._suggest,
            "code": self._new_code,
            "start": self._start,
            "tell": self._tell,
            "stop": self._stop,
            "bound": self._bound,
            "engine": self._engine,
            "settle": self._settle,
            "late": self._late,
            "end": self._end,
        }
        self._results = ResultAggregator(tuple(setup.objectives), setup.repeats, setup.level_name)
        self._best_of = [(name, mode) for name, mode in setup.objectives.items() if name not in DERIVED_OBJECTIVES]
        self.reported_objectives = tuple(name for name, _ in self._best_of)  # that the script reports itself

    @property
    def codes(self) -> list[str]:
        """Versions of the code that its trials ran, the earliest first."""
        return list(dict.fromkeys(trial.code for trial in self.trials.values()))

    def apply(self, record: Record, event: Event | None = None) -> None:
        """Take a record in; the next decision is then a function of this state alone.

        Args:
            record: the next one.
            event: the back-end's event that it was made of, where that is at hand; else it is made again of the record.
        """
        self.sequence, self.last_at, kind, body = record
        if self.first_at is None:
            self.first_at = self.last_at
        self.ended = None
        step = self._steps.get(kind)
        if step is not None:
            step(self.last_at, body)
            return
        event = event or record_event(record)
        if type(event) is Retained:
            self._retained(event, body["worst_usd"], body["cost_usd"])
        elif event is not None:
            self._event(event)

    def _end(self, at: float, body: Mapping[str, Any]) -> None:
        self.ended = body

    def _new_code(self, at: float, body: Mapping[str, Any]) -> None:
        self.code = body["code"]

    def _suggest(self, at: float, body: Mapping[str, Any]) -> None:
        self.skipped += body.get("skipped", 0)
        self.last_reason = body.get("reason") or self.last_reason
        if not self.block:
            self.block_of = body.get("block_of")
        suggestion = recorded_suggestion(body)
        if suggestion is None:
            self.exhausted = True
        elif suggestion.resume is not None:
            self._resume(self.evaluations[suggestion.resume])
            return
        else:
            self.evaluations[body["evaluation"]] = EvaluationState(suggestion.trial, suggestion.checkpoint_from)
            self.block.append(body["evaluation"])
        if self.exhausted or len(self.block) == self.block_of:
            self.queue.extend(ordered(self.block, self.setup.repeats, self.setup.order, self.setup.seed))
            self.block = []

    def _resume(self, evaluation: EvaluationState) -> None:
        """Let paused trials go on, those whose jobs have not ended yet once they have; what ended by itself is told now."""
        evaluation.removed = False
        for trial in evaluation.trials:
            if self.trials[trial].status is TrialStatus.PAUSED:
                self._wait(trial, self.last_at)
        undelivered, evaluation.undelivered = evaluation.undelivered, []
        for trial in undelivered:
            self._tell_end(self.trials[trial])

    def _start(self, at: float, body: Mapping[str, Any]) -> None:
        trial_id = body["trial"]
        trial = self.trials.get(trial_id)
        if trial is None:
            evaluation, repeat = self.queue[0] if "evaluation" not in body else (body["evaluation"], body["repeat"])
            take_out(self.queue, (evaluation, repeat), self.setup.order, self.overtaken)
            trial = TrialState(trial_id, evaluation, self.evaluations[evaluation].trial(repeat))
            self.trials[trial_id] = trial
            self.evaluations[evaluation].trials.append(trial_id)
        elif self.waiting and self.waiting[0][1] == trial_id:
            heapq.heappop(self.waiting)
        else:
            self.interrupted.remove(trial_id)
        trial.status, trial.cause, trial.message = TrialStatus.RUNNING, None, ""
        trial.submissions += 1
        trial.code = self.code
        self.jobs[body["job"]] = JobState(body["job"], trial_id, body["attempt"], at, body["restore_from"], body["worst_usd"])
        self.prefixes |= {body["job"]} if is_prefix(trial) else set()
        self.money.reserve(body["worst_usd"])
        self.busy += 1
        self.waits.submitted(body["job"], at)

    def _event(self, event: Event) -> None:
        job = self.jobs.get(event.job)
        if job is None:
            return
        trial = self.trials[job.trial]
        job.last_event_at = event.at
        match event:
            case Started():
                job.started, job.started_at = True, event.at
                self.waits.started(event.job, event.at)
                if self.first_start is None:
                    self.first_start = (self.sequence, event.at)
                trial.starts += 1
                if trial.started_at is None:
                    trial.started_at = event.at
            case Progressed():
                job.progress = with_progress(job.progress, event)
                self._tell_progress(trial, job)
            case Restarted():
                job.begin_anew(event.incarnation)
            case Ended():
                job.ended = True
                self.waits.over(event.job, event.at)
                self.busy -= 1
                self._unblock(str(trial.configuration.get("instance_type", "")))
            case Noted():
                job.stage = event.stage or job.stage
                job.memo = {**job.memo, **(event.memo or {})}
            case Closed() | Rejected():
                self._closed(event, job)
            case _:
                job.accepted_at = event.at

    def _reported(self, at: float, body: Mapping[str, Any]) -> None:
        # From the record alone: of reports there are more than of all else, and each would have to be made an event of first.
        metrics, job = body["metrics"], self.jobs.get(body["job"])
        if job is None:
            if body["job"] in self.incomplete:
                self.reports += 1
                self.trials[self.incomplete[body["job"]]].take(metrics, self._best_of)
            return
        job.last_event_at = at
        job.take(metrics, body["elapsed_s"], self.setup.reported_level)
        self.reports += 1
        trial = self.trials[job.trial]
        trial.take(metrics, self._best_of)
        if self.prefixes and self.setup.reported_level in metrics:
            self._tell_progress(trial, job)
        if self.setup.level_name is not None and not self.evaluations[trial.evaluation].removed:
            tell = self._results.reported(trial.evaluation, trial.repeat, metrics)
            if tell is not None:
                self.due_tells.append(tell)

    def _tell_progress(self, trial: TrialState, job: JobState) -> None:
        told = progress_tell(trial, job, self.setup.full_level)
        if told is not None:
            self.due_tells.append(told)

    def _late(self, at: float, body: Mapping[str, Any]) -> None:
        self.trials[self.incomplete.pop(body["job"])].message = ""

    def _closed(self, event: Closed | Rejected, job: JobState) -> None:
        del self.jobs[job.name]
        self.prefixes.discard(job.name)
        trial = self.trials[job.trial]
        if trial.level is not None:
            said = known_progress(job, self.setup.full_level)
            is_through = isinstance(event, Closed) and ran_to_its_end(trial, job, event.outcome, event.cause)
            trial.progress = said.at_own_end() if said is not None and is_through else said
        self.waits.over(job.name, event.at)
        if self.due_stops:
            self.due_stops = deque(due for due in self.due_stops if due[0] != job.name)
        self.money.release(job.worst_usd, is_last=not self.jobs)
        if not job.ended:
            self.busy -= 1
        self.due_settlements.append((job, event))
        if isinstance(event, Closed) and "warm" in event.usage:
            self.warm.closed(job.name, job.submitted_at, event.usage)
        if isinstance(event, Rejected):
            self.doors.refused(event, str(trial.configuration.get("instance_type", "")))

    @property
    def has_measured(self) -> bool:
        """Whether any trial was completed, or reported a value of an objective and did not fail."""
        return bool(self.succeeded) or any(trial.best for trial in self.trials.values() if not trial.status.is_failure)

    def _unblock(self, instance_type: str) -> None:
        """Let what waits for a quota of the instance type try again, as one of its jobs has made room."""
        if instance_type not in self.doors.until:
            return
        freed = {trial for _, trial in self.waiting if self._waits_for_quota(trial, instance_type)}
        if freed:
            self.doors.open(instance_type)
            self.waiting = [(self.last_at if trial in freed else due_at, trial) for due_at, trial in self.waiting]
            heapq.heapify(self.waiting)

    def _waits_for_quota(self, trial: int, instance_type: str) -> bool:
        state = self.trials[trial]
        return state.cause is Cause.QUOTA and state.configuration.get("instance_type", "") == instance_type

    def _retained(self, event: Retained, worst_usd: float | None, cost_usd: float | None) -> None:
        """Count warm instances that wait as money in flight, and as spent once they are gone; once for each job."""
        job = self.jobs.get(event.job)
        if event.billable_s is None:
            if self.money.keep(event, job, worst_usd):
                self.warm.kept_at(event.at)
        elif self.money.let_go(event, cost_usd, is_last=not self.jobs):
            if job is not None:
                job.pool_booked = True
            if event.reused_by:
                self.warm.reused_by(event.reused_by)

    def _tell(self, at: float, body: Mapping[str, Any]) -> None:
        tell = self.due_tells.popleft()
        decision = Decision(body["decision"])
        at_full_level = tell.level is not None and self.setup.full_level is not None and tell.level >= self.setup.full_level
        if decision is Decision.CONTINUE or (decision is Decision.STOP and at_full_level):
            return
        evaluation = self.evaluations[tell.evaluation]
        evaluation.removed = tell.call != "progress"
        if decision is Decision.STOP and evaluation.removed:
            self._results.removed(tell.evaluation)
        reason = Cause.PAUSED if decision is Decision.PAUSE else Cause.SCHEDULER if evaluation.removed else Cause.PREFIX
        running = {job.trial: job.name for job in self.jobs.values() if job.stop_requested_at is None}
        self.due_stops.extend((running[trial], reason) for trial in evaluation.trials if trial in running)

    def _stop(self, at: float, body: Mapping[str, Any]) -> None:
        if self.due_stops and self.due_stops[0][0] == body["job"]:
            self.due_stops.popleft()
        job = self.jobs[body["job"]]
        job.stop_requested_at, job.stop_reason, job.stop_message = at, Cause(body["reason"]), body.get("message", "")

    def _bound(self, at: float, body: Mapping[str, Any]) -> None:
        job = self.jobs.get(body["job"])
        if job is not None:
            self.money.bound(job, body["worst_usd"])

    def _engine(self, at: float, body: Mapping[str, Any]) -> None:
        self.money.engine(body["job"], body["usd"])

    def _settle(self, at: float, body: Mapping[str, Any]) -> None:
        job, event = self.due_settlements.popleft()
        trial = self.trials[job.trial]
        trial.status = TrialStatus(body["status"])
        trial.cause = None if body["cause"] is None else Cause(body["cause"])
        trial.message = body["message"]
        if trial.status is TrialStatus.COMPLETED and trial.message.startswith(LOG_INCOMPLETE):
            self.incomplete[body["job"]] = trial.trial
        if trial.cause is not None:
            trial.causes[trial.cause] += 1
        if isinstance(event, Closed):
            self._account(trial, event, body["cost_usd"])
            loop = finished_loop(job, trial.level, event)
            self.loops += [] if loop is None else [loop]
        if trial.status is TrialStatus.WAITING:
            self._wait(trial.trial, body["retry_at"])
        elif trial.status is TrialStatus.INTERRUPTED:
            self.interrupted.append(trial.trial)
        elif trial.status is TrialStatus.PAUSED and not self.evaluations[trial.evaluation].removed:
            self._wait(trial.trial, self.last_at)
        elif trial.status.is_final:
            self._final(trial, counts=body["counts"])

    def _account(self, trial: TrialState, event: Closed, cost_usd: float | None) -> None:
        trial.ended_at = event.ended_at if event.ended_at is not None else event.at
        if event.started_at is not None and event.ended_at is not None:
            trial.duration_s += event.ended_at - event.started_at
            # That it runs is often seen later than it was so.
            trial.started_at = event.started_at if trial.started_at is None else min(trial.started_at, event.started_at)
        trial.billable_s += event.billable_s
        trial.log_tail, trial.usage = event.log_tail, event.usage
        if trial.reused is not None:
            trial.duration_s = as_number(trial.reused.get("duration_s")) or 0.0
        trial.cost_usd = None if trial.cost_usd is None or cost_usd is None else trial.cost_usd + cost_usd
        self.money.pay(cost_usd)

    def _final(self, trial: TrialState, *, counts: bool) -> None:
        self.finished += 1
        if counts:
            self.counted_failures += 1
            self.failures.append(Failure(trial.cause or Cause.SCRIPT_ERROR, trial.message, str(trial.usage.get("raised_in", ""))))
        self.succeeded += trial.status is TrialStatus.COMPLETED
        self.killed += trial.cause is Cause.OUTSIDE
        if self.evaluations[trial.evaluation].removed:
            self.evaluations[trial.evaluation].undelivered.append(trial.trial)
        elif trial.status is not TrialStatus.STOPPED or trial.cause is Cause.OUTSIDE:
            # What the method has stopped it knows of; what a person has ended it would wait for in vain.
            self._tell_end(trial)

    def _tell_end(self, trial: TrialState) -> None:
        final = {name: trial.value_of(name) for name in self.setup.objectives} if trial.status is TrialStatus.COMPLETED else None
        tell = end_of_prefix(trial) if is_prefix(trial) else self._results.finished(trial.evaluation, trial.repeat, final)
        if tell is not None:
            self.due_tells.append(with_measurements(tell, trial))

    def _wait(self, trial: int, due_at: float) -> None:
        self.trials[trial].status = TrialStatus.WAITING
        heapq.heappush(self.waiting, (due_at, trial))
