"""Where experiments ran and what they were: each field that has to be alike, with its values and who has them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.comparison.runs import ComparedRun
from benchmarking.figures.data import Figure, TablePanel


def environment_figure(runs: Sequence[ComparedRun]) -> Figure:
    """Return a table with a row for each field and value.

    Args:
        runs: (n_runs,) in any order.
    """
    found: dict[tuple[str, str], list[ComparedRun]] = {}
    for run in runs:
        for name, value in run.facts.items():
            if value:
                found.setdefault((name, value), []).append(run)
    fields = list(dict.fromkeys(name for name, _ in found))
    rows = [
        (name, value, len(mine), f"{mine[0].method} seed {mine[0].number} on {mine[0].benchmark}")
        for name in fields
        for (other, value), mine in found.items()
        if other == name
    ]
    notes = [] if rows else ["Nothing is known of the surroundings."]
    return Figure(
        "environment",
        "Environment",
        (TablePanel("", ("field", "value", "experiments", "first of them"), tuple(rows)),) if rows else (),
        tuple(notes),
    )
