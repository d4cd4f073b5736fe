"""Takes one job through its life: instances, attempts, limits, faults, the end. Runs in the loop's thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

from backends.emulator.container.attempt import Attempt
from backends.emulator.container.channels import DataError
from backends.emulator.container.context import Context
from backends.emulator.container.job_profile import JobProfile
from backends.emulator.container.program import ProgramError
from backends.emulator.core import lifecycle
from backends.emulator.core.event_loop import TimerHandle
from backends.emulator.core.job import Job
from backends.emulator.core.metric_series import MetricPoint
from backends.emulator.core.timers import TimerGroup
from backends.emulator.http.errors import ServiceError
from backends.emulator.logs.delivery import metric_finder
from backends.emulator.training.job_faults import NOTICE_S, JobFaults, TrainingFault, strikes

INTERNAL = "InternalServerError: We encountered an internal error.  Please try again."


class JobExecution:
    """One job from its creation to its end.

    Args:
        changed: called after each change of the job; `ended`: called once, when it is over.
        warm: whether it got instances of a warm pool; `cache`: the pool's cache folder, where it keeps or may leave one.
    """

    def __init__(
        self, job: Job, context: Context, changed: Callable[[Job], None], ended: Callable[[Job], None], warm: bool, cache: Path | None
    ) -> None:
        self._job, self._context, self._changed, self._ended = job, context, changed, ended
        self._warm, self._cache = warm, cache
        self._attempt: Attempt | None = None
        self._intent = ""
        self._timers = TimerGroup(context.loop)
        self._faults = JobFaults(job, context.injector)
        self._wait_timer: TimerHandle | None = None
        self._awaiting_step: list[TrainingFault] = []
        self._tail: deque[str] = deque(maxlen=5)
        self._find = metric_finder(job.request["AlgorithmSpecification"].get("MetricDefinitions", []))
        self._profile: JobProfile | None = None
        self._busy = False
        self._over = False

    def begin(self) -> None:
        """Ask for instances."""
        stopping = self._job.request.get("StoppingCondition", {})
        wait_s = stopping.get("MaxWaitTimeInSeconds")
        if wait_s is not None:
            self._wait_timer = self._context.loop.call_at(self._job.life.created_at + wait_s, lambda: self.end_early("MaxWaitTimeExceeded"))
        self._provision()

    def stop(self) -> None:
        """Do what StopTrainingJob asks for; the job is in progress."""
        self._move("Stopping")
        self._wind_down("Stopped")

    def end_early(self, secondary: str) -> None:
        """End the job as one that has exceeded a limit."""
        if not self._over and not self._intent and self._job.life.secondary != "Uploading":
            self._wind_down(secondary)

    def interrupt(self, notice_s: float = NOTICE_S) -> None:
        """Take the spot instances away, after TERM and so many seconds."""
        if self._attempt is not None and self._attempt.running and not self._intent:
            self._intent = "Interrupted"
            self._terminate(notice_s)

    def kill(self, *, log_lost: bool = False) -> None:
        """Kill the script, as the kernel does where memory is short; what follows is what follows when any script ends so.

        Args:
            log_lost: whether what it printed and has not arrived yet never does.
        """
        if self._attempt is not None and self._attempt.running:
            if log_lost:
                self._attempt.mute()
            self._attempt.kill()

    def break_down(self, *, lost: bool = False) -> None:
        """Have an internal error now; where the host is lost nothing of it is saved any more, neither checkpoints nor last words."""
        if self._over or self._intent:
            return
        if self._attempt is not None and self._attempt.running:
            self._intent = "lost" if lost else "internal"
            if lost:
                self._attempt.mute()
            self._attempt.kill()
        elif not self._busy:
            self._timers.cancel()
            self._internal()

    def close(self) -> None:
        """End everything of the job without a word."""
        self._over = True
        self._timers.cancel()
        if self._attempt is not None:
            self._attempt.close()

    # Instances

    def _provision(self) -> None:
        context = self._context
        delays = context.settings.delays
        delay_s = delays.warm_start_s if self._warm else delays.cold_start_s
        pending_s = self._faults.pending_s()
        if pending_s is not None:
            self._timers.call_later(delay_s, lambda: self._move("Pending", lifecycle.MESSAGES["Pending"]))
            delay_s += pending_s
        self._timers.call_later(delay_s, self._provisioned)

    def _provisioned(self) -> None:
        job, context = self._job, self._context
        # Instances of a warm pool are there already; others may be refused, by type in the order of the preferences.
        if not self._warm:
            preferences = job.request.get("ResourceConfig", {}).get("InstancePreferences")
            for option in preferences or [{"InstanceType": job.instance_type, "InstanceCount": job.instance_count}]:
                refused = self._faults.no_capacity("start", option["InstanceType"])
                if refused is None:
                    job.instance_type, job.instance_count = option["InstanceType"], option.get("InstanceCount", job.instance_count)
                    break
            else:
                self._end("Failed", f"CapacityError: {refused}")
                return
        self._warm = False
        if job.life.secondary == "Pending":
            self._move("Starting")
        if self._faults.breaks_at_start():
            self._internal()
            return
        self._move("Downloading")
        attempt = self._attempt = Attempt(job, context, job.incarnation, self._cache, self._line, self._exited)
        self._busy = True
        context.loop.run_in_thread(attempt.prepare, lambda _, error: self._prepared(attempt, error))

    # The script

    def _prepared(self, attempt: Attempt, error: BaseException | None) -> None:
        self._busy = False
        if self._over:
            return
        if self._intent:
            self._finish_early()
        elif isinstance(error, (ProgramError, DataError)):
            self._end("Failed", f"ClientError: {error}")
        elif error is not None:
            self._end("Failed", f"{INTERNAL} ({error})" if isinstance(error, OSError) else INTERNAL)
            if not isinstance(error, OSError):
                raise error
        else:
            self._move("Training")
            try:
                attempt.launch()
            except ProgramError as problem:
                attempt.close()
                self._end("Failed", f"ClientError: {problem}")
                return
            except (OSError, DataError) as problem:
                attempt.close()
                self._end("Failed", f"AlgorithmError: the program could not be started: {problem}")
                return
            self._set_timers(attempt)

    def _set_timers(self, attempt: Attempt) -> None:
        job, context, request = self._job, self._context, self._job.request
        delays = context.settings.delays
        # The limit is on the time over all lives of the script.
        most_s = request.get("StoppingCondition", {}).get("MaxRuntimeInSeconds", 86400)
        used_s = job.life.training_s(context.now()) or 0.0
        self._timers.call_later(max(0.0, most_s - used_s), lambda: self.end_early("MaxRuntimeExceeded"))
        if "CheckpointConfig" in request:
            self._timers.call_every(delays.checkpoint_sync_s, lambda: self._background(attempt.sync_checkpoints))
        profile = self._profile = JobProfile.of(job, context, [instance.host for instance in job.instances])
        if profile is not None:
            self._timers.call_every(profile.interval_s, profile.sample)
            self._timers.call_every(delays.profiler_file_s, lambda: self._background(profile.flush))
        faults = list(self._faults.while_training())
        self._awaiting_step = [fault for fault in faults if fault.after_s is None]
        for fault in faults:
            if fault.after_s is not None:
                self._timers.call_later(fault.after_s, lambda fault=fault: self._strike(fault))  # type: ignore[misc]

    def _line(self, host: int, line: str) -> None:
        for name, value in self._find(line).items():
            self._job.metrics[name] = (value, self._context.now())
            self._context.metrics.add(MetricPoint(self._job.name, name, value, self._context.service_now()))
        if host == 0:
            self._tail.append(line)
        due = next((fault for fault in self._awaiting_step if strikes(fault, line)), None)
        if due is not None:
            self._awaiting_step.remove(due)
            self._strike(due)

    def _strike(self, fault: TrainingFault) -> None:
        self._faults.struck(fault.number)
        if fault.kind == "spot_interruption":
            self.interrupt(fault.notice_s)
        elif fault.kind == "killed":
            self.kill(log_lost=fault.log_lost)
        else:
            self.break_down(lost=fault.kind == "host_lost")

    def _terminate(self, grace_s: float) -> None:
        attempt = self._attempt
        if attempt is None:
            return
        attempt.terminate()
        self._timers.call_later(grace_s, attempt.kill)

    def _wind_down(self, intent: str) -> None:
        earlier, self._intent = self._intent, intent
        if self._attempt is not None and self._attempt.running:
            if not earlier:
                self._terminate(self._context.settings.delays.grace_s)
        elif not self._busy:
            self._finish_early()

    def _exited(self, code: int) -> None:
        attempt = self._attempt
        if attempt is None:
            return
        self._timers.cancel()
        self._busy = True
        is_lost = self._intent == "lost"
        profile = None if is_lost else self._profile

        # Before anything else becomes of the job: a restart needs the last checkpoints.
        def settle() -> None:
            if not is_lost:
                attempt.sync_checkpoints()
            if profile is not None:
                profile.flush()

        self._context.loop.run_in_thread(settle, lambda _, error: self._settled(attempt, code, error))

    def _settled(self, attempt: Attempt, code: int, error: BaseException | None) -> None:
        self._busy = False
        if self._over:
            return
        # What had been decided before the script ended counts more than how it ended.
        if self._intent == "Interrupted":
            self._again(attempt, "Interrupted", self._context.settings.delays.spot_return_s)
        elif self._intent in ("internal", "lost"):
            self._internal()
        elif self._intent:
            self._upload(attempt, True, self._finish_early)
        elif error is not None:
            self._end("Failed", f"ClientError: checkpoints could not be uploaded: {_text(error)}")
        elif code:
            # The output is uploaded of a job that fails, too; the model is not.
            reason = self._reason(attempt, code if code > 0 else 128 - code)
            self._upload(attempt, False, lambda: self._end("Failed", reason))
        else:
            self._upload(attempt, True, lambda: self._end("Completed"))

    def _reason(self, attempt: Attempt, code: int) -> str:
        said = attempt.failure()
        program = attempt.program
        if not said and program is not None and program.script:
            last = "\n".join(line[:300] for line in self._tail).strip()
            said = f'ExecuteUserScriptError:\nExitCode {code}\nErrorMessage "{last}"\nCommand "{" ".join(program.shown)}"'
        return f"AlgorithmError: {said[:980]}, exit code: {code}"

    # The end

    def _upload(self, attempt: Attempt, model: bool, then: Callable[[], None]) -> None:
        if model:
            self._move("Uploading")
        self._busy = True

        def done(artifacts: str | None, error: BaseException | None) -> None:
            self._busy = False
            if self._over:
                return
            if error is not None and model:
                self._end("Failed", f"ClientError: Artifact upload failed: {_text(error)}")
                return
            self._job.artifacts = artifacts or ""
            if model and self._intent == "Stopped" and self._job.life.secondary == "Stopping":
                self._finish_early()
            else:
                then()

        self._context.loop.run_in_thread(lambda: attempt.upload(model), done)

    def _finish_early(self) -> None:
        self._timers.cancel()
        delay_s = self._context.settings.delays.stop_s + self._faults.slow_stop_s()
        intent = self._intent
        if delay_s > 0:
            self._busy = True
            self._timers.call_later(delay_s, lambda: self._end(intent))
        else:
            self._end(intent)

    def _internal(self) -> None:
        if self._job.attempts_left > 0:
            self._job.attempts_left -= 1
            self._again(self._attempt, "Restarting", 0.0)
        else:
            self._end("Failed", INTERNAL)

    def _again(self, attempt: Attempt | None, secondary: str, delay_s: float) -> None:
        context = self._context
        self._intent = ""
        if attempt is not None:
            attempt.job_ended()
            context.loop.run_in_thread(attempt.discard, _ignore)
        self._attempt = None
        if self._job.life.secondary == "Starting":
            # An internal error before there were instances.
            self._job.incarnation += 1
            self._provision()
            return
        self._move(secondary)
        self._job.incarnation += 1

        def restart() -> None:
            self._move("Starting")
            self._provision()

        self._timers.call_later(delay_s, restart)

    def _end(self, secondary: str, reason: str = "") -> None:
        if self._over:
            return
        self._over = True
        self._timers.cancel()
        if self._wait_timer is not None:
            self._wait_timer.cancel()
        self._move(secondary, reason=reason)
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            attempt.job_ended()
            self._context.loop.run_in_thread(attempt.discard, _ignore)
        self._ended(self._job)

    def _move(self, secondary: str, message: str = "", reason: str = "") -> None:
        self._job.life = lifecycle.move(self._job.life, secondary, self._context.now(), message, reason)
        self._changed(self._job)

    def _background(self, task: Callable[[], None]) -> None:
        self._context.loop.run_in_thread(task, _ignore)


def _ignore(result: object, error: BaseException | None) -> None:
    del result, error


def _text(error: BaseException) -> str:
    return error.message if isinstance(error, ServiceError) else str(error)
