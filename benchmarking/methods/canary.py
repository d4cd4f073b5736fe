"""CANARY: every configuration on every rung of a ladder of small fractions, so that forecasts of the full job can be made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from benchmarking.canary.candidates import candidates
from benchmarking.canary.ladder import canary, per_job, repeats_of, rungs
from benchmarking.methods.arguments import Argument, levels, whole
from benchmarking.methods.base import Method, MethodContext, Suggestion
from definitions.errors import UserError


def _read_repeats(value: Any) -> tuple[int, ...] | int:
    given = value if isinstance(value, (list, tuple)) else (value,)
    if not given or any(isinstance(one, bool) or not isinstance(one, int) or one < 1 for one in given):
        raise ValueError("whole numbers from 1 up")
    return tuple(given) if isinstance(value, (list, tuple)) else int(value)


LADDER = levels("fractions of the full job, ascending (default: the definition's ladder)")
REPEATS = Argument(None, "runs at each rung: one number, or one for each rung (default 2 at the lowest, 1 at the others)", _read_repeats)
CONFIGURATIONS = whole(None, 1, "configurations that are taken (default: all of a finite space, 8 of a continuous one)")


class CanaryLadder(Method):
    """Suggests canaries rung by rung, all configurations at one rung before the next, so that drift of the machine hits them alike."""

    arguments: ClassVar[Mapping[str, Argument]] = {"ladder": LADDER, "repeats": REPEATS, "configurations": CONFIGURATIONS}
    independent = True
    finite = True
    hears_levels = False
    measures_repeats: ClassVar[bool] = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition has no per-job fidelity, or the ladder leaves it."""
        self._context = context
        fidelity = per_job("CANARY", context.fidelity)
        ladder = tuple(context.arguments.get("ladder") or fidelity.ladder)
        check_ladder(ladder, fidelity.full)
        of_definition = context.repeats
        self._rungs = rungs(ladder, repeats_of(ladder, context.arguments.get("repeats"), of_definition))
        self._rest: Iterator[Suggestion] | None = None

    def suggest(self) -> Suggestion | None:
        """Return the next canary, or None when the ladder is done."""
        if self._rest is None:
            self._rest = self._all()
        return next(self._rest, None)

    def _all(self) -> Iterator[Suggestion]:
        chosen = candidates(self._context, self._context.arguments.get("configurations"), self.refuse)
        for level, repeat in self._rungs:
            for configuration in chosen:
                yield Suggestion(canary(configuration, level, repeat))


def check_ladder(ladder: tuple[float, ...], full: float) -> None:
    """Raise `UserError` where a rung is above the full job."""
    if any(level > full for level in ladder):
        raise UserError(
            f"ladder {', '.join(f'{level:g}' for level in ladder)}", f"the full job is {full:g}", "give fractions of at most that"
        )
