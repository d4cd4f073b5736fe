"""Comparisons as rows: the one source of the table, of CSV, Markdown and JSON. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from benchmarking.comparison.across import over_benchmarks, profile_rows, word_for
from benchmarking.comparison.alike import differences
from benchmarking.comparison.configurations import ConfigurationComparison, compare_configurations, rows_of
from benchmarking.comparison.grouping import facets, having_objective, lacks_seeds, named, unequal_seeds
from benchmarking.comparison.matrix import matrix_rows
from benchmarking.comparison.measured_methods import measure_methods
from benchmarking.comparison.methods import BenchmarkComparison, compare_benchmarks
from benchmarking.comparison.question import ComparisonQuestion, has_baseline
from benchmarking.comparison.runs import RUN_KEYS, ComparedRun
from benchmarking.comparison.sentences import budget, configuration_verdicts, family, legend, looked, verdicts
from benchmarking.report.text import shown, table
from definitions import strict_json
from definitions.errors import UserError
from definitions.scalars import mean

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")

COLUMNS = (
    "benchmark", "method", "objective", "budget", "seeds", "value", "low", "high", "lead", "lead_low", "lead_high", "lead_is",
    "correlation", "p", "verdict", "seeds_needed", "reached", "seconds_to_target", "usd_to_target", "regret",
)  # fmt: skip


@dataclass(frozen=True)
class Document:
    """Everything that a comparison says.

    Args:
        benchmarks: a comparison of methods for each.
        configurations: comparisons of what was measured, where configurations are compared.
        runs: what was compared: each under the name of the group that it is compared as, and of its comparison as its benchmark.
        is_split: whether a benchmark has several comparisons, which are no sample of benchmarks.
        across: a row for each method over all benchmarks; empty for one benchmark.
        verdicts: sentences.
        warnings: what does not belong together.
        lacks_seeds: whether a method has fewer seeds than were expected.
        matrix: where there are several benchmarks, a row for each method with its wins, ties and losses against each.
        profile: there, a row for each method with the share of its runs above some scores.
    """

    benchmarks: Sequence[BenchmarkComparison]
    across: Sequence[Mapping[str, Any]]
    verdicts: Sequence[str]
    warnings: Sequence[str]
    configurations: Sequence[ConfigurationComparison] = ()
    lacks_seeds: bool = False
    runs: Sequence[ComparedRun] = ()
    is_split: bool = False
    matrix: Sequence[Mapping[str, Any]] = ()
    profile: Sequence[Mapping[str, Any]] = ()

    @property
    def family(self) -> int:
        """How many comparisons of methods were judged together."""
        return self.benchmarks[0].family if self.benchmarks else 0

    @property
    def notes(self) -> list[str]:
        """What the figures of the rows refer to, and how many comparisons were judged together."""
        lines = [*family(self.benchmarks), *legend(self.benchmarks)]
        for one in self.benchmarks:
            if one.best_known is not None:
                known = f"{one.benchmark}: best known {one.objective} is {shown(one.best_known)} ({one.best_known_of})"
                target = "" if one.target is None else f"; the target is {shown(one.target)}, the median of {one.baseline}"
                lines.append(f"{known}; regret is the mean distance from it{target}")
        said = dict.fromkeys(line for run in self.runs for line in run.stood_in.notes([trial.configuration for trial in run.trials]))
        return [*lines, *said]

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
    known = {(run.benchmark, run.method) for run in runs}
    not_begun = [pair for pair in question.planned if pair not in known]
    warnings = [f"{benchmark} x {method}: none of its experiments has begun" for benchmark, method in not_begun]
    of_experiments = set(question.by) <= set(RUN_KEYS)
    # Step 1: who is compared with whom. What one benchmark has not and another has is left out there, and no misspelt name.
    comparable: list[list[ComparedRun]] = []
    for mine in by_benchmark.values():
        warnings += differences(mine, question.by)
        if not any(question.objective in run.objectives for run in mine) and any(question.objective in run.objectives for run in runs):
            warnings.append(f"{mine[0].benchmark}: it has no objective {question.objective}, and is left out")
            continue
        kept, left_out = having_objective(mine, question.objective)
        comparable.append(kept)
        warnings += left_out
        for group in named(kept, question.by if of_experiments else ("method",)):
            warnings += unequal_seeds(group, question.expect_seeds)
    split, left_out = _each(comparable, lambda mine: facets(mine, question.facet_by))
    warnings += left_out
    groups = [group for parts in split for facet in parts for group in (named(facet, question.by) if of_experiments else [facet])]
    # Step 2: how they compare, all in one family.
    made: list[BenchmarkComparison] = []
    configurations: list[ConfigurationComparison] = []
    if of_experiments:
        made, left_out = _methods_compared(groups, question)
    else:
        configurations, left_out = _each(groups, lambda group: compare_configurations(group, question, len(groups)))
    warnings += left_out
    said = {*(one.benchmark for one in made), *(one.benchmark for one in configurations)}
    compared = [run for group in groups for run in group if run.benchmark in said]
    several = len(made) + len(configurations) > 1
    lines = [f"{one.benchmark}: {line}" if several else line for one in made for line in verdicts(one)]
    lines += [f"{one.benchmark}: {line}" if several else line for one in configurations for line in configuration_verdicts(one)]
    is_split = len(made) + len(configurations) > len(by_benchmark)
    across, more = over_benchmarks(made, question) if len(made) > 1 and not is_split else ((), [])
    return Document(
        made,
        across,
        [*lines, *more, *looked(question)],
        warnings,
        configurations,
        misses_seeds(runs, question),
        compared,
        is_split,
        matrix_rows(made, question) if len(made) > 1 and not is_split else [],
        profile_rows(made) if across else [],
    )


def _methods_compared(groups: Sequence[list[ComparedRun]], question: ComparisonQuestion) -> tuple[list[BenchmarkComparison], list[str]]:
    """Return a comparison for each group whose methods can be compared, and what to say of the others and of baselines."""
    somewhere = any(has_baseline(group, question.baseline) for group in groups)
    own = [group[0].benchmark for group in groups if somewhere and not has_baseline(group, question.baseline)]
    asked = {name: replace(question, baseline="") for name in own}
    measured, said = _each(groups, lambda group: measure_methods(group, asked.get(group[0].benchmark, question)))
    made = compare_benchmarks(measured)
    alone = [(one.benchmark, one.baseline) for one in made if one.benchmark in own]
    return made, said + [f"{benchmark}: without {question.baseline}, so {baseline} is the baseline" for benchmark, baseline in alone]


def _each(items: Sequence[_Item], make: Callable[[_Item], _Made]) -> tuple[list[_Made], list[str]]:
    """Return what is made of each of some items, and a sentence for each of which nothing can; raises where that is so of all."""
    made, errors = [], []
    for item in items:
        try:
            made.append(make(item))
        except UserError as error:
            errors.append(error)
    if errors and not made:
        raise errors[0]
    return made, [f"left out: {error.asked}" + (f"; {error.fact}" if error.fact else "") for error in errors]


def misses_seeds(runs: Sequence[ComparedRun], question: ComparisonQuestion) -> bool:
    """Return whether there are fewer seeds than the question expects; arguments as for `document`."""
    if not question.expect_seeds:
        return False
    if {*question.planned} - {(run.benchmark, run.method) for run in runs}:
        return True
    by = question.by if set(question.by) <= set(RUN_KEYS) else ("method",)
    apart = [[run for run in runs if run.benchmark == name] for name in dict.fromkeys(run.benchmark for run in runs)]
    return any(lacks_seeds(group, question.expect_seeds) for mine in apart for group in named(mine, by))


def as_text(found: Document) -> str:
    """Return verdicts, warnings and tables for people."""
    parts = ["\n".join(found.verdicts)] if found.verdicts else []
    if found.warnings:
        parts.append("\n".join(f"warning: {line}" for line in found.warnings))
    columns = [name for name in COLUMNS if name not in ("low", "high", "lead_low", "lead_high", "lead_is")]
    columns = [name for name in columns if any(row[name] not in (None, "") for row in found.rows)]
    rows = [[_cell(row, name) for name in columns] for row in found.rows]
    parts.append(table(columns, rows))
    if found.notes:
        parts.append("\n".join(found.notes))
    if found.across:
        parts.append("over all benchmarks (0 is the worst and 1 the best value of any run on each):\n" + _plain(found.across))
        parts.append("share of runs with a score above:\n" + _plain(found.profile))
    if found.matrix:
        parts.append("benchmarks won, tied, lost (neither) by the row against the column, all pairs one family:\n" + _plain(found.matrix))
    return "\n\n".join(parts)


def as_markdown(found: Document) -> str:
    """Return the same as Markdown."""
    lines = [f"* {line}" for line in found.verdicts] + [f"* **warning**: {line}" for line in found.warnings]
    tables = [_markdown_table(list(COLUMNS), [[row[name] for name in COLUMNS] for row in found.rows])]
    if found.across:
        tables += [_markdown_table(list(rows[0]), [list(row.values()) for row in rows]) for rows in (found.across, found.profile)]
    if found.matrix:
        tables.append(_markdown_table(list(found.matrix[0]), [list(row.values()) for row in found.matrix]))
    return "\n".join([*lines, *(f"* {line}" for line in found.notes)]) + "\n\n" + "\n\n".join(tables)


def as_json(found: Document) -> str:
    """Return the same as one JSON document."""
    return strict_json.dumps(
        {
            "schema_version": 1,
            "verdicts": list(found.verdicts),
            "warnings": list(found.warnings),
            "notes": found.notes,
            "family": found.family,
            "rows": found.rows,
            "across": [dict(row) for row in found.across],
            "profile": [dict(row) for row in found.profile],
            "matrix": [dict(row) for row in found.matrix],
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
        "lead_is": str(found.contrast.scale) if found is not None and found.contrast.size is not None else None,
        "correlation": found.contrast.correlation if found is not None else None,
        "p": found.p if found is not None else None,
        "verdict": word_for(row),
        "seeds_needed": found.more if found is not None else None,
        "reached": f"{reached} of {len(row.reach)}" if made.target is not None else "",
        "seconds_to_target": row.seconds,
        "usd_to_target": row.dollars,
        "regret": mean([*row.regret.values()]),
    }


def _cell(row: Mapping[str, Any], name: str) -> Any:
    ends = {"value": ("low", "high"), "lead": ("lead_low", "lead_high")}.get(name)
    if ends is None or row[name] is None:
        return row[name] if not isinstance(row[name], float) else shown(row[name])
    if row[ends[0]] is None:
        return shown(row[name])
    return f"{shown(row[name])} ({shown(row[ends[0]])} to {shown(row[ends[1]])})"


def _plain(rows: Sequence[Mapping[str, Any]]) -> str:
    return table(list(rows[0]), [list(row.values()) for row in rows])


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *([shown(value).replace("|", "\\|") for value in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
