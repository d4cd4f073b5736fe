"""Where experiments ran and what they were: each field that has to be alike, with its values and who has them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.comparison.runs import ComparedRun
from benchmarking.figures.data import Figure, TablePanel


def environment_figure(runs: Sequence[ComparedRun]) -> Figure:
    """Return a table with a row for each field and value; loads, of which hardly any two are alike, have one with the least and the most.

    Args:
        runs: (n_runs,) in any order.
    """
    loads = sorted({run.facts["load"] for run in runs if run.facts.get("load")}, key=lambda load: float(load.split()[0]))
    between = f"{loads[0].split()[0]} to {loads[-1]}" if len(loads) > 1 else "".join(loads)
    found: dict[tuple[str, str], list[ComparedRun]] = {}
    for run in runs:
        for name, value in run.facts.items():
            if value:
                found.setdefault((name, between if name == "load" else value), []).append(run)
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
