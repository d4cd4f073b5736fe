"""A client of several processes: each sends its share of one schedule on the one monotonic clock, and their counts are merged exactly."""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .calls import AnsweredCalls
from .client_check import ClientLoad
from .open_loop import OpenPlan
from .options import LoadOptions
from .session import LoadResult, Look
from .tally import LoadTally
from .users import StageDone, UserStage

_LINE_BYTES = 1 << 28
_START_S = 30.0


class ClientProcesses:
    """Processes of `worker`.

    Args:
        arguments: of the load script, which each reads again.
        options: the same, read.
        environ: of the job.
    """

    def __init__(self, arguments: Sequence[str], options: LoadOptions, environ: Mapping[str, str]) -> None:
        self._arguments, self._options, self._environ = list(arguments), options, environ
        self._workers: list[asyncio.subprocess.Process] = []
        self._answered: dict[int, AnsweredCalls] = {}

    async def start(self) -> None:
        """Start them, and wait until each can send.

        Raises:
            SystemExit: one cannot.
        """
        count = self._options.client_processes
        folder = str(Path(__file__).resolve().parent.parent)
        paths = [folder, *filter(None, [self._environ.get("PYTHONPATH")])]
        environ = {**self._environ, "PYTHONPATH": os.pathsep.join(paths)}
        for number in range(count):
            worker = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "load.worker", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environ,
                limit=_LINE_BYTES,
            )  # fmt: skip
            self._workers.append(worker)
            self._send(worker, {"arguments": self._arguments, "share": [number, count]})
        for number, worker in enumerate(self._workers):
            try:
                await asyncio.wait_for(self._read(worker), _START_S)
            except TimeoutError as error:
                raise SystemExit(f"client process {number + 1} of {count} is not ready after {_START_S:g} s") from error

    async def open_load(self, rate: float, plan: OpenPlan, look: Look) -> LoadResult:
        """Run an open loop in all processes; see `session.LoadClient`. Each block counts once every process has told of it."""
        shares = [LoadTally(self._options.slo_s, self._options.timeout_s) for _ in self._workers]
        looked = [plan.begin_s] * len(self._workers)
        is_enough = False

        def merged() -> LoadTally:
            whole = LoadTally(self._options.slo_s, self._options.timeout_s)
            for one in shares:
                whole.merge(one)
            return whole

        async def follow(number: int) -> Mapping[str, Any]:
            nonlocal is_enough
            while True:
                told = await self._read(self._workers[number])
                if "done" in told:
                    looked[number] = float("inf")
                    return told
                shares[number].blocks.update({int(block): counts for block, counts in told["blocks"].items()})
                looked[number] = told["at_s"]
                if not is_enough and number == looked.index(min(looked)) and look(min(looked), merged()):
                    is_enough = True
                    for worker in self._workers:
                        self._send(worker, {"do": "stop"})

        ended = await self._all({"do": "open", "rate": rate, "plan": asdict(plan)}, follow)
        whole = LoadTally(self._options.slo_s, self._options.timeout_s)
        for one in ended:
            whole.merge(LoadTally.from_dict(one["done"]))
        return LoadResult(whole, _together(ended), max(float(one["seconds"]) for one in ended))

    async def users(self, stages: Sequence[UserStage], begin_s: float, done: StageDone, ends_s: float = math.inf) -> ClientLoad:
        """Run a ramp of users in all processes; see `session.LoadClient`."""
        waiting: dict[int, list[Mapping[str, Any]]] = {}

        async def follow(number: int) -> Mapping[str, Any]:
            while True:
                told = await self._read(self._workers[number])
                if "done" in told:
                    return told
                shares = waiting.setdefault(told["stage"], [])
                shares.append(told)
                if len(shares) == len(self._workers):
                    whole, *others = [LoadTally.from_dict(one["counts"]) for one in shares]
                    for one in others:
                        whole.merge(one)
                    done(told["stage"], whole, _together(shares))

        told = {"stages": [asdict(stage) for stage in stages], "begin_s": begin_s, "ends_s": ends_s}
        ended = await self._all({"do": "users", **told}, follow)
        return _together(ended)

    @property
    def answered(self) -> AnsweredCalls:
        """What all of them had seen answered when they last told of it; see `session.LoadClient`."""
        told = self._answered.values()
        return AnsweredCalls(sum(one.calls for one in told), sum(one.seconds for one in told))

    async def close(self) -> None:
        """End them, and wait until they have ended."""
        for worker in self._workers:
            if worker.returncode is None:
                worker.kill()
            await worker.wait()

    async def _all(self, command: Mapping[str, Any], follow: Callable[[int], Any]) -> list[Mapping[str, Any]]:
        for worker in self._workers:
            self._send(worker, command)
        return list(await asyncio.gather(*(follow(number) for number in range(len(self._workers)))))

    def _send(self, worker: asyncio.subprocess.Process, message: Mapping[str, Any]) -> None:
        assert worker.stdin is not None
        worker.stdin.write((json.dumps(message) + "\n").encode())

    async def _read(self, worker: asyncio.subprocess.Process) -> dict[str, Any]:
        assert worker.stdout is not None
        line = await worker.stdout.readline()
        if not line:
            raise SystemExit(f"client process {self._workers.index(worker) + 1} of {len(self._workers)} has ended; its lines above say why")
        told: dict[str, Any] = json.loads(line)
        if "answered" in told:
            self._answered[worker.pid] = AnsweredCalls(**told["answered"])
        return told


def _together(ended: Sequence[Mapping[str, Any]]) -> ClientLoad:
    """Return what all took: the busiest one's processor, all connections."""
    clients = [ClientLoad(**one["client"]) for one in ended]
    return ClientLoad(max(one.cpu_share for one in clients), sum(one.sockets for one in clients), sum(one.socket_limit for one in clients))
