"""What servers that are one program with one HTTP port share: start, wait until it answers, know its processes, end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import ClassVar

from backends.serving.base import ModelServer, ServerFailedError, ServerOptions
from backends.serving.program import ServerProgram
from backends.serving.wire.client import LoopbackClient, NoAnswerError, status_of

LOOK_S = 0.02
"""Seconds between two looks at what is waited for."""


class ProgramServer(ModelServer):
    """A program with one HTTP port; what differs is how it is started, and what it is asked."""

    health: ClassVar[str]
    """Path that answers 200 where models can be loaded."""

    def __init__(self) -> None:
        self._program: ServerProgram | None = None
        self._client: LoopbackClient | None = None
        self._options: ServerOptions | None = None

    async def begin(self, options: ServerOptions) -> tuple[ServerProgram, int]:
        """Start the program; return it and the port that it serves on. Raises `ServerFailedError`."""
        raise NotImplementedError

    @property
    def options(self) -> ServerOptions:
        """What it was started with; there once `start` was called."""
        assert self._options is not None
        return self._options

    @property
    def client(self) -> LoopbackClient:
        """The client of the started program."""
        if self._client is None:
            raise ServerFailedError(f"the server {self.name} was not started")
        return self._client

    async def start(self, options: ServerOptions) -> None:
        """Start the program and wait until it is ready; see `ModelServer.start`."""
        self._options = options
        give_up_at = time.monotonic() + options.start_s
        self._program, port = await self.begin(options)
        self._client = LoopbackClient(port)
        while not await self.ready():
            ended = self._program.has_ended()
            if ended or time.monotonic() > give_up_at:
                words = self._program.last_words()
                await self.stop()
                what = "did not start" if ended else f"was not ready within {options.start_s:g} s"
                raise ServerFailedError(f"the server {self.name} {what}: {words}")
            await asyncio.sleep(LOOK_S)

    async def ready(self) -> bool:
        """Return whether it answers now."""
        try:
            return status_of(await self.client.ask("GET", self.health, timeout_s=5.0)) == 200
        except NoAnswerError:
            return False

    def pids(self) -> Sequence[int]:
        """Return the numbers of its processes."""
        return self._program.pids() if self._program is not None else ()

    def has_ended(self) -> bool:
        """Return whether its program is gone."""
        return self._program is None or self._program.has_ended()

    async def stop(self) -> None:
        """End the program and all that it has started."""
        program, self._program = self._program, None
        if self._client is not None:
            self._client.close()
        if program is not None:
            await asyncio.to_thread(program.kill)
