"""The server `mms`: multi-model-server as a program, its models registered over its management API."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from backends.common import process_tree
from backends.serving.base import LoadFailedError, ModelAnswer, ServerFailedError, ServerOptions
from backends.serving.environment import HOW, ServingEnvironment, found_environment
from backends.serving.leftovers import prefix_of, sweep
from backends.serving.program import ServerProgram
from backends.serving.program_server import LOOK_S, ProgramServer
from backends.serving.wire.client import NoAnswerError, status_of
from backends.serving.wire.listener import JSON

PACKAGE = "multi-model-server"
_HANDLER = Path(__file__).with_name("handler.py")
_ROOT = Path(__file__).resolve().parents[3]
_UNLOAD_S = 60.0
_BODY_BYTES = 64 << 20
_PORTS = range(20_000, 32_000)
_MANIFEST = {
    "specificationVersion": "1.0",
    "implementationVersion": "1.0",
    "modelServerVersion": "1.0",
    "runtime": "python",
    "model": {"modelName": "", "modelVersion": "1.0", "handler": "handler.py:handle"},
    "engine": {"engineName": "NONE"},
}


class MmsServer(ProgramServer):
    """multi-model-server with one worker for each model."""

    name: ClassVar[str] = "mms"
    health: ClassVar[str] = "/ping"

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, list[process_tree.Process]] = {}

    @classmethod
    def missing(cls) -> str:
        """Return whether Java or the package is missing."""
        return reason_against(found_environment(PACKAGE), shutil.which("java"))

    async def begin(self, options: ServerOptions) -> tuple[ServerProgram, int]:
        """Start the frontend; see `ProgramServer.begin`."""
        found, java = found_environment(PACKAGE), shutil.which("java")
        if found is None or java is None:
            raise ServerFailedError(self.missing())
        self._store.mkdir(parents=True, exist_ok=True)
        port = _free_port()
        settings = options.folder / "config.properties"
        settings.write_text(
            f"inference_address=http://127.0.0.1:{port}\nmanagement_address=http://127.0.0.1:{port}\nmodel_store={self._store}\n"
            "default_workers_per_model=1\ndecode_input_request=false\n"
            f"default_response_timeout={max(1, round(options.load_s))}\nmax_request_size={_BODY_BYTES}\nmax_response_size={_BODY_BYTES}\n",
            encoding="utf-8",
        )
        # Sockets of its workers have fixed names in the folder for temporary files, and a path of at most 108 bytes.
        sweep(Path(tempfile.gettempdir()))
        sockets = tempfile.mkdtemp(prefix=prefix_of(os.getpid()))
        home = str(found.packages)
        command = [java, "-Xmx256m", "-XX:+UseSerialGC", f"-Dmodel_server_home={home}", f"-Djava.io.tmpdir={sockets}"]
        command += ["-cp", f"{home}/mms/frontend/*", "com.amazonaws.ml.mms.ModelServer"]
        command += ["--python", found.python, "-f", str(settings), "-s", str(self._store)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads or 1)}
        environment.pop("PYTHONPATH", None)
        return ServerProgram(command, environment, options), port

    async def load(self, name: str, folder: Path) -> None:
        """Register a model with a worker of its own; see `ModelServer.load`."""
        place = self._store / name
        shutil.rmtree(place, ignore_errors=True)
        self._put(name, folder, place)
        before = set(self.pids())
        limit_s = max(1, round(self.options.load_s))
        path = f"/models?url={name}&model_name={name}&initial_workers=1&synchronous=true&response_timeout={limit_s}"
        status, said = await self._ask("POST", path, self.options.load_s)
        if status != 200:
            await self._ask("DELETE", f"/models/{name}", _UNLOAD_S)
            shutil.rmtree(place, ignore_errors=True)
            words = str(said.get("message", said)) if isinstance(said, dict) else str(said)
            # It says no more than that its worker did not start; why so stands in its log.
            raise LoadFailedError(f"{words} ({_complaint(self.options.log, name)})", is_short_of_memory=status == 507)
        new = [process_tree.read_process(pid) for pid in self.pids() if pid not in before]
        self._workers[name] = [process for process in new if process is not None]

    async def unload(self, name: str) -> None:
        """Take a model away and wait until its worker has ended; see `ModelServer.unload`."""
        await self._ask("DELETE", f"/models/{name}", _UNLOAD_S)
        workers, give_up_at = self._workers.pop(name, []), time.monotonic() + _UNLOAD_S
        # The answer comes before the worker has ended, and its memory is not free until it has.
        while any(_lives(worker) for worker in workers) and time.monotonic() < give_up_at:
            await asyncio.sleep(LOOK_S)
        shutil.rmtree(self._store / name, ignore_errors=True)

    async def resident(self) -> Sequence[str]:
        """Return the names of the registered models."""
        _, said = await self._ask("GET", "/models?limit=1000", _UNLOAD_S)
        return [str(one["modelName"]) for one in said.get("models", ())] if isinstance(said, dict) else []

    async def invoke(self, name: str, body: bytes, content_type: str) -> ModelAnswer:
        """Return what a model answers."""
        try:
            answer = await self.client.ask("POST", f"/predictions/{name}", body, {"Content-Type": content_type})
            return ModelAnswer(status_of(answer), answer.body, answer.headers.get("content-type", JSON))
        except NoAnswerError as error:
            raise ServerFailedError(f"the server mms did not answer: {error}") from error

    async def stop(self) -> None:
        """End it with its workers, and delete the folder of their sockets."""
        was_started = self._program is not None
        await super().stop()
        if was_started:
            sweep(Path(tempfile.gettempdir()), prefix_of(os.getpid()))

    @property
    def _store(self) -> Path:
        return self.options.folder / "store"

    def _put(self, name: str, folder: Path, place: Path) -> None:
        options = self.options
        found = found_environment(PACKAGE)
        assert found is not None
        (place / "MAR-INF").mkdir(parents=True)
        manifest = {**_MANIFEST, "model": {**_MANIFEST["model"], "modelName": name}}  # type: ignore[dict-item]
        (place / "MAR-INF" / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
        shutil.copyfile(_HANDLER, place / "handler.py")
        for part in ("config.pbtxt", "1"):
            if (folder / part).exists():
                (place / part).symlink_to(folder / part)
        plan = {
            "first": [str(found.packages), str(_ROOT)],
            "last": [sysconfig.get_path("purelib")],
            "threads": options.threads or 1,
            "max_batch_size": options.max_batch_size,
        }
        (place / "paths.json").write_text(json.dumps(plan), encoding="utf-8")

    async def _ask(self, method: str, path: str, timeout_s: float) -> tuple[int, object]:
        try:
            # Without a type: a body of JSON, even an empty one, would be taken in place of the path's parameters.
            answer = await self.client.ask(method, path, timeout_s=timeout_s)
            status = status_of(answer)
        except NoAnswerError as error:
            raise ServerFailedError(f"the server mms did not answer: {error}") from error
        try:
            return status, json.loads(answer.body)
        except ValueError:
            return status, answer.body.decode("utf-8", "replace")


def reason_against(found: ServingEnvironment | None, java: str | None) -> str:
    """Return why multi-model-server cannot run here; empty where it can.

    Args:
        found: the environment with it; None where there is none.
        java: path of Java; None where there is none.
    """
    if found is None:
        return f"{PACKAGE} is not installed; {HOW}"
    if java is None:
        return f"{PACKAGE} is written in Java, and there is no `java` on the path; install a runtime (openjdk-17-jre-headless)"
    return ""


def _complaint(log: Path, name: str) -> str:
    """Return the last line of the log that says what went wrong with a model's worker."""
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if name in line and "Error" in line]
    return lines[-1].partition(" - ")[2].strip() if lines else f"see {log}"


def _lives(process: process_tree.Process) -> bool:
    now = process_tree.read_process(process.pid)
    return now is not None and now.alive and now.start_ticks == process.start_ticks


def _free_port() -> int:
    """Return a free port that its configuration takes, which are those below the ones that systems hand out."""
    for number in range(len(_PORTS)):
        port = _PORTS[(os.getpid() * 7 + number) % len(_PORTS)]
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServerFailedError(f"no port of 127.0.0.1 from {_PORTS[0]} to {_PORTS[-1]} is free for the server mms")
