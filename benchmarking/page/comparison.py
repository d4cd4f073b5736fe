"""Tables of a comparison for the page, and what their words mean, where they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarking.analysis.effects import Word
from benchmarking.comparison.document import COLUMNS, Document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import ComparedRun
from benchmarking.comparison.sentences import budget, objective_text
from benchmarking.figures.dollar_units import dollar_unit
from benchmarking.page.drawing import Section
from benchmarking.page.tables import Column, SortableTable

_A_YEAR_S = 365 * 86400.0

CSV_NAME = "compare"
"""What the table is called whose cells are those of `outrider compare --format csv`."""

_ENDS = {"value": ("low", "high"), "lead": ("lead_low", "lead_high"), "iqm": ("low", "high")}
_ANSWER = ("benchmark", "method", "verdict", "value", "lead", "p", "seeds", "seeds_needed")
"""Columns that answer which is better."""
_HOW_SOON = ("benchmark", "method", "reached", "seconds_to_target", "usd_to_target", "regret")
"""Columns that answer how soon, and how good it was on the way."""
_ACROSS = (
    "method", "benchmarks", "iqm", "iqm_of_baseline", "better_than_baseline", "mean_rank", "won", "tied", "lost", "not_decided",
)  # fmt: skip
_LABELS = {
    "p": "p value",
    "seeds_needed": "seeds that would decide",
    "reached": "reached the target",
    "seconds_to_target": "time to target (s)",
    "iqm": "score (iqm)",
    "iqm_of_baseline": "baseline's score",
    "better_than_baseline": "chance to win",
}
_MEANINGS = {
    "value": "what the seeds came to at the budget, with an interval for their mean in brackets",
    "lead": "against the baseline: a factor (above 1 is better) for what is always positive, else a difference (above 0 is better)",
    "p": "how often so large a lead would come about by chance alone, after Holm's correction for all comparisons; empty where the seeds "
    "are too few for any p below the level",
    "seeds": "experiments that count, one a seed",
    "seeds_needed": "in all, those that there are included, to decide it with a chance of 80 %, if lead and spread stay as they are; where "
    "the lead is within the threshold, to show a tie",
    "reached": "seeds that got as far as the baseline's median final value, which is the target",
    "seconds_to_target": "median over seeds until the target was reached; empty where half of them never did",
    "usd_to_target": "the same in money, failed and stopped jobs included",
    "regret": "how far the best value so far lay from the best known one, on average along the way; 0 is perfect",
    "iqm": "interquartile mean of all runs, the middle half of them, of values scaled to 0 (the worst run on a benchmark) to 1 (the best)",
    "better_than_baseline": "how probable it is that a run of the method beats a run of the baseline on the same benchmark; 0.5 is even",
    "mean_rank": "place among the methods, averaged over benchmarks; 1 is the best",
    "won": "benchmarks on which the verdict is better, tie, worse, or neither",
}
_WORDS = {
    "better": "significant after Holm's correction, and the lead is beyond the threshold of {threshold}; worse is the same the other way "
    "round",
    str(Word.TIE): "the whole interval of the lead lies within the threshold of {threshold}",
    str(Word.NOT_DECIDED): "neither of these: the seeds that there are cannot tell",
    str(Word.ONE_RUN_ONLY): "fewer than two seeds in common, so that nothing can be said",
    "baseline": "the method that the others are compared with",
    str(Word.SAME): "both had done the same by then, e.g. within a start that they share",
}


def comparison_section(found: Document, question: ComparisonQuestion, methods: Mapping[str, str] | None = None) -> Section:
    """Return the tables of a comparison: those to read, with the meaning of their words, and all columns as in the CSV.

    Args:
        found: the comparison.
        question: what was asked: the threshold.
        methods: name -> what such a method is, of those of which that is known.
    """
    rows = found.rows
    against = "Each group of configurations against the first" if found.configurations else "Each method against the baseline"
    answer = _shown(_ANSWER, rows)
    tables = [_table(f"{against} (a click on a head sorts)", answer, rows)]
    how_soon = _shown(_HOW_SOON, rows)
    if {*how_soon} - {"benchmark", "method"}:
        tables.append(_table("How soon, and how good on the way", how_soon, rows, _dollars(found)))
    across = _shown(_ACROSS, found.across)
    if across:
        tables.append(_table("Over all benchmarks", across, found.across))
    whole = SortableTable("All columns, as in the CSV of outrider compare", [Column(name, name) for name in COLUMNS], rows, CSV_NAME)
    return Section(
        "methods",
        "Configurations" if found.configurations else "Methods",
        notes=[*_compared(found), *(f"{one}." for one in found.notes)],
        tables=tables,
        terms=[*(methods or {}).items(), *_words(rows, question), *_terms([*answer, *how_soon, *across])],
        folded=[whole],
    )


def why_undecided(found: Document) -> str:
    """Return in a sentence why no verdict `better` could come about however large the leads, and from how many seeds on it could.

    Empty where it could, or where something was decided.
    """
    rows = [(made, row.final) for made in found.benchmarks for row in made.rows if row.final is not None]
    # n pairs have 2 ** n signs, and the most extreme outcome is two of them.
    pairs = max((final.contrast.counts[0] for _, final in rows if final.contrast.paired), default=0)
    if not pairs or any(final.word in (Word.BETTER, Word.TIE) or not final.contrast.paired for _, final in rows):
        return ""
    # Those with one seed are judged too, once they have more.
    level, family = 1 - rows[0][0].confidence, max(len(rows), *(made.family for made, _ in rows))
    needed = next(n for n in range(1, 64) if 2.0 ** (1 - n) <= level / family)
    if pairs >= needed:
        return ""
    tags = {run.tag for run in found.runs}
    tag = tags.pop() if len(tags) == 1 else "TAG"
    count = "1 pair" if pairs == 1 else f"{pairs} pairs"
    compared = "one comparison" if family == 1 else f"the first of {family} comparisons"
    return (
        f"With {count} of seeds no lead can be called better, however large: their p value is {2.0 ** (1 - pairs):.2g} at least, "
        f"and {compared} needs {level / family:.2g} or less. From {needed} seeds on it can: "
        f"`outrider run --resume {tag} --num_seeds {needed}` adds them to the study."
    )


def about(runs: Sequence[ComparedRun], spans: Sequence[tuple[float, float]] = ()) -> str:
    """Return in a sentence what experiments a report is of, and from when.

    Args:
        runs: the experiments.
        spans: Unix times of the first and the last record of each; those on a virtual clock, which begins at 0, are of no day.
    """
    counts = {
        "experiment": len(runs),
        "benchmark": len({run.benchmark for run in runs}),
        "method": len({run.method for run in runs}),
        "seed": len({run.number for run in runs}),
    }
    text = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
    going = sum(not run.ended for run in runs)
    days = [span for span in spans if span[0] > _A_YEAR_S]
    when = f"; {_span(min(days)[0], max(last for _, last in days))}" if days else ""
    return f"{text}{f'; {going} not ended' if going else ''}{when}."


def _span(first_at: float, last_at: float) -> str:
    first, last = (datetime.fromtimestamp(at, UTC) for at in (first_at, last_at))
    return f"{first:%Y-%m-%d %H:%M} to {last:{'%H:%M' if first.date() == last.date() else '%Y-%m-%d %H:%M'}} UTC"


def _shown(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that say something: those that are not empty in all rows."""
    return [name for name in names if any(row.get(name) not in (None, "") for row in rows)]


def _table(caption: str, names: Sequence[str], rows: Sequence[Mapping[str, Any]], dollars: str = "") -> SortableTable:
    labels = {**_LABELS, "usd_to_target": f"cost to target ({dollars})"}
    columns = [Column(name, labels.get(name, name.replace("_", " ")), _ENDS.get(name, ()), _MEANINGS.get(name, "")) for name in names]
    return SortableTable(caption, columns, rows)


def _compared(found: Document) -> list[str]:
    """Return what is compared on each benchmark, which is alike in all of its rows."""
    better = {"min": "less is better", "max": "more is better"}
    lines = [f"{one.benchmark}: {objective_text(one)} ({better[one.mode]}) {budget(one)}." for one in found.benchmarks]
    return [*lines, *(f"{one.benchmark}: {one.objective} ({better[one.mode]})." for one in found.configurations)]


def _words(rows: Sequence[Mapping[str, Any]], question: ComparisonQuestion) -> list[tuple[str, str]]:
    """Return the meaning of the words of verdicts that occur; that of `better` always, as what would have been one."""
    there = {str(row["verdict"]).partition(":")[0] for row in rows} | {"better"}
    threshold = f"{100 * question.threshold:.3g} %"
    return [(word, text.format(threshold=threshold)) for word, text in _WORDS.items() if word in there]


def _terms(names: Sequence[str]) -> list[tuple[str, str]]:
    labels = {**_LABELS, "usd_to_target": "cost to target", "won": "won, tied, lost, not decided"}
    return [(labels.get(name, name.replace("_", " ")), _MEANINGS[name]) for name in dict.fromkeys(names) if name in _MEANINGS]


def _dollars(found: Document) -> str:
    return dollar_unit(run.facts.get("dollars", "") for run in found.runs)
