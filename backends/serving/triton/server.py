"""The server `triton`: the real tritonserver as a program, with explicit control of its models over the v2 HTTP API."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sysconfig
from pathlib import Path
from typing import ClassVar

from backends.serving.base import LoadFailedError, ModelAnswer, ModelLostError, ServerFailedError, ServerOptions
from backends.serving.environment import HOW, ServingEnvironment, found_environment
from backends.serving.leftovers import prefix_of, sweep
from backends.serving.pbtxt import ModelConfig
from backends.serving.program import ServerProgram
from backends.serving.triton.translated import python_config
from backends.serving.v2 import V2Server

WHEEL = "nvidia-pytriton"
_MODEL = Path(__file__).with_name("python_model.py")
_FILES = ("model.onnx", "model.pt")
_EXIT_S = 1
_LOST_S = 3.0


class TritonServer(V2Server):
    """Triton with its Python back-end."""

    name: ClassVar[str] = "triton"

    def __init__(self) -> None:
        super().__init__()
        self._lost: set[str] = set()

    @classmethod
    def missing(cls) -> str:
        """Return what keeps the wheel from being used here."""
        return reason_against(found_environment(WHEEL))

    async def begin(self, options: ServerOptions) -> tuple[ServerProgram, int]:
        """Start tritonserver on a free port of 127.0.0.1."""
        found = found_environment(WHEEL)
        if found is None:
            raise ServerFailedError(self.missing())
        triton = found.packages / "pytriton" / "tritonserver"
        backend = options.folder / "backends" / "python"
        backend.mkdir(parents=True, exist_ok=True)
        stub = triton / "python_backend_stubs" / found.version / "triton_python_backend_stub"
        # The back-end looks for the stub of this Python beside itself; the wheel has those of several.
        for file in (*(triton / "backends" / "python").iterdir(), stub):
            if not (backend / file.name).exists():
                (backend / file.name).symlink_to(file)
        # Regions of servers that were killed together with whoever had started them.
        sweep()
        port = _free_port()
        command = [
            str(triton / "bin" / "tritonserver"),
            f"--model-repository={self.repository}",
            f"--backend-directory={backend.parent}",
            "--model-control-mode=explicit",
            "--disable-auto-complete-config",
            "--http-address=127.0.0.1",
            f"--http-port={port}",
            "--allow-grpc=false",
            "--allow-metrics=false",
            "--allow-sagemaker=false",
            f"--exit-timeout-secs={_EXIT_S}",
            f"--backend-config=python,shm-region-prefix-name={prefix_of(os.getpid())}",
        ]
        return ServerProgram(command, library_environment(found), options), port

    def put(self, name: str, folder: Path, repository: Path) -> None:
        """Write the model as one of the Python back-end; see `V2Server.put`."""
        found, options = found_environment(WHEEL), self.options
        assert found is not None
        assert options is not None
        try:
            config = ModelConfig.read(folder / "config.pbtxt")
        except (OSError, ValueError) as error:
            raise LoadFailedError(str(error)) from error
        there = [file for file in _FILES if (folder / "1" / file).is_file()]
        if not there:
            names = ", ".join(sorted(path.name for path in (folder / "1").iterdir())) or "nothing"
            raise LoadFailedError(f"the package has neither 1/model.onnx nor 1/model.pt; in its folder 1 is {names}")
        place = repository / name / "1"
        place.mkdir(parents=True)
        (place / there[0]).symlink_to(folder / "1" / there[0])
        shutil.copyfile(_MODEL, place / "model.py")
        # Torch comes from this environment, after all that the other one has: its numpy must be the one that the stub was built for.
        paths = {"first": [str(found.packages)], "last": [sysconfig.get_path("purelib")], "threads": options.threads or 1}
        (place / "paths.json").write_text(json.dumps(paths), encoding="utf-8")
        text = python_config(name, config, options.max_batch_size, options.batch_delay_ms)
        (repository / name / "config.pbtxt").write_text(text, encoding="utf-8")

    async def invoke(self, name: str, body: bytes, content_type: str) -> ModelAnswer:
        """Return what a model answers; see `ModelServer.invoke`."""
        answer = await super().invoke(name, body, content_type)
        # It never starts a stub again, and says that the model is ready all the same.
        if answer.status == 500 and b"Stub process" in answer.body and b"is not healthy" in answer.body:
            self._lost.add(name)
            raise ModelLostError(answer)
        return answer

    def unload_limit_s(self, name: str) -> float:
        """Return the limit; the unloading of a model whose process is gone may never end, but it can be loaded again all the same."""
        if name not in self._lost:
            return super().unload_limit_s(name)
        self._lost.discard(name)
        return _LOST_S

    async def stop(self) -> None:
        """End it with all that it has started, and delete the regions that it leaves."""
        await super().stop()
        sweep(mine=prefix_of(os.getpid()))


def library_environment(found: ServingEnvironment) -> dict[str, str]:
    """Return the environment in which the program finds its own libraries, and its stub the library of the right Python."""
    own = found.packages / "nvidia_pytriton.libs"
    before = os.environ.get("LD_LIBRARY_PATH", "")
    folders = [str(own), found.library, *([before] if before else [])]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}


def reason_against(found: ServingEnvironment | None) -> str:
    """Return why an environment cannot run the wheel; empty where it can.

    Args:
        found: with the wheel in it; None where there is none.
    """
    if found is None:
        return f"the wheel {WHEEL} is not installed; {HOW}"
    triton = found.packages / "pytriton" / "tritonserver"
    if not (triton / "bin" / "tritonserver").is_file():
        return f"the wheel {WHEEL} in {found.packages} has no tritonserver; {HOW}"
    if not (triton / "python_backend_stubs" / found.version).is_dir():
        stubs = sorted(path.name for path in (triton / "python_backend_stubs").iterdir())
        return f"{found.python} is Python {found.version}, the wheel has a stub for {', '.join(stubs)}; {HOW}"
    numpy = found.versions.get("numpy", "")
    if not numpy or int(numpy.split(".")[0]) >= 2:
        # Its stub was built for numpy 1, and under numpy 2 answers 200 with tensors that are empty.
        return f"{found.packages} has numpy {numpy or 'not at all'}, and Triton's stub answers with empty tensors but under numpy 1; {HOW}"
    if not found.library:
        return f"{found.python} was built without a shared library, which Triton's stub needs; {HOW}"
    return ""


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
