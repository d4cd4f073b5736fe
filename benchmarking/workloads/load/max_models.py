"""How many copies of a model stay loaded at once: by doubling, then by bisection, each number confirmed by calling all of them again."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TargetCall:
    """One call of a copy.

    Args:
        problem: the kind of its error, empty for none.
        is_cold: whether the copy was loaded for it; None where the endpoint does not say.
        seconds: that it took.
    """

    problem: str
    is_cold: bool | None
    seconds: float


_OF_FIRST, _OF_FASTEST, _LEAST_LOAD_S = 0.5, 3.0, 0.02

CallTarget = Callable[[int], Awaitable[TargetCall]]


@dataclass
class ResidencySearch:
    """The search.

    Args:
        copies: how many there are.
        call: calls one, by its number.
        is_over: whether no time is left for a call that may take so many seconds.
        cold_s: seconds of every call that loaded a copy; `why`: what the smallest number that does not fit failed by.
        is_guessed: whether an endpoint that does not say which answers were cold had that told by their time: a call loads a copy that
            takes more than half as long as the copy's first one, and three times as long as the fastest of all and 20 ms more.
        is_short: whether the time was over before more copies could be tried: what is known is a lower bound alone.
        slowest_s: seconds of the call that took longest.
    """

    copies: int
    call: CallTarget
    is_over: Callable[[float], bool] = lambda _seconds: False
    cold_s: list[float] = field(default_factory=list)
    why: str = ""
    is_guessed: bool = False
    first_s: dict[int, float] = field(default_factory=dict)
    fastest_s: float = math.inf
    slowest_s: float = 0.0
    is_short: bool = False

    async def run(self) -> int:
        """Return the largest number of copies that stay loaded together; `copies` where all do."""
        fits, fails = 0, self.copies + 1
        number = 1
        while fits < self.copies:
            if await self._fit(number):
                fits = number
            elif self.is_short:
                return fits
            else:
                fails = number
            if fails - fits <= 1:
                break
            number = min(2 * fits, self.copies) if fails > self.copies else (fits + fails) // 2
        # What came last may have displaced some: those that are counted are there at the end.
        if fits and not await self._fit(fits):
            return fits if self.is_short else await self._shrunk(fits)
        return fits

    async def _shrunk(self, fits: int) -> int:
        """Return the next smaller number that is confirmed, where one that was confirmed before is not any more."""
        while fits > 1:
            fits -= 1
            if await self._fit(fits):
                return fits
            if self.is_short:
                return 0  # it was confirmed once, and then not any more
        return 0

    async def _fit(self, number: int) -> bool:
        """Return whether this many copies are loaded together: all called once, then all again, of which none may have to be loaded."""
        for round_ in (0, 1):
            for target in range(number):
                if self.is_over(self.slowest_s):
                    self.is_short = True
                    return False
                ended = await self.call(target)
                self.slowest_s = max(self.slowest_s, ended.seconds)
                if ended.problem:
                    self.why = f"copy {target + 1} of {number} ended as {ended.problem}"
                    return False
                if self._is_cold(target, ended):
                    self.cold_s.append(ended.seconds)
                    if round_:
                        self.why = f"copy {target + 1} of {number} had been unloaded when it was called again"
                        return False
        return True

    def _is_cold(self, target: int, ended: TargetCall) -> bool:
        is_first = target not in self.first_s
        first_s = self.first_s.setdefault(target, ended.seconds)
        self.fastest_s = min(self.fastest_s, ended.seconds)
        if ended.is_cold is not None:
            return ended.is_cold
        self.is_guessed = True
        # The delays of a busy client are no loads: of a copy that was loaded before its first call, any other may take three times as long.
        least_s = max(_OF_FASTEST * self.fastest_s, self.fastest_s + _LEAST_LOAD_S)
        return is_first or (ended.seconds > _OF_FIRST * first_s and ended.seconds > least_s)
