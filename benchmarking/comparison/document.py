"""Comparisons as rows: the one source of the table, of CSV, Markdown and JSON. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.analysis.across_benchmarks import (
    aggregates,
    cliques,
    friedman_p,
    mean_ranks,
    normalised,
    probability_of_improvement,
    wilcoxon_ps,
)
from benchmarking.analysis.effects import Finding
from benchmarking.comparison.alike import differences
from benchmarking.comparison.configurations import ConfigurationComparison, compare_configurations, rows_of
from benchmarking.comparison.grouping import facets, having_objective, named, unequal_seeds
from benchmarking.comparison.methods import BenchmarkComparison, ComparisonQuestion, compare_methods
from benchmarking.comparison.runs import RUN_KEYS, ComparedRun
from benchmarking.comparison.sentences import budget, configuration_verdicts, looked, verdicts
from benchmarking.report.text import shown, table
from definitions import strict_json
from definitions.scalars import mean

COLUMNS = (
    "benchmark", "method", "objective", "budget", "seeds", "value", "low", "high", "lead", "lead_low", "lead_high", "correlation", "p",
    "verdict", "more_seeds", "reached", "seconds_to_target", "usd_to_target", "regret",
)  # fmt: skip


@dataclass(frozen=True)
class Document:
    """Everything that a comparison says.

    Args:
        benchmarks: a comparison of methods for each.
        configurations: comparisons of what was measured, where configurations are compared.
        across: a row for each method over all benchmarks; empty for one benchmark.
        verdicts: sentences.
        warnings: what does not belong together.
        lacks_seeds: whether a method has fewer seeds than were expected.
    """

    benchmarks: Sequence[BenchmarkComparison]
    across: Sequence[Mapping[str, Any]]
    verdicts: Sequence[str]
    warnings: Sequence[str]
    configurations: Sequence[ConfigurationComparison] = ()
    lacks_seeds: bool = False

    @property
    def notes(self) -> list[str]:
        """What the figures of the rows refer to."""
        lines = []
        for one in self.benchmarks:
            if one.best_known is not None:
                known = f"{one.benchmark}: best known {one.objective} is {shown(one.best_known)} ({one.best_known_of})"
                target = "" if one.target is None else f"; the target is {shown(one.target)}, the median of {one.baseline}"
                lines.append(f"{known}; regret is the mean distance from it{target}")
        return lines

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each benchmark and method, or group of configurations, under `COLUMNS`."""
        found = [_row(made, index) for made in self.benchmarks for index in range(len(made.rows))]
        return found + [{**dict.fromkeys(COLUMNS), **row} for made in self.configurations for row in rows_of(made)]


def document(runs: Sequence[ComparedRun], question: ComparisonQuestion) -> Document:
    """Return the comparison of all runs, benchmark by benchmark and over all.

    Args:
        runs: (n_runs,) of any benchmarks and methods.
        question: what is asked.

    Raises:
        UserError: an objective, a baseline or an axis that they have not.
    """
    by_benchmark: dict[str, list[ComparedRun]] = {}
    for run in runs:
        by_benchmark.setdefault(run.benchmark, []).append(run)
    made: list[BenchmarkComparison] = []
    configurations: list[ConfigurationComparison] = []
    warnings: list[str] = []
    lacking = False
    for mine in by_benchmark.values():
        warnings += differences(mine, question.by)
        comparable, left_out = having_objective(mine, question.objective)
        warnings += left_out
        seeds = unequal_seeds(comparable, question.expect_seeds)
        warnings += seeds
        lacking = lacking or bool(question.expect_seeds and seeds)
        for facet in facets(comparable, question.facet_by):
            if set(question.by) <= set(RUN_KEYS):
                made += [compare_methods(group, question) for group in named(facet, question.by)]
            else:
                configurations.append(compare_configurations(facet, question))
    several = len(made) + len(configurations) > 1
    lines = [f"{one.benchmark}: {line}" if several else line for one in made for line in verdicts(one)]
    lines += [f"{one.benchmark}: {line}" if several else line for one in configurations for line in configuration_verdicts(one)]
    # Facets of one benchmark are no sample of benchmarks.
    whole = len(by_benchmark) > 1 and len(made) == len(by_benchmark)
    across, more = _across(made, question) if whole else ((), [])
    return Document(made, across, [*lines, *more, *looked(question)], warnings, configurations, lacking)


def as_text(found: Document) -> str:
    """Return verdicts, warnings and tables for people."""
    parts = ["\n".join(found.verdicts)] if found.verdicts else []
    if found.warnings:
        parts.append("\n".join(f"warning: {line}" for line in found.warnings))
    columns = [name for name in COLUMNS if name not in ("low", "high", "lead_low", "lead_high")]
    columns = [name for name in columns if any(row[name] not in (None, "") for row in found.rows)]
    rows = [[_cell(row, name) for name in columns] for row in found.rows]
    parts.append(table(columns, rows))
    if found.notes:
        parts.append("\n".join(found.notes))
    if found.across:
        parts.append("over all benchmarks (0 is the worst and 1 the best value of any run on each):\n" + _plain(found.across))
    return "\n\n".join(parts)


def as_markdown(found: Document) -> str:
    """Return the same as Markdown."""
    lines = [f"* {line}" for line in found.verdicts] + [f"* **warning**: {line}" for line in found.warnings]
    tables = [_markdown_table(list(COLUMNS), [[row[name] for name in COLUMNS] for row in found.rows])]
    if found.across:
        tables.append(_markdown_table(list(found.across[0]), [list(row.values()) for row in found.across]))
    return "\n".join([*lines, *(f"* {line}" for line in found.notes)]) + "\n\n" + "\n\n".join(tables)


def as_json(found: Document) -> str:
    """Return the same as one JSON document."""
    return strict_json.dumps(
        {
            "schema_version": 1,
            "verdicts": list(found.verdicts),
            "warnings": list(found.warnings),
            "notes": found.notes,
            "rows": found.rows,
            "across": [dict(row) for row in found.across],
        }
    )


def _row(made: BenchmarkComparison, index: int) -> dict[str, Any]:
    row = made.rows[index]
    found = row.final
    bounds = found.contrast.bounds if found is not None else None
    reached = sum(value is not None for value in row.reach.values())
    return {
        "benchmark": made.benchmark,
        "method": row.method,
        "objective": made.objective,
        "budget": budget(made),
        "seeds": len(row.finals),
        "value": row.value,
        "low": row.interval.low if row.interval is not None else None,
        "high": row.interval.high if row.interval is not None else None,
        "lead": found.contrast.size if found is not None else None,
        "lead_low": bounds[0] if bounds is not None else None,
        "lead_high": bounds[1] if bounds is not None else None,
        "correlation": found.contrast.correlation if found is not None else None,
        "p": found.p if found is not None else None,
        "verdict": _word(made, found),
        "more_seeds": found.more if found is not None else None,
        "reached": f"{reached} of {len(row.reach)}" if made.target is not None else "",
        "seconds_to_target": row.seconds,
        "usd_to_target": row.dollars,
        "regret": mean([*row.regret.values()]),
    }


def _word(made: BenchmarkComparison, found: Finding | None) -> str:
    if found is None:
        return "baseline"
    return "worse" if found.word == "better" and not found.ahead else str(found.word)


def _cell(row: Mapping[str, Any], name: str) -> Any:
    ends = {"value": ("low", "high"), "lead": ("lead_low", "lead_high")}.get(name)
    if ends is None or row[name] is None:
        return row[name] if not isinstance(row[name], float) else shown(row[name])
    if row[ends[0]] is None:
        return shown(row[name])
    return f"{shown(row[name])} ({shown(row[ends[0]])} to {shown(row[ends[1]])})"


def _across(made: Sequence[BenchmarkComparison], question: ComparisonQuestion) -> tuple[list[dict[str, Any]], list[str]]:
    scores = normalised(
        {one.benchmark: {row.method: [*row.finals.values()] for row in one.rows} for one in made if any(row.finals for row in one.rows)},
        {one.benchmark: one.mode for one in made},
    )
    if not scores:
        return [], []
    found, ranks = aggregates(scores), mean_ranks(scores)
    baseline = made[0].baseline
    rows = []
    for method in sorted(found, key=lambda name: -found[name].iqm):
        words = [_word(one, row.final) for one in made for row in one.rows if row.method == method]
        rows.append(
            {
                "method": method,
                "benchmarks": sum(bool(methods.get(method)) for methods in scores.values()),
                "iqm": found[method].iqm,
                "low": found[method].low,
                "high": found[method].high,
                "better_than_baseline": None if method == baseline else probability_of_improvement(scores, method, baseline),
                "mean_rank": ranks.get(method),
                "won": words.count("better"),
                "tied": words.count("tie"),
                "lost": words.count("worse"),
                "not_decided": words.count("not decided") + words.count("one run only"),
            }
        )
    lines = []
    p = friedman_p(scores)
    if p is not None:
        lines.append(f"over {len(scores)} benchmarks: Friedman's test of no difference has p = {p:.2g}.")
    groups = cliques(scores, question.level)
    if wilcoxon_ps(scores):
        named = "; ".join(" = ".join(group) for group in groups) or "none"
        lines.append(f"over {len(scores)} benchmarks, methods that do not differ (Wilcoxon, Holm): {named}.")
    return rows, lines


def _plain(rows: Sequence[Mapping[str, Any]]) -> str:
    return table(list(rows[0]), [list(row.values()) for row in rows])


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *([shown(value).replace("|", "\\|") for value in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
