"""Ends training jobs: orders to stop, the service's last description, the last lines of the log, the verdict."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from backends.common.capped_log import CappedLog
from backends.common.hints import argument_hint
from backends.events import Closed, Reported
from backends.failures import Cause, Outcome
from backends.sagemaker.aws.call_queue import Call
from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.jobs import outcome
from backends.sagemaker.jobs.job import CloudJob, JobPhase, ever_trained, lives
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.lifecycle.marked_end import MarkedEnd
from backends.sagemaker.logs.poller import LogPoller
from backends.sagemaker.pools.capacity import CapacityHistory
from backends.sagemaker.pools.keeper import PoolKeeper
from backends.sagemaker.pools.pools import MatchKey

_LOOKS_S = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0)
_LATER = 1.5


class JobTerminator:
    """Sees jobs to their end.

    Args:
        table: the jobs.
        log_poller: reads their logs.
        keeper: of warm pools.
        capacity: of which shortages are made known.
        marked: ends all jobs where somebody asked for that from elsewhere.
        settle_s: how long the last lines of a log are awaited whose end is not marked.
        sweep_wait_s: how long a look at the logs of all jobs is awaited before a job's own log is read.
        logs_folder: where each job's log is kept, as an emulator and its log groups may be gone afterwards; None to leave them there.
    """

    def __init__(
        self,
        table: JobTable,
        log_poller: LogPoller,
        keeper: PoolKeeper,
        capacity: CapacityHistory,
        marked: MarkedEnd,
        settle_s: float,
        sweep_wait_s: float,
        logs_folder: Path | None = None,
    ) -> None:
        self._logs_folder, self._sweep_wait_s = logs_folder, sweep_wait_s
        self._table, self._log_poller, self._keeper, self._settle_s = table, log_poller, keeper, settle_s
        self.capacity, self.marked = capacity, marked
        self.closing = False

    def stop(self, cloud: CloudJob) -> None:
        """Have the service stop a job that exists."""

        def taken(_: Any) -> None:
            cloud.stop_accepted = True

        def refused(failure: CallFailure) -> None:
            # That it is over already is what the next listing tells as well.
            if failure.kind in (FailureKind.OVER, FailureKind.MISSING):
                cloud.stop_accepted = True
            else:
                cloud.unstoppable = failure.line
                self._table.notify(f"{cloud.spec.name} cannot be stopped: {failure.line}{_to_do(failure)}")

        def make() -> Any:
            return self._table.clients.get("sagemaker", attempts=1).stop_training_job(TrainingJobName=cloud.spec.name)

        self._table.calls.put(Call("StopTrainingJob", make, taken, refused, lambda: cloud.phase is JobPhase.LIVE))

    def stop_stray(self, name: str) -> None:
        """Have the service stop a job that exists although its creation was refused; nobody waits for it."""

        def refused(failure: CallFailure) -> None:
            if failure.kind not in (FailureKind.OVER, FailureKind.MISSING):
                self._table.notify(f"{name} cannot be stopped: {failure.line}{_to_do(failure)}")

        def make() -> Any:
            return self._table.clients.get("sagemaker", attempts=1).stop_training_job(TrainingJobName=name)

        self._table.notify(f"{name} runs although its creation was refused; it is stopped")
        self._table.calls.put(Call("StopTrainingJob", make, lambda _: None, refused))

    def ended(self, cloud: CloudJob) -> None:
        """Take in that a job has reached its end, and ask how."""
        cloud.phase = JobPhase.OVER
        self._table.describe(cloud.spec.name, lambda answer: self.described(cloud, answer), lambda: self.vanished(cloud))

    def described(self, cloud: CloudJob, answer: Mapping[str, Any]) -> None:
        """Take in the description of a job that has ended; its slot is free, and its log is read once more."""
        if answer.get("TrainingJobStatus") not in outcome.FINAL:
            # A listing is ahead of the description; the next one leads here again.
            cloud.phase = JobPhase.LIVE
            return
        cloud.phase, cloud.described = JobPhase.OVER, answer
        if outcome.is_of_somebody_else(answer, cloud.stop_reason) and not self.marked.known(cloud, lambda: self.described(cloud, answer)):
            return
        ran = cloud.started or ever_trained(answer)
        if ran:
            self._table.start(cloud)
        self._table.end(cloud)
        if cloud.script_ended_at is not None:
            self._table.has_ended_after(self._table.now() - cloud.script_ended_at)
        used = outcome.instance_type(answer) or cloud.instance_type
        self._keeper.job_ended(answer, MatchKey(used, cloud.spec.instance_count))
        cloud.end_seen_at = self._table.now()
        if not ran:
            self._conclude(cloud)
            return
        cloud.next_look_at = cloud.end_seen_at
        if not self._conclude_seen(cloud) and self._polls_may_do(cloud):
            # One look at all logs shows the last lines of all jobs that ended just now; their own logs are a call each.
            cloud.awaits_sweep, cloud.next_look_at = True, cloud.end_seen_at + self._sweep_wait_s

    @property
    def awaits_sweep(self) -> bool:
        """Whether a job's last lines are expected from the next look at the logs of all jobs."""
        return any(cloud.awaits_sweep for cloud in self._table.jobs.values())

    def swept(self, looked_at: float) -> None:
        """Take in that all new lines of the logs were seen that there were at a time."""
        for cloud in self._table.jobs.values():
            if cloud.awaits_sweep and looked_at >= cloud.end_seen_at:
                cloud.awaits_sweep, cloud.next_look_at = False, self._table.now()

    def absent(self, names: Collection[str], before: float) -> None:
        """Take in a listing of all jobs: what was there before it and is not in it, the service is asked for by name."""
        for cloud in self._table.live():
            if cloud.spec.name not in names and cloud.exists_since < before:
                self._table.describe(cloud.spec.name, functools.partial(self._present, cloud), functools.partial(self.vanished, cloud))

    def _ask_ends(self, now: float) -> None:
        """Ask for jobs whose script has ended once each, when the soonest of the others was over: most listings are for that else."""
        for cloud in self._table.live():
            if cloud.script_ended_at is None and cloud.log.has_ended:
                cloud.script_ended_at = now
            if not cloud.is_end_asked and self._ask_end_at(cloud) <= now:
                cloud.is_end_asked = True
                self._table.describe(cloud.spec.name, functools.partial(self._end_told, cloud), functools.partial(self.vanished, cloud))

    def _ask_end_at(self, cloud: CloudJob) -> float:
        """Return when to ask for a job's end; infinity where there is no reason to, as an order to stop it is followed by listings."""
        waits = cloud.is_end_asked or cloud.script_ended_at is None or cloud.stop_reason is not None or cloud.phase is not JobPhase.LIVE
        return math.inf if waits or cloud.script_ended_at is None else cloud.script_ended_at + self._table.shortest_end_s

    def _end_told(self, cloud: CloudJob, answer: Mapping[str, Any]) -> None:
        cloud.outlives_script = True
        self._present(cloud, answer)

    def _present(self, cloud: CloudJob, answer: Mapping[str, Any]) -> None:
        if cloud.phase is JobPhase.LIVE and answer.get("TrainingJobStatus") in outcome.FINAL:
            self.described(cloud, answer)

    def vanished(self, cloud: CloudJob) -> None:
        """Take in that the service knows nothing of a job."""
        self._table.close_as(cloud, Outcome.FAILED, Cause.LOST, "the service has no trace of the training job")

    def plan(self, now: float) -> None:
        """Ask for the end of jobs, and read the logs of ended ones from their beginning, where that is due."""
        self._ask_ends(now)
        for cloud in [*self._table.jobs.values()]:
            if cloud.next_look_at <= now and not self._conclude_seen(cloud):
                cloud.awaits_sweep, cloud.next_look_at = False, math.inf
                self._log_poller.read_all(
                    cloud.spec.name,
                    functools.partial(self._looked, cloud),
                    all_hosts=cloud.spec.instance_count > 1,
                    whole=self._keeps_logs,
                )

    def next_at(self) -> float:
        """Return when `plan` has something to do; infinity where nothing is planned."""
        return min((min(cloud.next_look_at, self._ask_end_at(cloud)) for cloud in self._table.jobs.values()), default=math.inf)

    def _conclude_seen(self, cloud: CloudJob) -> bool:
        """Close a job whose whole log has been seen by polls, or see when that will be; return whether it need not be read now."""
        if not self._polls_may_do(cloud):
            return False
        end = cloud.log.end(lives(cloud.described or {}))
        if end is None or cloud.log.has_gaps:
            return False
        complete_at = self._complete_at(end.printed_at)
        if self._table.now() < complete_at:
            cloud.next_look_at = complete_at
            return True
        lines = self._log_poller.kept(cloud.spec.name) if self._keeps_logs else []
        if lines is None:
            return False
        cloud.awaits_sweep, cloud.next_look_at = False, math.inf
        self._keep_log(cloud, lines)
        self._conclude(cloud)
        return True

    def _polls_may_do(self, cloud: CloudJob) -> bool:
        """Return whether polls may show all of a job's log, and show where something is missing."""
        # What has no numbers may be missing without a sign; an earlier controller's polls are not known.
        return not (cloud.n_looks or cloud.spec.metrics or cloud.accepted_at is not None or cloud.spec.instance_count > 1 or self.closing)

    def _complete_at(self, printed_at: float) -> float:
        """Return by when all is there that was printed before a line, as lines overtake each other and have been late by so far."""
        return printed_at - self._table.skew.ahead_s + _LATER * self._log_poller.lag_s

    @property
    def _keeps_logs(self) -> bool:
        return self._logs_folder is not None and not self.closing

    def _looked(self, cloud: CloudJob, lines: Sequence[str]) -> None:
        now, settled_at = self._table.now(), cloud.end_seen_at + self._settle_s
        cloud.n_looks += 1
        n_lives = lives(cloud.described or {})
        failed = cloud.log.failed_host(n_lives)
        # Where another host has failed, the first was killed and says no more.
        end = cloud.log.end(n_lives) or (failed[1] if failed else None)
        again_at = now + _LOOKS_S[min(cloud.n_looks, len(_LOOKS_S) - 1)]
        if end is not None and not cloud.log.has_gaps:
            complete_at = self._complete_at(end.printed_at)
            again_at = now if now >= complete_at else complete_at
        if again_at <= now or now >= settled_at:
            self._keep_log(cloud, lines)
            self._conclude(cloud)
        else:
            cloud.next_look_at = min(again_at, settled_at)

    def _keep_log(self, cloud: CloudJob, lines: Sequence[str]) -> None:
        """Keep all lines of a job's log where that is wanted; a log that cannot be kept ends nothing."""
        if self._logs_folder is None or not self._keeps_logs:
            return
        path = self._logs_folder / f"{cloud.spec.name}.log"
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
        kept = CappedLog(path, cloud.spec.log_cap_bytes)
        for line in lines:
            kept.write(f"{line}\n".encode())
        kept.close()

    def _conclude(self, cloud: CloudJob) -> None:
        """Close a job, or first get the last lines of its log where they say what went wrong."""
        event = self._judged(cloud)
        ran = cloud.started or ever_trained(cloud.described or {})
        if (event.outcome is not Outcome.FAILED and event.cause is not Cause.OUTSIDE) or cloud.tail is not None or not ran or self.closing:
            self._table.close(cloud, event)
            return

        def tail(lines: Sequence[str]) -> None:
            cloud.tail = tuple(lines)
            self._table.close(cloud, self._judged(cloud))

        failed = cloud.log.failed_host(lives(cloud.described or {}))
        self._log_poller.tail(cloud.spec.name, cloud.log.streams, tail, failed[0] if failed else 1)

    def _judged(self, cloud: CloudJob) -> Closed:
        for report in cloud.log.finish():
            elapsed_s = report.elapsed_s or 0.0
            self._table.events.append(
                Reported(cloud.spec.name, self._table.now(), report.sequence, report.metrics, elapsed_s, report.incarnation)
            )
        n_lives = lives(cloud.described or {})
        usage, end, failed = cloud.log.usage(), cloud.log.end(n_lives), cloud.log.failed_host(n_lives)
        if self._table.options.keep_alive_s:
            usage["warm"] = self._keeper.was_warm(cloud.spec.name)
        if end is not None and end.measured:
            usage["measured"] = dict(end.measured)
        ended = failed[1] if failed else end
        evidence = outcome.JobEvidence(
            job=cloud.spec.name,
            at=self._table.now(),
            offset_s=self._table.skew.ahead_s,
            stop_reason=cloud.stop_reason,
            reports=cloud.log.delivered,
            exit_code=None if ended is None else ended.exit_code,
            kernel_kills=None if ended is None else ended.kernel_kills,
            host=f"algo-{failed[0]}" if failed and failed[0] != 1 else "",
            elsewhere=cloud.log.elsewhere,
            tail=cloud.tail if cloud.tail is not None else cloud.log.tail,
            usage=usage,
            asked_for=cloud.spec.instance_type,
            is_silent=cloud.spec.is_silent,
            remarks=cloud.log.remarks(),
            is_log_incomplete=cloud.n_looks > 0 and (ended is None or cloud.log.has_gaps),
        )
        found = outcome.closed_event(cloud.described or {}, evidence)
        if found.cause is Cause.CAPACITY:
            self.capacity.record_shortage(cloud.instance_type, self._table.now())
        if cloud.stop_message and found.cause is cloud.stop_reason:
            return replace(found, message=cloud.stop_message)
        hint = argument_hint([*evidence.tail, found.message], cloud.spec) if found.outcome is Outcome.FAILED else ""
        return replace(found, message=f"{found.message} ({hint})") if hint else found


def _to_do(failure: CallFailure) -> str:
    return f"; {failure.advice}" if failure.advice else ""
