"""The levels at which successive halving decides: geometric or explicit, one list per bracket. Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.controller.method_arguments import Argument, levels, number, whole
from definitions.errors import UserError

RUNG_ARGUMENTS: Mapping[str, Argument] = {
    "rungs": levels("explicit levels at which trials are compared, instead of geometric ones"),
    "grace_period": number(None, "lowest level at which trials are compared (default 1)", above=0),
    "reduction_factor": number(3.0, "of the trials at a rung, one in so many goes on", above=1),
    "brackets": whole(1, 1, "lists of rungs, each beginning one rung later; a trial is given one at random"),
}


def bracket_rungs(method: str, arguments: Mapping[str, Any], full: float) -> list[tuple[float, ...]]:
    """Return the rungs of each bracket, ascending, all below the full level.

    Args:
        method: its name, for messages.
        arguments: those of `RUNG_ARGUMENTS`.
        full: full fidelity level.

    Raises:
        UserError: rungs at or above the full level, contradicting arguments, or more brackets than rungs.
    """
    explicit, grace = arguments["rungs"], arguments["grace_period"]
    factor, brackets = arguments["reduction_factor"], arguments["brackets"]
    if explicit is not None:
        if grace is not None:
            raise UserError(f"method {method}: rungs and grace_period are both given", "the first rung is the grace period", "give one")
        if explicit[-1] >= full:
            raise UserError(f"method {method}: rungs = {list(explicit)}", f"{explicit[-1]:g} is not below the full level {full:g}")
        found = tuple(explicit)
    else:
        grace = 1.0 if grace is None else grace
        if grace >= full:
            raise UserError(f"method {method}: grace_period = {grace:g}", f"it is not below the full level {full:g}, so no rung is left")
        count = math.ceil(math.log(full / grace) / math.log(factor)) + 1
        found = tuple(level for level in (grace * factor**k for k in range(count)) if level < full * (1 - 1e-9))
    if brackets > len(found):
        raise UserError(f"method {method}: brackets = {brackets}", f"there are {len(found)} rungs: {', '.join(f'{r:g}' for r in found)}")
    return [found[skipped:] for skipped in range(brackets)]


def choose_bracket(brackets: Sequence[Sequence[float]], seed: int, evaluation: int) -> int:
    """Return the bracket of an evaluation: at random, each rung more making a bracket e times as likely (as in Syne Tune)."""
    if len(brackets) == 1:
        return 0
    source = random.Random(f"bracket-{seed}-{evaluation}")
    return source.choices(range(len(brackets)), [math.exp(len(rungs)) for rungs in brackets])[0]
