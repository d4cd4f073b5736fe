"""Users who wait for each answer and think before they ask again, in stages of more and more of them: a closed loop."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .calls import CallEnd, Caller
from .client_check import ClientLoad
from .popularity import drawn
from .tally import LoadTally

THINK_S = (0.05, 0.5)
"""Between an answer and the next question: uniform."""

SEED_RAMP = "10@30@5,20@30@1,40@30@2,60@30@2,80@30@2,100@30@2,120@30@2,140@30@2,160@30@2,180@30@2,200@40@2"
_TICK_S = 0.05


@dataclass(frozen=True)
class UserStage:
    """A stage of a ramp: how many users there are, for how long in seconds, and how many come or go a second until there are."""

    users: int
    seconds: float
    spawn_per_s: float


def parse_ramp(text: str) -> tuple[UserStage, ...]:
    """Return the stages that a text tells: `USERS@SECONDS` or `USERS@SECONDS@SPAWN_PER_S`, commas between them.

    Raises:
        SystemExit: there is none, or one is no such thing, or ends before all of its users are there.
    """
    stages: list[UserStage] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        try:
            users, seconds, *spawn = word.split("@")
            made = UserStage(int(users), float(seconds), float(spawn[0]) if spawn else 10.0 * int(users) / float(seconds))
        except (ValueError, ZeroDivisionError):
            made = UserStage(0, 0, 0)
        if made.users < 1 or not 0 < made.seconds < 1e9 or not 0 < made.spawn_per_s < 1e9 or word.count("@") > 2:
            raise SystemExit(f"ramp {word!r}: a stage is USERS@SECONDS or USERS@SECONDS@SPAWN_PER_S, all above 0, e.g. 10@30@5")
        if arrival_s(stages[-1].users if stages else 0, made) >= made.seconds:
            raise SystemExit(f"ramp {word!r}: at {made.spawn_per_s:g} a second its users are not there before it ends; let more come")
        stages.append(made)
    if not stages:
        raise SystemExit("ramp: it has no stage; e.g. --ramp 10@30@5,20@30@1")
    return tuple(stages)


def arrival_s(before: int, stage: UserStage) -> float:
    """Return after how many seconds of a stage all of its users are there, where there were `before` of them."""
    return abs(stage.users - before) / stage.spawn_per_s


def fitting(stages: Sequence[UserStage], seconds: float) -> tuple[UserStage, ...]:
    """Return the stages, from the first on, that are whole within so many seconds."""
    ends = itertools.accumulate(stage.seconds for stage in stages)
    return tuple(stage for stage, end_s in zip(stages, ends, strict=True) if end_s <= seconds)


StageDone = Callable[[int, LoadTally, ClientLoad], None]
"""Is told the number of a stage, from 0, its counts, and what it took of its client, once all of its requests have ended."""


class UserRamp:
    """The users of one process.

    Args:
        caller: sends.
        targets: how many there are.
        popularity: exponent of Zipf's law by which they are drawn.
        seed: of thoughts and targets; each user has its own.
        share: number of this process of how many; user i is of process i modulo how many.
        make_tally: gives the counts of a stage.
        clock: monotonic seconds, those of the running loop.
        cpu_s: processor seconds that this process has taken; `sockets`: the most connections that there were at once.
    """

    def __init__(
        self,
        caller: Caller,
        targets: int,
        popularity: float,
        seed: int,
        share: tuple[int, int],
        make_tally: Callable[[], LoadTally],
        clock: Callable[[], float] = time.monotonic,
        cpu_s: Callable[[], float] = time.process_time,
        sockets: Callable[[], int] = lambda: 0,
    ) -> None:
        self._cpu_s, self._sockets = cpu_s, sockets
        self._taken: list[ClientLoad] = []
        self._caller, self._targets, self._popularity, self._seed, self._share = caller, targets, popularity, seed, share
        self._make_tally, self._clock = make_tally, clock
        self._users: list[asyncio.Task[None]] = []
        self._current: tuple[float, float, LoadTally] | None = None
        self._open: dict[LoadTally, int] = {}

    async def run(self, stages: Sequence[UserStage], begin_s: float, done: StageDone, ends_s: float = math.inf) -> None:
        """Run stages one after the other; each counts what is sent while all of its users are there.

        Args:
            stages: (n,) of all processes together.
            begin_s: monotonic seconds.
            done: told of each stage, in order.
            ends_s: monotonic seconds after which no answer is waited for.
        """
        tallies: list[LoadTally] = []
        before, reported = 0, 0
        try:
            for stage in stages:
                tally = self._make_tally()
                self._current = (begin_s + arrival_s(before, stage), begin_s + stage.seconds, tally)
                tallies.append(tally)
                counted_s, began = begin_s + arrival_s(before, stage), (begin_s, self._cpu_s())
                while (now := self._clock()) < begin_s + stage.seconds:
                    grown = min(abs(stage.users - before), int((now - begin_s) * stage.spawn_per_s) + 1)
                    if began[0] < counted_s <= now:
                        began = now, self._cpu_s()
                    self._resize(before + grown if stage.users >= before else before - grown)
                    self._caller.sweep()
                    reported = self._tell(tallies, reported, done, len(tallies) - 1)
                    await asyncio.sleep(_TICK_S)
                share = (self._cpu_s() - began[1]) / max(now - began[0], 1e-9)
                self._taken.append(ClientLoad(share, self._sockets()))
                before, begin_s = stage.users, begin_s + stage.seconds
            self._current = None
            self._resize(0)  # who goes on asking is never done
            while self._caller.in_flight and self._clock() < ends_s:
                self._caller.sweep()
                await asyncio.sleep(_TICK_S)
        finally:
            self._current = None
            for task in self._users:
                task.cancel()
            self._caller.give_up()
        self._tell(tallies, reported, done, len(tallies))

    def _tell(self, tallies: Sequence[LoadTally], reported: int, done: StageDone, until: int) -> int:
        """Tell of stages that are over and whose requests have all ended; return how many were told of."""
        while reported < until and not self._open.get(tallies[reported]):
            done(reported, tallies[reported], self._taken[reported])
            reported += 1
        return reported

    def _resize(self, users: int) -> None:
        number, of = self._share
        mine = len(range(number, users, of))
        while len(self._users) < mine:
            self._users.append(asyncio.get_running_loop().create_task(self._live(number + of * len(self._users))))
        while len(self._users) > mine:
            self._users.pop().cancel()

    async def _live(self, user: int) -> None:
        rng = random.Random(f"user {self._seed} {user}")
        targets = drawn(self._targets, self._popularity, self._seed + 1000 * (user + 1))
        due_s = self._clock()
        loop = asyncio.get_running_loop()
        while True:
            ended: asyncio.Future[None] = loop.create_future()
            self._ask(next(targets), rng.randrange(self._caller.payloads), due_s, ended)
            await ended
            due_s = self._clock() + rng.uniform(*THINK_S)
            await asyncio.sleep(due_s - self._clock())

    def _ask(self, target: int, payload: int, due_s: float, ended: asyncio.Future[None]) -> None:
        now = self._clock()
        counted = self._current
        tally = counted[2] if counted is not None and counted[0] <= now < counted[1] else None
        from_s = counted[0] if counted is not None else now
        if tally is not None:
            tally.sends(0, now - due_s)
            self._open[tally] = self._open.get(tally, 0) + 1

        def end(how: CallEnd) -> None:
            if not ended.done():
                ended.set_result(None)
            if tally is None:
                return
            self._open[tally] -= 1
            second = int(how.at_s - from_s)
            if how.kind:
                tally.fails(0, second, how.kind, how.at_s - now, how.text)
                return
            if how.is_cold:
                tally.load.add(how.load_s)
            tally.answers(0, second, how.at_s - now, how.at_s - now, is_cold=how.is_cold)

        self._caller.call(target, payload, end)
