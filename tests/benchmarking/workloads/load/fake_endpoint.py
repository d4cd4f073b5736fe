"""An endpoint for tests of the load script: an HTTP server in a thread that answers, each request, what a test says."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

OUTPUTS = [{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [0.5, 1.5]}]


def body_of(outputs=OUTPUTS):
    return json.dumps({"model_name": "m", "outputs": outputs}).encode()


def http(status=200, body=None, **headers):
    """A whole answer as bytes; `headers` with `_` for `-`."""
    content = body_of() if body is None else body
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", *(f"{name.replace('_', '-')}: {v}" for name, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


@dataclass(frozen=True)
class Reply:
    """Pieces of an answer, each after its own delay in seconds; then the connection may be closed."""

    pieces: Sequence[tuple[float, bytes]] = field(default_factory=lambda: ((0.0, http()),))
    closes: bool = False


@dataclass(frozen=True)
class Asked:
    """A request as it came: its number, from 0, its target model, and all of it."""

    number: int
    target: str
    head: bytes
    body: bytes


class FakeEndpoint:
    """Answers by `behave`; counts what came."""

    def __init__(self, behave: Callable[[Asked], Reply]):
        self.behave = behave
        self.asked: list[Asked] = []
        self.port = 0
        self._writers = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(90)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(90)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/endpoints/fake/invocations"

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self):
        for writer in list(self._writers):
            writer.transport.abort()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if left:
            await asyncio.wait(left, timeout=5)

    async def _serve(self):
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader, writer):
        self._writers.add(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
                body = await reader.readexactly(int(fields[b"content-length"]))
                target = fields.get(b"x-amzn-sagemaker-target-model", b"").decode()
                one = Asked(len(self.asked), target, head, body)
                self.asked.append(one)
                reply = self.behave(one)
                for delay_s, piece in reply.pieces:
                    if delay_s:
                        await asyncio.sleep(delay_s)
                    writer.write(piece)
                    await writer.drain()
                if reply.closes:
                    break
        self._writers.discard(writer)
        writer.close()


def targets_document(count=1, reference=None, max_batch_size=8):
    """What OUTRIDER_ENDPOINT_TARGETS holds: copies of a model of 4 numbers to 2."""
    names = [None] if count == 1 else [f"m-v{number}.tar.gz" for number in range(count)]
    package = {
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [4]}],
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [2]}],
        "max_batch_size": max_batch_size,
        "reference": reference,
    }
    return {
        "mode": "single" if count == 1 else "multi",
        "server": "fake",
        "platform": "onnx",
        "instance_type": "local.1cpu",
        "targets": [{"target": name, "package": "m"} for name in names],
        "packages": {"m": package},
        "client_shares_cores": False,
    }


REFERENCE = {
    "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}],
    "outputs": OUTPUTS,
    "tolerance": {"absolute": 0.01, "relative": 0.0},
}


def load(server, folder, *arguments, targets=None, checkpoint=None, left_s=math.inf, **environment):
    """Run the load script within this process against a fake endpoint, in a job that ends after `left_s`; return its reports."""
    from benchmarking.workloads.load.endpoint import announced
    from benchmarking.workloads.load.options import parse_options
    from benchmarking.workloads.load.run import LoadSurroundings, run_load

    path = folder / "targets.json"
    path.write_text(json.dumps(targets or targets_document()))
    environ = {"OUTRIDER_ENDPOINT_URL": server.url, "OUTRIDER_ENDPOINT_TARGETS": str(path), **environment}
    found = []

    def report(**metrics):
        json.dumps(metrics, allow_nan=False)
        if "probe_rate_per_s" not in metrics:
            found.append(metrics)

    words = [str(word) for word in arguments]
    ends_s = time.monotonic() + left_s
    around = LoadSurroundings(environ, report, lambda name: contextlib.nullcontext(), checkpoint, arguments=words, ends_s=ends_s)
    asyncio.run(run_load(announced(environ), parse_options(words), around))
    return found
