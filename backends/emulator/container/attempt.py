"""One life of a job's script on all its instances: what they get, how they end together, what they leave.

Everything but the pieces of work (`prepare`, `sync_checkpoints`, `upload`, `discard`) runs in the loop's thread.
"""

from __future__ import annotations

import fnmatch
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

from backends.emulator.container.artifacts import upload_outputs
from backends.emulator.container.context import Context
from backends.emulator.container.filesystem import Container
from backends.emulator.container.host import Host
from backends.emulator.container.namespaces import Isolation
from backends.emulator.container.paths import ML
from backends.emulator.container.program import Program, ProgramError, program_of
from backends.emulator.core.job import Instance, Job
from backends.emulator.logs.delivery import LineFaults, LogDelivery

_DUTY_S = 0.1


class Attempt:
    """One life of a script.

    Args:
        number: of lives before it; `cache`: folder of the warm pool's cache, None where there is no pool.
        on_line: called with each line that a host prints (its number from 0, the line).
        on_exit: called once all hosts have ended, with the exit code of the first that failed, else 0.
    """

    def __init__(
        self,
        job: Job,
        context: Context,
        number: int,
        cache: Path | None,
        on_line: Callable[[int, str], None],
        on_exit: Callable[[int], None],
    ) -> None:
        self._job, self._context, self._cache, self._on_exit = job, context, cache, on_exit
        self._life = number
        self.folder = context.folder / "jobs" / f"{job.name}.{number}"
        self._program: Program | None = None
        self._paused = False
        self._over = False
        self._failed: list[Host] = []
        began = int(context.service_now())
        self._hosts = [self._host(place, instance, began, on_line) for place, instance in enumerate(job.instances)]

    @property
    def program(self) -> Program | None:
        """What runs, once it is prepared."""
        return self._program

    @property
    def running(self) -> bool:
        """Whether a host's program runs."""
        return any(host.running for host in self._hosts)

    def prepare(self) -> None:
        """Lay out all hosts and fetch source, data and checkpoints.

        Raises:
            ProgramError, DataError: the job cannot run.
            OSError: the emulator's disk failed.
        """
        program = program_of(self._job.request, self._context.settings)
        for host in self._hosts:
            host.prepare(program)
        self._program = program

    def launch(self) -> None:
        """Start the programs.

        Raises:
            OSError: the system refused.
            ProgramError: a launcher is not there.
        """
        if self._program is None:
            raise ProgramError("the job has not been prepared")
        port = _free_port()
        for host in self._hosts:
            host.start(self._program, self._cache, port)
        factor = self._speed_factor()
        if factor < 1:
            self._context.loop.call_later(_DUTY_S * factor, lambda: self._duty(factor))

    def terminate(self) -> None:
        """Ask all programs to end."""
        for host in self._hosts:
            host.terminate()

    def kill(self) -> None:
        """End all programs and what they have started."""
        for host in self._hosts:
            host.kill()

    def mute(self) -> None:
        """Take nothing more of what the hosts print, not even what they printed and was not read yet."""
        for host in self._hosts:
            host.log.close()

    def failure(self) -> str:
        """Return what the first host that failed says of it."""
        return next((text for text in (host.container.failure() for host in self._failed) if text), "")

    def sync_checkpoints(self) -> None:
        """Upload changed checkpoints; raises ServiceError where a fault struck."""
        for host in self._hosts:
            host.sync_checkpoints()

    def upload(self, model: bool) -> str:
        """Upload output and, if asked, the model; return the model's URI.

        Raises:
            ServiceError: the bucket does not exist, or a fault struck.
        """
        output, job, s3 = self._job.request["OutputDataConfig"], self._job.name, self._context.s3
        boxes = [host.container.ml for host in self._hosts]
        check, scratch = self._context.job_check("PutObject"), self.folder / "upload"
        artifacts = upload_outputs(boxes, "model", "model", job, output, scratch, s3, check, True) if model else ""
        upload_outputs(boxes, "output/data", "output", job, output, scratch, s3, check, False)
        return artifacts

    def job_ended(self) -> None:
        """Let go of the log lines that were held back."""
        for host in self._hosts:
            host.log.job_ended()

    def discard(self) -> None:
        """Delete the folders, unless they are to be kept."""
        if not self._context.settings.keep_job_folders:
            shutil.rmtree(self.folder, ignore_errors=True)
            for host in self._hosts:
                host.discard()

    def close(self) -> None:
        """End pipes and processes without telling anybody."""
        self._over = True
        for host in self._hosts:
            host.close()

    def _host(self, number: int, instance: Instance, began: int, on_line: Callable[[int, str], None]) -> Host:
        job, context = self._job, self._context
        folder = self.folder / instance.host
        view = ML if context.isolation is not Isolation.NONE else str(folder / "ml")
        stream = f"{job.name}/{instance.host}-{began}"
        while stream in job.streams:
            began += 1
            stream = f"{job.name}/{instance.host}-{began}"
        job.streams.append(stream)
        rules = []
        for kind in ("late_logs", "repeated_logs", "reordered_logs"):
            rules += context.injector.planned(kind, job.name, instance.instance_type, job.incarnation)
        delivery = LogDelivery(
            stream,
            context.logs,
            context.loop,
            context.injector,
            LineFaults(tuple(rules)),
            lambda line: on_line(number, line),
            context.settings.delays.log_s,
            context.settings.log_event_bytes,
        )
        temporary = context.scratch / f"{job.number}.{self._life}.{number}"
        return Host(job, number, Container(folder, instance.host, view, temporary), delivery, context, self._ended)

    def _ended(self, host: Host) -> None:
        if self._over:
            return
        if host.code != 0:
            self._failed.append(host)
            self.kill()
        if not self.running:
            self._over = True
            for one in self._hosts:
                one.close_pipes()
            self._on_exit(self._failed[0].code or 0 if self._failed else 0)

    def _speed_factor(self) -> float:
        kind = self._hosts[0].instance.instance_type
        factors = self._context.settings.speed_factors
        return next((factor for pattern, factor in factors.items() if fnmatch.fnmatchcase(kind, pattern)), 1.0)

    def _duty(self, factor: float) -> None:
        # A slower instance: the programs are stopped for their share of each tenth of a second.
        if not self.running or self._over:
            return
        self._paused = not self._paused
        for host in self._hosts:
            host.pause(self._paused)
        self._context.loop.call_later(_DUTY_S * (1 - factor if self._paused else factor), lambda: self._duty(factor))


def _free_port() -> int:
    """Return a port that nobody listens at now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
