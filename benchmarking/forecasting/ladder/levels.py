"""Levels of a ladder of canaries, and how often each is repeated."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.forecasting.model.priors import exponents_of
from definitions.errors import UserError
from definitions.schema import Fidelity, PerJob

DEFAULT_REPEATS = (2, 1)
"""Repeats at the lowest rung and at all others: two of the cheapest tell the noise, the highest tells most for its price."""


def per_job(method: str, fidelity: Fidelity | None) -> PerJob:
    """Return the per-job fidelity that canaries need; raises `UserError` where the definition has none, or an unknown family."""
    if isinstance(fidelity, PerJob):
        exponents_of(fidelity.family or "")
        return fidelity
    raise UserError(
        f"method {method} needs a fidelity of kind per_job",
        "this definition has none" if fidelity is None else f"this one is {fidelity.kind}: one job passes all levels",
        "give `fidelity: {kind: per_job, argument: fraction}` and let the script use that share of its data",
    )


def repeats_of(ladder: Sequence[float], given: Sequence[int] | int | None, of_definition: int) -> tuple[int, ...]:
    """Return the repeats of each rung.

    Args:
        ladder: levels, ascending.
        given: by the user: one number for all rungs, or one for each; None for the default.
        of_definition: repeats of measurements in the definition; above 1 they hold for every rung.

    Raises:
        UserError: a list of another length than the ladder's.
    """
    if given is None:
        given = of_definition if of_definition > 1 else [DEFAULT_REPEATS[min(rung, 1)] for rung in range(len(ladder))]
    found = [given] * len(ladder) if isinstance(given, int) else list(given)
    if len(found) != len(ladder):
        raise UserError(f"repeats = {list(found)}", f"the ladder has {len(ladder)} rungs", "give one number, or one for each rung")
    return tuple(found)


def rungs(ladder: Sequence[float], repeats: Sequence[int]) -> list[tuple[float, int]]:
    """Return (level, repeat) of one configuration's canaries, lowest rung first."""
    return [(level, repeat) for level, count in zip(ladder, repeats, strict=True) for repeat in range(count)]
