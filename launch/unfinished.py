"""What of a command's experiments did not come to a good end, in lines: those of the same cause in one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.ending import Reason
from launch.experiment_outcome import ExperimentOutcome
from launch.study_planning import share_of

_BREAK = "\n  "
_FEW = 2
"""So many of one cause are named one by one."""


def unfinished(outcomes: Sequence[ExperimentOutcome]) -> str:
    """Return what did not come to a good end, with its cause; empty where all did."""
    by_cause: dict[tuple[str, str, str], list[ExperimentSpec]] = {}
    for one in outcomes:
        if not one.is_fine:
            cause = f"{one.reason}: {one.cause.replace(_BREAK, '; ')}{_share(one)}"
            by_cause.setdefault((one.spec.definition.name, one.spec.backend, cause), []).append(one.spec)
    if not by_cause:
        return ""
    lines = [f"  {title}: {cause}" for (_, _, cause), specs in by_cause.items() for title in _titles(specs)]
    count = sum(len(specs) for specs in by_cause.values())
    return "\n".join([f"{count} of {len(outcomes)} experiments did not come to a good end:", *lines])


def _share(one: ExperimentOutcome) -> str:
    """Return of what an experiment's limit of money is a share, where it ended by that."""
    share = share_of(one.spec.resolved) if one.reason == Reason.COST else ""
    return f"; that is {share}" if share else ""


def _titles(specs: Sequence[ExperimentSpec]) -> list[str]:
    """Return what experiments of one benchmark and back-end are called; many share one title."""
    if len(specs) <= _FEW:
        return [spec.title for spec in specs]
    numbers: dict[str, list[int]] = {}
    for spec in specs:
        numbers.setdefault(spec.method, []).append(spec.number)
    methods = ", ".join(f"{method} x {_seeds(sorted(found))}" for method, found in numbers.items())
    return [f"{specs[0].definition.name} x {methods} on {specs[0].backend}"]


def _seeds(numbers: Sequence[int]) -> str:
    """Return e.g. `seeds 0, 2 to 4` of numbers in order."""
    # Of numbers in a row the distance to their place is the same.
    rows = [[number for _, number in row] for _, row in groupby(enumerate(numbers), lambda placed: placed[1] - placed[0])]
    words = [f"{row[0]} to {row[-1]}" if len(row) > _FEW else ", ".join(map(str, row)) for row in rows]
    return f"seed{'s' if len(numbers) > 1 else ''} {', '.join(words)}"
