"""The server `ort`: how its program is started."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import ClassVar

from backends.serving.base import ServerFailedError, ServerOptions
from backends.serving.program import ServerProgram
from backends.serving.v2 import V2Server
from definitions.program import install_extra

_LOOK_S = 0.01
_ROOT = Path(__file__).resolve().parents[3]


class OrtServer(V2Server):
    """ONNX Runtime in a process of its own."""

    name: ClassVar[str] = "ort"

    @classmethod
    def missing(cls) -> str:
        """Return which package is not installed."""
        gone = [name for name in ("numpy", "onnxruntime") if importlib.util.find_spec(name) is None]
        return f"the package {gone[0]} is not installed; {install_extra('serving')}" if gone else ""

    async def begin(self, options: ServerOptions) -> tuple[ServerProgram, int]:
        """Start the program and read its port off the log."""
        threads = options.threads or 1
        at_once = max(1, len(options.cores or os.sched_getaffinity(0)) // threads)
        command = [sys.executable, "-m", "backends.serving.ort.program", "--repository", str(self.repository)]
        command += ["--threads", str(threads), "--at_once", str(at_once)]
        if options.max_batch_size is not None:
            command += ["--max_batch_size", str(options.max_batch_size)]
        command += ["--batch_delay_ms", str(options.batch_delay_ms)]
        path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])])
        begins_at = options.log.stat().st_size if options.log.exists() else 0
        program = ServerProgram(command, {**os.environ, "PYTHONPATH": path}, options)
        deadline = asyncio.get_running_loop().time() + options.start_s
        while (port := _port_in(options.log, begins_at)) is None:
            if program.has_ended() or asyncio.get_running_loop().time() > deadline:
                words = program.last_words()
                await asyncio.to_thread(program.kill)
                raise ServerFailedError(f"the server ort did not start within {options.start_s:g} s: {words}")
            await asyncio.sleep(_LOOK_S)
        return program, port


def _port_in(log: Path, begins_at: int) -> int | None:
    with log.open("rb") as file:
        file.seek(begins_at)
        lines = file.read().split(b"\n")[:-1]
    for line in lines:
        if line.startswith(b'{"port":'):
            return int(json.loads(line)["port"])
    return None
