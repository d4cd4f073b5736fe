"""Starts trials: whose turn it is, what the method suggests next, and whether there is money for it; each step is written down first."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from backends.base import Backend
from backends.job_spec import JobSpec
from benchmarking.controller.budget import affordable, may_add, most_trials
from benchmarking.controller.event_codec import suggestion_body
from benchmarking.controller.interfaces import JobFactory, Wallet, checkpoint_key
from benchmarking.controller.lookahead import next_entries, wanted_ahead
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.recorder import Recorder
from benchmarking.controller.repeat_order import block_size
from benchmarking.controller.starting import PlannedStart, first_attempt, next_attempt, start_body
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.wait_limits import TICK_S
from definitions.schema import Budget


class Starter:
    """Takes the steps by which trials come into being.

    Args:
        state: of the experiment; what is decided is folded into it by `recorder`.
        adapter: the method.
        backend: where jobs run.
        recorder: writes down each step.
        jobs: makes job specifications.
        budget: the limits.
        n_workers: trials that may be in flight at once.
        wallet: money spent by the invocation's earlier experiments.
        code: body of the record that says which version of the code runs, its hash under `code`; None where that is not known.
    """

    def __init__(
        self,
        *,
        state: ExperimentState,
        adapter: MethodAdapter,
        backend: Backend,
        recorder: Recorder,
        jobs: JobFactory,
        budget: Budget,
        n_workers: int,
        wallet: Wallet,
        code: Mapping[str, Any] | None,
    ) -> None:
        self._state, self._adapter, self._backend = state, adapter, backend
        self._record, self._commit = recorder.record, recorder.commit
        self._jobs, self._budget, self._n_workers = jobs, budget, n_workers
        self._wallet, self._code = wallet, code

    @property
    def has_room(self) -> bool:
        """Whether a worker is free."""
        # The first trial of an unknown script on a paid back-end runs alone: if it fails, it fails once.
        most = 1 if self._backend.capabilities.real_money and not self._state.succeeded else self._n_workers
        return self._state.busy < most

    def start_one(self) -> bool:
        """Start or plan one trial; return whether a step was taken."""
        state = self._state
        if self._is_closed_to(""):
            return False
        if state.interrupted:
            return self._begin(next_attempt(state, state.interrupted[0]))
        if state.waiting and state.waiting[0][0] <= self._backend.now() + TICK_S:
            return self._begin(next_attempt(state, state.waiting[0][1]))
        if may_add(self._budget, len(state.trials), state.killed) is not None:
            if self._ask_resume():
                return True
            # Only asking tells whether a list that is as long as the limit is finished.
            if state.jobs or state.queue or state.exhausted or not self._adapter.finite:
                return False
        elif state.queue and not state.block:
            return self._start_next()
        elif state.exhausted:
            return False
        return self._ask()

    def _is_closed_to(self, instance_type: str) -> bool:
        return self._state.doors.closed_until(instance_type) > self._backend.now() + TICK_S

    def _start_next(self) -> bool:
        """Start the trial whose turn it is, or one soon after it for which instances wait warm; return whether a step was taken."""
        state, budget = self._state, self._budget
        order, repeats = state.setup.order, state.setup.repeats
        if not (self._backend.capabilities.warm_pools and self._adapter.independent) or order == "random":
            return self._begin(first_attempt(state, state.queue[0]))
        left = sys.maxsize if (most := most_trials(budget, state.killed)) is None else most - len(state.trials)
        if not state.exhausted and self._block_size() == 1 and wanted_ahead(state.queue, repeats=repeats, left=left) and self._ask():
            return True
        overtaken = state.overtaken[state.queue[0]]
        for evaluation, repeat in next_entries(state.queue, order=order, repeats=repeats, left=left, overtaken=overtaken):
            configuration = state.evaluations[evaluation].configuration
            if self._backend.idle(*self._jobs.instances(configuration), self._jobs.deploy_key(configuration)):
                return self._begin(first_attempt(state, (evaluation, repeat))) or self._begin(first_attempt(state, state.queue[0]))
        return self._begin(first_attempt(state, state.queue[0]))

    def _ask_resume(self) -> bool:
        """Go on with a paused evaluation where the trials are all started; return whether there was one."""
        suggestion = self._adapter.ask_resume()
        if suggestion is None:
            return False
        self._record("suggest", {"evaluation": suggestion.resume, "resume": True, "limited": True, "block_of": None})
        return True

    def _ask(self) -> bool:
        """Ask for the next suggestion; return whether there was an answer."""
        state = self._state
        block_of = state.block_of if state.block else self._block_size()
        evaluation = len(state.evaluations)
        answer = self._adapter.ask(evaluation)
        if answer is None:
            return False
        body = suggestion_body(answer.suggestion, answer.skipped, answer.last_reason, evaluation, block_of)
        self._record("suggest", body)
        return True

    def _block_size(self) -> int | None:
        setup, most = self._state.setup, most_trials(self._budget, self._state.killed)
        left = most - len(self._state.trials) if self._adapter.independent and most is not None else None
        return block_size(setup.repeats, setup.order, finite=self._adapter.finite, left=left)

    def _begin(self, planned: PlannedStart) -> bool:
        if self._is_closed_to(str(planned.spec.configuration.get("instance_type", ""))):
            return False
        worst_usd = self._jobs.worst_usd(planned.spec)
        if not affordable(
            self._budget,
            spent_usd=self._wallet.spent_usd + self._state.money.spent_usd,
            reserved_usd=self._state.money.reserved_usd,
            worst_usd=worst_usd,
        ):
            return False
        trial, attempt = planned.trial, planned.attempt
        restore_from = None if planned.checkpoint_of is None else self._checkpoint_of(planned.checkpoint_of)
        if self._code is not None and self._code["code"] != self._state.code:
            self._record("code", self._code)
        self._record("start", start_body(planned, self._jobs.name(trial, attempt), restore_from, worst_usd))
        self._commit()
        self._backend.submit(self.spec(trial, attempt, restore_from))
        return True

    def spec(self, trial_id: int, attempt: int, restore_from: str | None) -> JobSpec:
        """Return the job of an attempt of a trial."""
        return self._jobs.build(trial_id, attempt, self._state.trials[trial_id].spec, restore_from)

    def _checkpoint_of(self, trial: int) -> str | None:
        key = checkpoint_key(trial)
        return key if self._backend.capabilities.checkpoints and self._backend.checkpoints.exists(key) else None
