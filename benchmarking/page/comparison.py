"""Verdicts and tables of a comparison, for the page."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.comparison.document import COLUMNS, Document
from benchmarking.comparison.runs import ComparedRun
from benchmarking.page.drawing import Section
from benchmarking.page.tables import Column, SortableTable, table_of

CSV_NAME = "compare"
"""What the table is called whose cells are those of `outrider compare --format csv`."""

_HINTS = {
    "seeds": "experiments that count",
    "value": "the seeds' aggregate at the common budget, and an interval for their mean",
    "lead": "against the baseline: a factor for what is positive, else a difference; above 1 or 0 is better",
    "correlation": "of the pairs of seeds",
    "p": "of no difference, after Holm's correction",
    "seeds_needed": "how many seeds, with those that there are, would decide it with a chance of 80 %",
    "reached": "seeds that reached the baseline's median final value",
}
_ENDS = {"value": ("low", "high"), "lead": ("lead_low", "lead_high")}
_FIRST = ("benchmark", "method", "verdict", "value", "lead", "p", "seeds")
"""Columns that answer the question; the others follow."""
_WORDS = (
    "Better: significant after Holm's correction and beyond the threshold. Tie: the whole interval lies within the threshold. "
    "Not decided: neither; more seeds would tell. One run only: nothing can be said."
)


def comparison_section(found: Document) -> Section:
    """Return the tables of a comparison: one to read, and all columns as in the CSV."""
    inside = {key for ends in _ENDS.values() for key in ends}
    rows = found.rows
    read = [name for name in COLUMNS if name not in inside and any(row[name] not in (None, "") for row in rows)]
    read.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    columns = [Column(name, name.replace("_", " "), _ENDS.get(name, ()), _HINTS.get(name, "")) for name in read]
    against = "Each group of configurations against the first" if found.configurations else "Each method against the baseline"
    tables = [SortableTable(f"{against} (a click on a head sorts)", columns, rows)]
    if found.across:
        tables.append(table_of("Over all benchmarks: 0 is the worst value of any run on each, 1 the best", found.across))
    whole = SortableTable("All columns, as in the CSV of outrider compare", [Column(name, name) for name in COLUMNS], rows, CSV_NAME)
    return Section(
        "methods",
        "Configurations" if found.configurations else "Methods",
        " ".join([_WORDS, *(f"{one}." for one in found.notes)]),
        tables,
        [whole],
    )


def about(runs: Sequence[ComparedRun]) -> str:
    """Return in a sentence what experiments a report is of."""
    counts = {
        "experiment": len(runs),
        "benchmark": len({run.benchmark for run in runs}),
        "method": len({run.method for run in runs}),
        "seed": len({run.number for run in runs}),
    }
    text = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
    going = sum(not run.ended for run in runs)
    return f"{text}{f'; {going} not ended' if going else ''}."
