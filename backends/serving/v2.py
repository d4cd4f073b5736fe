"""Servers that speak KServe's protocol v2 over HTTP with Triton's calls for loading: ours, and Triton."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from backends.serving.base import BINARY, LoadFailedError, ModelAnswer, ServerFailedError, ServerOptions
from backends.serving.program_server import LOOK_S, ProgramServer
from backends.serving.wire.client import NoAnswerError, status_of
from backends.serving.wire.listener import JSON

REPOSITORY = "repository"
"""Name of the folder that such a server loads models from, within that of the server."""
_UNLOAD_S = 60.0
_HEADER_LENGTH = "inference-header-content-length"
_MEMORY_WORDS = ("failed to allocate", "out of memory", "cannot allocate memory", "bad_alloc", "memoryerror")


class V2Server(ProgramServer):
    """A program with one HTTP port of protocol v2; what differs is how it is started and what a model's folder becomes."""

    health: ClassVar[str] = "/v2/health/ready"

    def put(self, name: str, folder: Path, repository: Path) -> None:
        """Put the model in `folder` into the server's repository under a name. Raises `LoadFailedError`."""
        (repository / name).symlink_to(folder, target_is_directory=True)

    def unload_limit_s(self, name: str) -> float:
        """Return the seconds after which an unloading model is waited for no longer."""
        return _UNLOAD_S

    @property
    def repository(self) -> Path:
        """Folder that the server loads models from, one folder each."""
        return self.options.folder / REPOSITORY

    async def start(self, options: ServerOptions) -> None:
        """Start the program on an empty repository; see `ModelServer.start`."""
        (options.folder / REPOSITORY).mkdir(parents=True, exist_ok=True)
        await super().start(options)

    async def load(self, name: str, folder: Path) -> None:
        """Load a model; see `ModelServer.load`."""
        place = self.repository / name
        _remove(place)
        await asyncio.to_thread(self.put, name, folder, self.repository)
        # A server whose helper cannot start may never answer this call.
        status, said = await self._ask(f"/v2/repository/models/{name}/load", self.options.load_s)
        if status != 200:
            words = str(said.get("error", said)) if isinstance(said, dict) else str(said)
            _remove(place)
            raise LoadFailedError(words, is_short_of_memory=status == 507 or any(word in words.lower() for word in _MEMORY_WORDS))

    async def unload(self, name: str) -> None:
        """Unload a model and wait until the server no longer has it; see `ModelServer.unload`."""
        await self._ask(f"/v2/repository/models/{name}/unload", _UNLOAD_S)
        # The answer may come while the model is still being unloaded, and its memory is not free until it is.
        give_up_at = time.monotonic() + self.unload_limit_s(name)
        while time.monotonic() < give_up_at:
            if not any(one["name"] == name and _has_memory(one) for one in await self._index()):
                break
            await asyncio.sleep(LOOK_S)
        _remove(self.repository / name)

    async def resident(self) -> Sequence[str]:
        """Return the names of the models that are ready."""
        return [one["name"] for one in await self._index() if one.get("state") == "READY"]

    async def invoke(self, name: str, body: bytes, content_type: str) -> ModelAnswer:
        """Return what a model answers; binary tensors go in and out under SageMaker's type."""
        headers = {"Content-Type": JSON}
        kind, _, rest = content_type.partition(";")
        if kind.strip() == BINARY:
            headers = {"Content-Type": "application/octet-stream", "Inference-Header-Content-Length": rest.partition("=")[2].strip()}
        try:
            answer = await self.client.ask("POST", f"/v2/models/{name}/infer", body, headers)
            status = status_of(answer)
        except NoAnswerError as error:
            raise ServerFailedError(f"the server {self.name} did not answer: {error}") from error
        length = answer.headers.get(_HEADER_LENGTH)
        return ModelAnswer(
            status, answer.body, f"{BINARY};json-header-size={length}" if length else answer.headers.get("content-type", JSON)
        )

    async def _index(self) -> list[Mapping[str, str]]:
        _, said = await self._ask("/v2/repository/index", _UNLOAD_S)
        return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []

    async def _ask(self, path: str, timeout_s: float) -> tuple[int, object]:
        try:
            return await self.client.ask_json("POST", path, {}, timeout_s)
        except NoAnswerError as error:
            raise ServerFailedError(f"the server {self.name} did not answer: {error}") from error


def _has_memory(row: Mapping[str, str]) -> bool:
    return row.get("state") in ("READY", "LOADING", "UNLOADING") or (row.get("state") == "UNAVAILABLE" and row.get("reason") == "unloading")


def _remove(place: Path) -> None:
    if place.is_symlink():
        place.unlink()
    else:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(place)
