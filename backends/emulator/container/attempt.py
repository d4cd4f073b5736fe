"""One life of a job's script on its instances: folders and data, processes and their output, what they leave.

Everything but the three pieces of work runs in the loop's thread.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backends.emulator.container import filesystem as contract
from backends.emulator.container.artifacts import CheckpointSync, restore_checkpoints, upload_outputs
from backends.emulator.container.channels import DataError, objects_of, place, shuffled
from backends.emulator.container.context import Context
from backends.emulator.container.environment import job_environment, search_path
from backends.emulator.container.filesystem import Container
from backends.emulator.container.namespaces import ContainerProcess, Isolation, spawn
from backends.emulator.container.pipes import Pipe
from backends.emulator.container.program import Program, ProgramError, fetch_source, program_of, resolve_command, with_requirements
from backends.emulator.core.job import Job
from backends.emulator.http.errors import ServiceError
from backends.emulator.logs.delivery import LineFaults, LogDelivery

_READ_BYTES = 1 << 18
_DUTY_S = 0.1


@dataclass
class _Host:
    container: Container
    instance_type: str
    log: LogDelivery
    process: ContainerProcess | None = None
    code: int | None = None
    sync: CheckpointSync | None = None


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
        self._instances = job.instances
        self._program: Program | None = None
        self._pipes: list[Pipe] = []
        self._paused = False
        self._over = False
        self._failed: list[_Host] = []
        began = int(context.service_now())
        self._hosts = [
            self._host(place_, instance.host, instance.instance_type, began, on_line) for place_, instance in enumerate(self._instances)
        ]

    @property
    def program(self) -> Program | None:
        """What runs, once it is prepared."""
        return self._program

    @property
    def running(self) -> bool:
        """Whether a host's program runs."""
        return any(host.process is not None and host.code is None for host in self._hosts)

    def prepare(self) -> None:
        """Lay out all hosts and fetch source, data and checkpoints; a piece of work.

        Raises:
            ProgramError, DataError: the job cannot run.
            OSError: the emulator's disk failed.
        """
        request, context = self._job.request, self._context
        program = program_of(request, context.settings)
        for number, host in enumerate(self._hosts):
            box = host.container
            contract.lay_out(box, self._job, self._instances)
            for channel in request.get("InputDataConfig", []):
                place(channel, request, box, context.s3, number, len(self._hosts), self._check("GetObject"))
            fetch_source(program, box, context.s3)
            if "CheckpointConfig" in request:
                self._restore(host)
        self._program = program

    def launch(self) -> None:
        """Start the programs.

        Raises:
            OSError: the system refused.
        """
        program = self._program
        if program is None:
            raise ProgramError("the job has not been prepared")
        for number, host in enumerate(self._hosts):
            self._start_pipes(number, host.container)
            self._start(number, host, program)
        factor = self._factor()
        if factor < 1:
            self._context.loop.call_later(_DUTY_S * factor, lambda: self._duty(factor))

    def terminate(self) -> None:
        """Ask all programs to end."""
        for host in self._hosts:
            if host.process is not None and host.code is None:
                host.process.terminate()

    def kill(self) -> None:
        """End all programs and what they have started."""
        for host in self._hosts:
            if host.process is not None and host.code is None:
                host.process.kill()

    def failure(self) -> str:
        """Return what the first host that failed says of it."""
        return next((text for text in (host.container.failure() for host in self._failed) if text), "")

    def sync_checkpoints(self) -> None:
        """Upload changed checkpoints; a piece of work."""
        for host in self._hosts:
            if host.sync is not None:
                host.sync.run()

    def upload(self, model: bool) -> str:
        """Upload output and, if asked, the model; a piece of work. Return the model's URI.

        Raises:
            ServiceError: the bucket does not exist, or a fault struck.
        """
        output, job, s3 = self._job.request["OutputDataConfig"], self._job.name, self._context.s3
        boxes = [host.container.ml for host in self._hosts]
        check, scratch = self._check("PutObject"), self.folder / "upload"
        artifacts = upload_outputs([box / "model" for box in boxes], "model", job, output, scratch, s3, check, True) if model else ""
        upload_outputs([box / "output" / "data" for box in boxes], "output", job, output, scratch, s3, check, False)
        return artifacts

    def job_ended(self) -> None:
        """Let go of the log lines that were held back."""
        for host in self._hosts:
            host.log.job_ended()

    def discard(self) -> None:
        """Delete the folders; a piece of work."""
        if not self._context.settings.keep_job_folders:
            for folder in (self.folder, *(host.container.temporary for host in self._hosts)):
                shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End pipes and processes without telling anybody."""
        self._over = True
        self._close_pipes()
        self.kill()
        for host in self._hosts:
            if host.process is not None and host.code is None:
                self._context.loop.remove_reader(host.process.ended)
                self._context.loop.remove_reader(host.process.output)
                host.code = host.process.reap()
                os.close(host.process.output)

    def _host(self, number: int, name: str, instance_type: str, began: int, on_line: Callable[[int, str], None]) -> _Host:
        context = self._context
        folder = self.folder / name
        view = contract.ML if context.isolation is not Isolation.NONE else str(folder / "ml")
        stream = f"{self._job.name}/{name}-{began}"
        while stream in self._job.streams:
            began += 1
            stream = f"{self._job.name}/{name}-{began}"
        self._job.streams.append(stream)
        rules = []
        for kind in ("late_logs", "repeated_logs", "reordered_logs"):
            rules += context.injector.planned(kind, self._job.name, instance_type, self._job.incarnation)
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
        temporary = context.scratch / f"{self._job.number}.{self._life}.{number}"
        return _Host(Container(folder, name, view, temporary), instance_type, delivery)

    def _restore(self, host: _Host) -> None:
        config = self._job.request["CheckpointConfig"]
        path = config.get("LocalPath", f"{contract.ML}/checkpoints")
        folder = host.container.inside(path)
        if folder is None:
            raise DataError(f"CheckpointConfig.LocalPath {path}: only paths below {contract.ML} are imitated")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            restore_checkpoints(config["S3Uri"], folder, self._context.s3)
        except ServiceError as error:
            raise DataError(f"Checkpoints could not be restored: {error.message}") from None
        host.sync = CheckpointSync(folder, config["S3Uri"], self._context.s3, self._check("PutObject"))
        host.sync.note_restored()

    def _check(self, operation: str) -> Callable[[str, str], None]:
        return lambda bucket, key: self._context.injector.check_call("s3", f"Job{operation}", bucket, key)

    def _start_pipes(self, number: int, box: Container) -> None:
        for channel in self._job.request.get("InputDataConfig", []):
            if contract.input_mode(self._job.request, channel) != "Pipe":
                continue
            share = objects_of(channel, self._context.s3, number, len(self._hosts))
            pipe = Pipe(
                box.ml / "input" / "data",
                channel["ChannelName"],
                lambda epoch, channel=channel, share=share: [found for _, found in shuffled(share, channel, epoch)],  # type: ignore[misc]
                channel.get("RecordWrapperType") == "RecordIO",
                channel.get("CompressionType") == "Gzip",
                self._context.loop.call_later,
            )
            self._pipes.append(pipe)
            pipe.start()

    def _start(self, number: int, host: _Host, program: Program) -> None:
        context, box = self._context, host.container
        mark = f"{context.token}.{self._job.name}.{number}"
        settings = context.settings
        path = search_path(settings, context.folder / "bin", context.inherited)
        environment = job_environment(
            self._job, box, self._instances, program, settings, context.endpoint_url, path, mark, context.inherited
        )
        command = with_requirements([box.relocated(part) for part in program.command], box, program, settings)
        cache = None
        if self._cache is not None:
            cache = self._cache / box.host
            cache.mkdir(parents=True, exist_ok=True)
            if context.isolation is Isolation.NONE:
                (box.ml / "sagemaker").mkdir(exist_ok=True)
                (box.ml / "sagemaker" / "warmpoolcache").symlink_to(cache)
        context.logs.create(host.log.stream)
        folder = box.relocated(program.folder)
        command = resolve_command(command, path)
        host.process = spawn(command, environment, box.ml, box.folder / "stage", cache, folder, context.isolation)
        context.started(host.process.popen.pid)
        context.loop.add_reader(host.process.output, lambda: self._read(host))
        context.loop.add_reader(host.process.ended, lambda: self._ended(host))

    def _read(self, host: _Host) -> None:
        process = host.process
        if process is None:
            return
        try:
            data = os.read(process.output, _READ_BYTES)
        except BlockingIOError:
            return
        if data:
            host.log.feed(data)
        else:
            self._context.loop.remove_reader(process.output)

    def _ended(self, host: _Host) -> None:
        process = host.process
        if process is None or host.code is not None:
            return
        loop = self._context.loop
        loop.remove_reader(process.ended)
        loop.remove_reader(process.output)
        host.code = process.reap()
        while True:
            try:
                data = os.read(process.output, _READ_BYTES)
            except BlockingIOError:
                break
            if not data:
                break
            host.log.feed(data)
        os.close(process.output)
        host.log.end()
        self._context.gone(process.popen.pid)
        if self._over:
            return
        if host.code != 0:
            self._failed.append(host)
            self.kill()
        if not self.running:
            self._over = True
            self._close_pipes()
            self._on_exit(self._failed[0].code or 0 if self._failed else 0)

    def _close_pipes(self) -> None:
        for pipe in self._pipes:
            pipe.close()

    def _factor(self) -> float:
        import fnmatch

        kind = self._hosts[0].instance_type
        return next((factor for pattern, factor in self._context.settings.speed_factors.items() if fnmatch.fnmatchcase(kind, pattern)), 1.0)

    def _duty(self, factor: float) -> None:
        # A slower instance: the programs are stopped for their share of each tenth of a second.
        if not self.running or self._over:
            return
        self._paused = not self._paused
        for host in self._hosts:
            if host.process is not None and host.code is None:
                host.process.pause(self._paused)
        self._context.loop.call_later(_DUTY_S * (1 - factor if self._paused else factor), lambda: self._duty(factor))
