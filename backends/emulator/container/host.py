"""One instance of a job in one life of its script: its folders and data, the program that runs there, and what it prints."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from backends.emulator.container import filesystem as contract
from backends.emulator.container.artifacts import CheckpointSync, restore_checkpoints
from backends.emulator.container.channels import NO_ROOM, DataError, no_file, objects_of, provide, shuffled
from backends.emulator.container.context import Context
from backends.emulator.container.environment import gpus, job_environment, search_path
from backends.emulator.container.filesystem import Container
from backends.emulator.container.namespaces import ContainerProcess, Isolation, spawn
from backends.emulator.container.paths import ML
from backends.emulator.container.pipes import Pipe
from backends.emulator.container.program import Program, fetch_source, resolve_command, script_command, with_requirements
from backends.emulator.core.job import Instance, Job
from backends.emulator.http.errors import ServiceError
from backends.emulator.logs.delivery import LogDelivery

_READ_BYTES = 1 << 18


class Host:
    """One instance; but for `prepare` and `sync_checkpoints`, to be used in the loop's thread.

    Args:
        job: whose instance it is.
        number: of the instance, from 0.
        container: its folders.
        log: where its output goes.
        context: the emulator's parts.
        on_exit: called once, when its program has ended and all that it printed is delivered.
    """

    def __init__(
        self, job: Job, number: int, container: Container, log: LogDelivery, context: Context, on_exit: Callable[[Host], None]
    ) -> None:
        self._job, self._number, self._context, self._on_exit = job, number, context, on_exit
        self.container, self.log = container, log
        self._instances = job.instances
        self._pipes: list[Pipe] = []
        self._process: ContainerProcess | None = None
        self._sync: CheckpointSync | None = None
        self.code: int | None = None

    @property
    def instance(self) -> Instance:
        """Its host name, instance type and group."""
        return self._instances[self._number]

    @property
    def running(self) -> bool:
        """Whether its program runs."""
        return self._process is not None and self.code is None

    def prepare(self, program: Program) -> None:
        """Lay out the folders and fetch source, data and checkpoints.

        Raises:
            ProgramError, DataError: the job cannot run.
            OSError: the emulator's disk failed.
        """
        request, s3 = self._job.request, self._context.s3
        contract.lay_out(self.container, self._job, self._instances)
        for channel in request.get("InputDataConfig", []):
            provide(channel, request, self.container, s3, self._number, len(self._instances), self._context.job_check("GetObject"))
        fetch_source(program, self.container, s3)
        if "CheckpointConfig" in request:
            self._restore(request["CheckpointConfig"])

    def start(self, program: Program, cache: Path | None, port: int) -> None:
        """Start the program.

        Args:
            program: what to run.
            port: where the processes of a launcher meet.
            cache: folder of the warm pool's cache; None where there is no pool.

        Raises:
            OSError: the system refused.
            ProgramError: a launcher is not there.
        """
        self._start_pipes()
        context, box = self._context, self.container
        settings = context.settings
        view = None if context.interpreter is None else context.interpreter.make_view(box.folder / "python")
        path = search_path(settings, view, context.folder / "bin", context.inherited)
        environment = job_environment(
            self._job,
            box,
            self._instances,
            program,
            settings,
            context.endpoint_url,
            path,
            f"{context.token}.{self._job.name}.{self._number}",
            context.credentials,
            context.sdk_config,
            context.inherited,
        )
        command = self._command(program, path, port)
        own_cache = None
        if cache is not None:
            own_cache = cache / box.host
            own_cache.mkdir(parents=True, exist_ok=True)
            if context.isolation is Isolation.NONE:
                (box.ml / "sagemaker").mkdir(exist_ok=True)
                (box.ml / "sagemaker" / "warmpoolcache").symlink_to(own_cache)
        context.logs.create(self.log.stream)
        folder = box.relocated(program.folder)
        process = self._process = spawn(
            command, environment, box.ml, box.folder / "stage", own_cache, folder, context.isolation, context.closed
        )
        context.started(process.popen.pid)
        context.loop.add_reader(process.output, lambda: self._read(process))
        context.loop.add_reader(process.ended, lambda: self._ended(process))

    def terminate(self) -> None:
        """Ask the program to end."""
        if self._process is not None and self.running:
            self._process.terminate()

    def kill(self) -> None:
        """End the program and what it has started."""
        if self._process is not None and self.running:
            self._process.kill()

    def pause(self, stop: bool) -> None:
        """Stop the program, or let it go on."""
        if self._process is not None and self.running:
            self._process.pause(stop)

    def sync_checkpoints(self) -> None:
        """Upload changed checkpoints; raises ServiceError where a fault struck."""
        if self._sync is not None:
            self._sync.run()

    def close_pipes(self) -> None:
        """End the channels in Pipe mode."""
        for pipe in self._pipes:
            pipe.close()

    def close(self) -> None:
        """End everything without telling anybody."""
        self.close_pipes()
        self.kill()
        process = self._process
        if process is not None and self.running:
            self._forget(process)
            self.code = process.reap()
            os.close(process.output)

    def discard(self) -> None:
        """Delete the temporary files."""
        shutil.rmtree(self.container.temporary, ignore_errors=True)

    def _command(self, program: Program, path: str, port: int) -> list[str]:
        box = self.container
        if program.command:
            return resolve_command([box.relocated(part) for part in program.command], path)
        folder = box.inside(program.folder)
        names = [path.name for path in folder.iterdir()] if folder is not None and folder.is_dir() else []
        hosts = [one.host for one in self._instances]
        command = script_command(program, names, hosts, box.host, port, gpus())
        command = [box.relocated(part) for part in command]
        return resolve_command(
            with_requirements(resolve_command(command, path, program.launcher), box, program, self._context.settings), path
        )

    def _restore(self, config: Mapping[str, Any]) -> None:
        path = config["LocalPath"]
        folder = self.container.inside(path)
        if folder is None:
            raise DataError(f"CheckpointConfig.LocalPath {path}: only paths below {ML} are imitated")
        folder.mkdir(parents=True, exist_ok=True)
        try:
            restore_checkpoints(config["S3Uri"], self.container.ml, path, self._context.s3)
        except ServiceError as error:
            raise DataError(f"Checkpoints could not be restored: {error.message}") from None
        except (ValueError, *NO_ROOM) as error:
            raise DataError(f"Checkpoints could not be restored: {no_file(error)}") from None
        self._sync = CheckpointSync(self.container.ml, folder, config["S3Uri"], self._context.s3, self._context.job_check("PutObject"))
        self._sync.note_restored()

    def _start_pipes(self) -> None:
        for channel in self._job.request.get("InputDataConfig", []):
            if contract.input_mode(self._job.request, channel) != "Pipe":
                continue
            share = objects_of(channel, self._context.s3, self._number, len(self._instances))
            pipe = Pipe(
                self.container.ml / "input" / "data",
                channel["ChannelName"],
                lambda epoch, channel=channel, share=share: [found for _, found in shuffled(share, channel, epoch)],  # type: ignore[misc]
                channel.get("RecordWrapperType") == "RecordIO",
                channel.get("CompressionType") == "Gzip",
                self._context.loop.call_later,
            )
            self._pipes.append(pipe)
            pipe.start()

    def _read(self, process: ContainerProcess) -> None:
        with contextlib.suppress(BlockingIOError):
            data = os.read(process.output, _READ_BYTES)
            if data:
                self.log.feed(data)
            else:
                self._context.loop.remove_reader(process.output)

    def _ended(self, process: ContainerProcess) -> None:
        if self.code is not None:
            return
        self._forget(process)
        self.code = process.reap()
        # What it printed last may still be in the pipe.
        with contextlib.suppress(BlockingIOError):
            while data := os.read(process.output, _READ_BYTES):
                self.log.feed(data)
        os.close(process.output)
        self.log.end()
        self._context.gone(process.popen.pid)
        self._on_exit(self)

    def _forget(self, process: ContainerProcess) -> None:
        self._context.loop.remove_reader(process.ended)
        self._context.loop.remove_reader(process.output)
