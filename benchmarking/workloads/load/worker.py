"""One of several processes of a client: does what lines of JSON on its input say, and tells what came of it in lines of JSON.

Ends with its input, and so with the process that started it. The commands are those of `processes.ClientProcesses`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import asdict
from typing import Any

from .client_check import ClientLoad
from .endpoint import announced
from .open_loop import OpenPlan
from .options import parse_options
from .session import ClientSession
from .tally import LoadTally
from .users import UserStage

_TELL_S = 0.1


class ClientWorker:
    """What a worker does.

    Args:
        session: its client.
        tell: takes one message.
    """

    def __init__(self, session: ClientSession, tell: Any) -> None:
        self._session, self._tell = session, tell
        self._is_enough = False
        self._told_s = 0.0
        self._told: dict[int, list[int]] = {}

    def stop(self) -> None:
        """End the load that runs: it is enough."""
        self._is_enough = True

    async def do(self, command: dict[str, Any]) -> None:
        """Run one load and tell of it: blocks as they are settled, and in the end its counts."""
        self._is_enough, self._told = False, {}
        if command["do"] == "open":
            result = await self._session.open_load(command["rate"], OpenPlan(**command["plan"]), self._look)
            self._tell({"done": result.tally.as_dict(), **self._taken(result.client), "seconds": result.seconds})
            return
        stages = [UserStage(**one) for one in command["stages"]]
        client = await self._session.users(
            stages,
            command["begin_s"],
            lambda number, tally, taken: self._tell({"stage": number, "counts": tally.as_dict(), **self._taken(taken)}),
            command["ends_s"],
        )
        self._tell({"done": None, **self._taken(client), "seconds": 0.0})

    def _taken(self, client: ClientLoad) -> dict[str, Any]:
        return {"client": asdict(client), "answered": asdict(self._session.answered)}

    def _look(self, now: float, tally: LoadTally) -> bool:
        if now - self._told_s >= _TELL_S:
            self._told_s = now
            changed = {block: list(counts) for block, counts in tally.blocks.items() if self._told.get(block) != counts}
            self._told.update(changed)
            self._tell({"at_s": now, "blocks": changed, "lag": None})
        return self._is_enough


async def main() -> None:
    """Serve until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    first = json.loads(await reader.readline())
    session = ClientSession(announced(os.environ), parse_options(first["arguments"]), tuple(first["share"]))

    def tell(message: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    worker = ClientWorker(session, tell)
    tell({"ready": True})
    running: asyncio.Task[None] | None = None
    while line := await reader.readline():
        command = json.loads(line)
        if command["do"] == "stop":
            worker.stop()
        else:
            running = loop.create_task(worker.do(command))
    if running is not None:
        running.cancel()
    await session.close()


if __name__ == "__main__":
    asyncio.run(main())
