"""The program of the server `ort`: `python -m backends.serving.ort.program --repository FOLDER`.

It prints one JSON line with its port, serves KServe's protocol v2 on 127.0.0.1 with Triton's calls for loading, and ends with its standard
input.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from backends.serving.ort.batching import Arrays, Batcher
from backends.serving.ort.model import OrtModel
from backends.serving.ort.tensors import BadRequestError, InferRequest, decode, encode
from backends.serving.pbtxt import ModelConfig
from backends.serving.program import ignore_stops, until_input_ends
from backends.serving.wire.listener import HttpReply, json_reply, listen, port_of
from backends.serving.wire.messages import Message

_BODY_BYTES = 64 << 20


@dataclass(frozen=True)
class Loaded:
    """A model that requests may name, and what joins them where they are joined."""

    model: OrtModel
    batcher: Batcher | None


class OrtService:
    """Answers the calls of the protocol.

    Args:
        repository: folder of model folders.
        at_once: requests that are computed at once; `threads`: that compute one of them.
        max_batch_size: rows at once, in place of what config.pbtxt says; None to keep that.
        batch_delay_ms: likewise, milliseconds; 0 to keep that.
    """

    def __init__(self, repository: Path, at_once: int, max_batch_size: int | None, batch_delay_ms: float, threads: int = 1) -> None:
        self._repository, self._threads = repository, threads
        self._pool = ThreadPoolExecutor(at_once, "compute")
        self._loader = ThreadPoolExecutor(1, "load")
        self._max_batch_size, self._batch_delay_ms = max_batch_size, batch_delay_ms
        self._models: dict[str, Loaded] = {}

    async def answer(self, method: str, path: str, message: Message) -> HttpReply:
        """Return the reply to a request."""
        parts = path.strip("/").split("/")
        match parts:
            case ["v2", "models", name, "infer"] if method == "POST":
                return await self._infer(name, message)
            case ["v2", "health", "ready" | "live"]:
                return HttpReply(200)
            case ["v2", "repository", "index"]:
                return json_reply([{"name": name, "version": "1", "state": "READY"} for name in self._models])
            case ["v2", "repository", "models", name, "load"]:
                return await self._load(name)
            case ["v2", "repository", "models", name, "unload"]:
                return await self._unload(name)
        return _error(f"there is no {method} {path}", 404)

    async def _load(self, name: str) -> HttpReply:
        folder = self._repository / name
        if name in self._models:
            return HttpReply(200)
        try:
            loaded = await asyncio.get_running_loop().run_in_executor(self._loader, self._made, folder)
        except MemoryError as error:
            return _error(f"out of memory: {error}", 507)
        except (OSError, RuntimeError, ValueError) as error:
            return _error(str(error), 400)
        self._models[name] = loaded
        return HttpReply(200)

    def _made(self, folder: Path) -> Loaded:
        config = ModelConfig.read(folder / "config.pbtxt")
        rows = config.max_batch_size if self._max_batch_size is None else self._max_batch_size
        delay_ms = self._batch_delay_ms or config.batch_delay_ms or 0.0
        model = OrtModel(folder, rows, self._threads)
        is_joined = rows > 1 and (self._batch_delay_ms > 0 or config.is_batched)
        return Loaded(model, Batcher(partial(self._compute, model), rows, delay_ms / 1000.0) if is_joined else None)

    async def _unload(self, name: str) -> HttpReply:
        # What still runs holds the session; it is freed with the last of them.
        self._models.pop(name, None)
        await asyncio.get_running_loop().run_in_executor(self._loader, give_back)
        return HttpReply(200)

    async def _infer(self, name: str, message: Message) -> HttpReply:
        loaded = self._models.get(name)
        if loaded is None:
            return _error(f"no model {name!r} is loaded", 404)
        if message.is_too_large:
            return _error(f"the body has {message.body_bytes} bytes, at most {_BODY_BYTES} are taken", 413)
        length = message.headers.get("inference-header-content-length")
        header_bytes = int(length) if length and length.isdecimal() else None
        run = asyncio.get_running_loop().run_in_executor
        try:
            if loaded.batcher is None:
                return await run(self._pool, _whole, name, loaded.model, message.body, header_bytes)
            request, rows = await run(self._pool, _checked, loaded.model, message.body, header_bytes)
            found = await loaded.batcher.run(request.arrays, rows)
            return await run(self._pool, _replied, name, request, found)
        except BadRequestError as error:
            return _error(str(error), 400)
        except RuntimeError as error:
            return _error(str(error), 500)

    async def _compute(self, model: OrtModel, arrays: Arrays) -> Arrays:
        return await asyncio.get_running_loop().run_in_executor(self._pool, model.run, arrays)


def give_back() -> None:
    """Free what models have left: the interpreter's objects, then the pages that the C library keeps."""
    import ctypes

    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _checked(model: OrtModel, body: bytes, header_bytes: int | None) -> tuple[InferRequest, int]:
    request = decode(body, header_bytes)
    return request, model.check(request.arrays)


def _whole(name: str, model: OrtModel, body: bytes, header_bytes: int | None) -> HttpReply:
    request, _ = _checked(model, body, header_bytes)
    return _replied(name, request, model.run(request.arrays))


def _replied(name: str, request: InferRequest, found: Arrays) -> HttpReply:
    body, header_bytes = encode(name, request, found)
    if header_bytes is None:
        return HttpReply(200, body)
    return HttpReply(200, body, "application/octet-stream", {"Inference-Header-Content-Length": str(header_bytes)})


def _error(words: str, status: int) -> HttpReply:
    return json_reply({"error": words}, status)


async def serve(arguments: argparse.Namespace) -> None:
    """Serve until standard input ends."""
    batching = arguments.max_batch_size, arguments.batch_delay_ms
    service = OrtService(Path(arguments.repository), arguments.at_once, *batching, arguments.threads)
    server = await listen(service.answer, arguments.port, _BODY_BYTES)
    # Imported before it says that it is ready, so that the first model does not pay for it.
    await asyncio.to_thread(__import__, "onnxruntime")
    sys.stdout.write(json.dumps({"port": port_of(server)}) + "\n")
    sys.stdout.flush()
    await until_input_ends()
    server.close()


def main(words: list[str] | None = None) -> Any:
    """Run the program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--at_once", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--max_batch_size", type=int)
    parser.add_argument("--batch_delay_ms", type=float, default=0.0)
    ignore_stops()
    asyncio.run(serve(parser.parse_args(words)))


if __name__ == "__main__":
    main()
