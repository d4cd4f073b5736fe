"""Methods over several benchmarks: a row for each, and what is said of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.analysis.across_benchmarks import (
    Aggregate,
    Scores,
    aggregates,
    cliques,
    common_scores,
    friedman_p,
    interquartile_mean,
    mean_ranks,
    methods_of,
    normalised,
    performance_profile,
    probability_of_improvement,
    wilcoxon_ps,
)
from benchmarking.analysis.effects import Word
from benchmarking.comparison.methods import BenchmarkComparison, MethodRow
from benchmarking.comparison.question import ComparisonQuestion

PROFILE_AT = (0.0, 0.25, 0.5, 0.75, 0.9)
"""Normalised scores at which a performance profile is given as a table."""


def word_for(row: MethodRow) -> str:
    """Return the word for a method from its own side; `baseline` where it is compared with nothing."""
    found = row.final
    if found is None:
        return "baseline"
    if row.emulated:
        return f"{Word.NOT_DECIDED}: emulated"
    if not row.finals:
        return "no result"
    return "worse" if found.word == "better" and not found.ahead else str(found.word)


def scores_of(made: Sequence[BenchmarkComparison]) -> Scores:
    """Return the normalised scores of all methods on each benchmark on which anything has a value."""
    values = {
        one.benchmark: {row.method: [*row.finals.values()] for row in one.rows} for one in made if any(row.finals for row in one.rows)
    }
    return normalised(values, {one.benchmark: one.mode for one in made})


def over_benchmarks(made: Sequence[BenchmarkComparison], question: ComparisonQuestion) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row for each method over all benchmarks, and sentences.

    Means over benchmarks are of those alone that all methods which have one ran. Who ran only some stands last, with figures of these.

    Args:
        made: the comparison of each benchmark.
        question: what was asked: the level.
    """
    scores = scores_of(made)
    if len(scores) < 2:
        return [], []  # of one benchmark its own table says all
    common = common_scores(scores)
    if not common:
        return [], ["over benchmarks nothing is said: none was run by all methods."]
    found, ranks = aggregates(common), mean_ranks(common)
    ordered = sorted(found, key=lambda name: -found[name].iqm)
    rows = [_row(made, scores, common, found[method], method) | {"mean_rank": ranks.get(method)} for method in ordered]
    partial = [method for method in methods_of(scores) if method not in found]
    for method in partial:
        own = {name: one for name, one in scores.items() if one.get(method)}
        rows.append(_row(made, scores, own, aggregates({name: {method: one[method]} for name, one in own.items()})[method], method))
    lines = []
    if len(common) < len(scores):
        lines.append(f"over benchmarks methods are compared on {len(common)} of {len(scores)}, which all of them ran: {', '.join(common)}.")
    for method in partial:
        ran = ", ".join(name for name, one in scores.items() if one.get(method))
        share = f"{sum(bool(one.get(method)) for one in scores.values())} of {len(scores)}"
        lines.append(f"over benchmarks {method} is not ranked: it ran {share} ({ran}), and its row, the last, is of these.")
    p = friedman_p(common)
    if p is not None:
        lines.append(f"over {len(common)} benchmarks: Friedman's test of no difference has p = {p:.2g}.")
    if wilcoxon_ps(common):
        named = "; ".join(" = ".join(group) for group in cliques(common, question.judged_level)) or "none"
        lines.append(f"over {len(common)} benchmarks, methods that do not differ (Wilcoxon, Holm): {named}.")
    return rows, lines


def profile_rows(made: Sequence[BenchmarkComparison]) -> list[dict[str, Any]]:
    """Return for each method which share of its runs has a normalised score above some values, over benchmarks that weigh the same.

    Of methods and benchmarks as `over_benchmarks` compares them; the performance profile of Agarwal et al. 2021 at a few places.
    """
    scores = scores_of(made)
    common = common_scores(scores) if scores else {}
    shares = {method: performance_profile(common, method, PROFILE_AT) for method in methods_of(common)}
    return [
        {"method": method, **{f"above {at:g}": share for at, share in zip(PROFILE_AT, found, strict=True)}}
        for method, found in shares.items()
    ]


def _row(made: Sequence[BenchmarkComparison], scores: Scores, among: Scores, aggregate: Aggregate, method: str) -> dict[str, Any]:
    """Return what is said of a method over some benchmarks, beside the baseline on the same."""
    baseline = _baseline(made)
    words = [word_for(row) for one in made for row in one.rows if row.method == method]
    return {
        "method": method,
        "benchmarks": len(among),
        "iqm": aggregate.iqm,
        "low": aggregate.low,
        "high": aggregate.high,
        "iqm_of_baseline": _iqm(among, baseline),
        "better_than_baseline": None if baseline in (None, method) else probability_of_improvement(scores, method, str(baseline)),
        "mean_rank": None,
        "won": words.count("better"),
        "tied": words.count("tie"),
        "lost": words.count("worse"),
        "not_decided": sum(word not in ("better", "tie", "worse", "baseline", "no result") for word in words),
    }


def _baseline(made: Sequence[BenchmarkComparison]) -> str | None:
    """Return the baseline; None where benchmarks have different ones."""
    baselines = {one.baseline for one in made}
    return baselines.pop() if len(baselines) == 1 else None


def _iqm(among: Mapping[str, Mapping[str, Sequence[float]]], method: str | None) -> float | None:
    """Return the aggregate of a method on benchmarks that it has all run; None elsewhere."""
    if method is None or not all(one.get(method) for one in among.values()):
        return None
    return interquartile_mean([value for one in among.values() for value in one[method]])
