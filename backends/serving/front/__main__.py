"""The front as a program: `python -m backends.serving.front --settings FILE`.

It prints one JSON line on its standard output, `{"port": N, "ready": true}` or `{"ready": false, "error": "..."}`. It ends with its
standard input: whoever started it has ended then, and its server's processes end with it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backends.serving.base import LoadFailedError, ModelServer, ServerFailedError, ServerOptions
from backends.serving.front.cache import ModelCache
from backends.serving.front.packages import FolderSource, PackageSource, S3Source, remove
from backends.serving.front.service import FrontService
from backends.serving.front.settings import MOST_BODY_BYTES, FrontSettings
from backends.serving.program import ignore_stops, until_input_ends
from backends.serving.servers import server_class
from backends.serving.wire.listener import listen, port_of
from definitions.errors import OutriderError, UserError

_LOOK_S = 0.1
_MOST_RESTARTS = 3


def source_of(settings: FrontSettings) -> PackageSource:
    """Return where the targets come from."""
    if settings.folder:
        return FolderSource(Path(settings.folder))

    def client() -> Any:
        from backends.common.aws_client import make_client

        return make_client("s3", region=settings.region or None, endpoint_url=settings.s3_endpoint or None)

    return S3Source(settings.uri, settings.uris, client)


def options_of(settings: FrontSettings) -> ServerOptions:
    """Return how the server is run."""
    return ServerOptions(
        Path(settings.work) / "server",
        Path(settings.log),
        settings.threads,
        settings.cores,
        settings.max_batch_size,
        settings.batch_delay_ms,
        settings.start_s,
        settings.load_s,
    )


class Front:
    """One endpoint, from its server's start to its end.

    Args:
        settings: of the front.
        say: takes the one line that its starter waits for.
    """

    def __init__(self, settings: FrontSettings, say: Callable[[str], None]) -> None:
        self._settings, self._say = settings, say
        self._server: ModelServer = server_class(settings.server)()
        self._cache = ModelCache(
            self._server, source_of(settings), Path(settings.work) / "models", settings.limit_bytes, settings.load_wait_s
        )

    async def run(self) -> None:
        """Serve until standard input ends.

        Raises:
            OutriderError: the server did not start, or the model of mode single was not loaded.
            OSError: the port is taken.
        """
        service = FrontService(self._settings, self._server, self._cache)
        listener = await listen(service.answer, self._settings.port, MOST_BODY_BYTES)
        watch: asyncio.Task[None] | None = None
        # From the first moment, as the starter may end while the server is still starting.
        over = asyncio.ensure_future(until_input_ends())
        begin = asyncio.ensure_future(self._begin())
        try:
            await asyncio.wait({over, begin}, return_when=asyncio.FIRST_COMPLETED)
            if over.done():
                return
            begin.result()
            watch = asyncio.ensure_future(self._watch())
            self._say(json.dumps({"port": port_of(listener), "ready": True}))
            await over
        finally:
            for task in (begin, watch):
                if task is not None:
                    task.cancel()
            listener.close()
            await self._server.stop()
            remove(Path(self._settings.work))

    async def _begin(self) -> None:
        missing = type(self._server).missing()
        if missing:
            raise ServerFailedError(f"the server {self._settings.server} cannot run here: {missing}")
        await self._server.start(options_of(self._settings))
        self._cache.base_bytes = await self._cache.measure()
        if self._settings.mode == "single":
            async with self._cache.use(self._settings.model):
                pass

    async def _watch(self) -> None:
        """Start the server again where it has died, as the service does with a container, at most a few times."""
        while True:
            await asyncio.sleep(_LOOK_S)
            if not self._server.has_ended() or self._cache.counters.restarts >= _MOST_RESTARTS:
                continue
            self._cache.counters.restarts += 1
            self._cache.forget()
            with contextlib.suppress(OutriderError):
                await self._server.stop()
                await self._server.start(options_of(self._settings))


def main(words: list[str] | None = None) -> int:
    """Run the front; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m backends.serving.front")
    parser.add_argument("--settings", required=True, help="file with the settings, in JSON")
    arguments = parser.parse_args(words)
    ignore_stops()

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    try:
        asyncio.run(Front(FrontSettings.read(Path(arguments.settings)), say).run())
    except (OutriderError, OSError) as error:
        is_short = isinstance(error, LoadFailedError) and error.is_short_of_memory
        say(json.dumps({"ready": False, "error": str(error), "short_of_memory": is_short}))
        return 2 if isinstance(error, UserError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
