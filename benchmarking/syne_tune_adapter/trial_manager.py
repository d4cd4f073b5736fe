"""The trials of one Syne Tune experiment at work: starts, pauses, resumes and retries their jobs.

It can be saved at any moment, and then is without its session: the next call opens a new one and gives up what had been running.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.adopted import AdoptedJob
from backends.events import Closed, Ended, Event, Rejected
from backends.failures import Cause
from benchmarking.controller.interfaces import checkpoint_key
from benchmarking.syne_tune_adapter.backend_session import BackendSession, MakeBackend
from benchmarking.syne_tune_adapter.trial_record import ReportSchema, SyneTuneStatus, TrialRecord
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

_CLOSING_S = 15.0
"""Seconds within which jobs that were stopped at the end must have closed."""


class TrialManager:
    """The trials and their back-end.

    Args:
        definition: resolved for the back-end.
        backend_name: its name; `make_backend`: makes it.
        seed: of the jobs.
        environ: environment of the jobs; this process's where None.
        wait_s: seconds that `watch` waits for something to happen.
    """

    def __init__(
        self,
        definition: BenchmarkDefinition,
        backend_name: str,
        make_backend: MakeBackend,
        *,
        seed: int,
        environ: Mapping[str, str] | None,
        wait_s: float,
    ) -> None:
        self.definition = definition
        self.folder: Path | None = None
        self.records: dict[int, TrialRecord] = {}
        self.counts_workers = False
        self._backend_name = backend_name
        self._make_backend = make_backend
        self._seed = seed
        self._environ = None if environ is None else dict(environ)
        self._wait_s = wait_s
        self._schema = ReportSchema.of(definition)
        self._owners: dict[str, int] = {}
        self._copied: set[int] = set()
        self._copies_due: dict[int, int] = {}
        self._to_delete: set[int] = set()
        self._openings = 0
        self._session: BackendSession | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}

    def start(self, trial: int, configuration: Mapping[str, Any]) -> None:
        """Start a new trial; from a checkpoint where one was copied for it."""
        record = self.records[trial] = TrialRecord(trial, dict(configuration), self._schema)
        if trial not in self._copies_due:
            record.has_copy = trial in self._copied
            self._submit(record)

    def resume(self, trial: int, configuration: Mapping[str, Any]) -> None:
        """Let a paused trial go on."""
        record = self.records[trial]
        changed = dict(configuration) != record.configuration
        record.configuration = dict(configuration)
        if record.is_open:
            # The job that was paused may still be writing its checkpoint.
            record.resume_asked = True
            record.status = SyneTuneStatus.IN_PROGRESS
        elif record.finished and not changed:
            record.resumed(restored=True)
            record.status = SyneTuneStatus.COMPLETED
        else:
            self._resume(record)

    def end(self, trial: int, cause: Cause, result: Mapping[str, Any] | None) -> None:
        """Stop or pause a trial, because of a result where one is given."""
        record = self.records[trial]
        stopping_already = record.resume_asked
        record.resume_asked, record.retry_at = False, None
        record.asked_to_end(cause, result)
        if record.is_open and not stopping_already:
            self._opened().backend.stop(record.job, cause)

    def watch(self, trials: Sequence[int]) -> None:
        """Take events until one matters to who polls these trials, or `wait_s` has passed; on a virtual clock go on until one does."""
        if self._session is None and not self._any_open():
            return
        session = self._opened()
        until = session.backend.now() + self._wait_s
        virtual = session.backend.capabilities.virtual_time
        matters = self._apply(session.backend.wait(0.0))
        # A loop that counts workers may poll no trial and yet wait, for those that are about to end.
        may_wait = bool(trials) or self.counts_workers
        while may_wait and not matters and not self._has_news(trials):
            now = session.backend.now()
            deadlines = [record.retry_at for record in self.records.values() if record.retry_at is not None]
            if (not deadlines and not self._any_open()) or (not virtual and now >= until):
                return
            deadlines += [] if virtual else [until]
            matters = self._apply(session.backend.wait(max(0.0, min(deadlines) - now) if deadlines else None))

    def look(self) -> None:
        """Take the events that have happened, without waiting."""
        if self._session is not None:
            self._apply(self._session.backend.wait(0.0))

    def finish(self) -> None:
        """Stop every trial and wait for the jobs to end."""
        for trial, record in self.records.items():
            if record.status is SyneTuneStatus.IN_PROGRESS:
                self.end(trial, Cause.SCHEDULER, None)
        if self._session is not None:
            backend = self._session.backend
            give_up_at = backend.now() + _CLOSING_S
            while self._any_open() and backend.now() < give_up_at:
                self._apply(backend.wait(give_up_at - backend.now()))

    def close(self) -> None:
        """Release the back-end; jobs that still run are stopped."""
        if self._session is not None:
            session, self._session = self._session, None
            session.close()
            for record in self.records.values():
                record.released()

    def copy_checkpoint(self, source: int, target: int) -> None:
        """Give a trial that is about to start another one's checkpoint.

        Raises:
            UserError: the back-end keeps no checkpoints.
        """
        if not self._opened().backend.capabilities.checkpoints:
            raise UserError(
                f"trial {target} is to start from the checkpoint of trial {source}",
                f"the back-end {self._backend_name} keeps no checkpoints",
                "use a scheduler that starts trials afresh",
            )
        record = self.records.get(source)
        if record is not None and record.is_open and record.asked is not None:
            # It is about to end, and may write its last checkpoint now; the new trial starts when it has.
            self._copies_due[target] = source
        else:
            self._copy(source, target)

    def delete_checkpoint(self, trial: int) -> None:
        """Delete a trial's checkpoint, when its job has ended."""
        record = self.records.get(trial)
        if record is not None and record.is_open:
            self._to_delete.add(trial)
        elif self._opened().backend.capabilities.checkpoints:
            self._opened().backend.checkpoints.delete([checkpoint_key(trial)])

    def _opened(self) -> BackendSession:
        if self._session is None:
            if self.folder is None:
                raise UserError("OutriderBackend: there is no folder for logs", "no tuner has named its own", "give folder=...")
            self.folder.mkdir(parents=True, exist_ok=True)
            self._openings += 1
            self._session = BackendSession(
                self.definition,
                self._backend_name,
                self._make_backend,
                folder=self.folder,
                environ=dict(os.environ) if self._environ is None else self._environ,
                seed=self._seed,
                openings=self._openings,
            )
            self._abandon(self._session)
        return self._session

    def _abandon(self, session: BackendSession) -> None:
        """Give up trials that an earlier process left running: the loop that was loaded from its snapshot does not know of them."""
        left = []
        for record in self.records.values():
            if record.is_open:
                spec = session.spec(record.trial, record.submissions, record.configuration, None)
                left.append(AdoptedJob(dataclasses.replace(spec, name=record.job), submitted_at=session.backend.now()))
            if record.is_open or record.retry_at is not None or record.trial in self._copies_due:
                record.given_up()
        session.abandon(left)

    def _submit(self, record: TrialRecord) -> None:
        session = self._opened()
        why = session.refusal(record.configuration)
        if why is not None:
            record.refused(why)
            return
        may_restore = record.submissions > 0 or record.has_copy
        restore_from = checkpoint_key(record.trial) if may_restore and self._has_checkpoint(record) else None
        spec = session.spec(record.trial, record.submissions + 1, record.configuration, restore_from)
        usd_per_hour, instances = session.price(record.configuration)
        record.submitted(spec.name, usd_per_hour, instances, restored=restore_from is not None)
        self._owners[spec.name] = record.trial
        session.backend.submit(spec)

    def _resume(self, record: TrialRecord) -> None:
        record.resumed(restored=self._has_checkpoint(record))
        self._submit(record)

    def _has_checkpoint(self, record: TrialRecord) -> bool:
        backend = self._opened().backend
        return backend.capabilities.checkpoints and backend.checkpoints.exists(checkpoint_key(record.trial))

    def _copy(self, source: int, target: int) -> None:
        self._opened().backend.checkpoints.copy(checkpoint_key(source), checkpoint_key(target))
        self._copied.add(target)

    def _start_copies_of(self, source: int) -> None:
        for target in [target for target, its_source in self._copies_due.items() if its_source == source]:
            del self._copies_due[target]
            record = self.records[target]
            if record.status is SyneTuneStatus.IN_PROGRESS:
                self._copy(source, target)
                record.has_copy = True
                self._submit(record)

    def _any_open(self) -> bool:
        return any(record.is_open for record in self.records.values())

    def _has_news(self, trials: Sequence[int]) -> bool:
        records = [self.records[trial] for trial in trials]
        return any(record.status is not SyneTuneStatus.IN_PROGRESS or len(record.results) > record.handed_over for record in records)

    def _apply(self, events: Sequence[Event]) -> bool:
        """Fold events into the trials, do what they call for, and return whether a worker became free."""
        backend = self._opened().backend
        for event in events:
            trial = self._owners.get(event.job)
            if trial is None or self.records[trial].job != event.job:
                continue
            record = self.records[trial]
            todo = record.apply(event)
            if not record.is_open:
                self._start_copies_of(trial)
            if todo == "stop":
                backend.stop(event.job, Cause.DIVERGED)
            elif todo == "resume":
                self._resume(record)
            if trial in self._to_delete and not record.is_open:
                self._to_delete.discard(trial)
                self.delete_checkpoint(trial)
        for record in self.records.values():
            if record.retry_at is not None and record.retry_at <= backend.now():
                self._submit(record)
        return any(isinstance(event, (Ended, Closed, Rejected)) for event in events)
