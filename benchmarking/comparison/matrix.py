"""Each method against each other one: on how many benchmarks it won, tied and lost. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.analysis.effects import Word, decide
from benchmarking.comparison.measured_methods import lead_over
from benchmarking.comparison.methods import BenchmarkComparison
from benchmarking.comparison.question import ComparisonQuestion

WON, LOST = "won", "lost"


def words_of_pairs(compared: Sequence[BenchmarkComparison], question: ComparisonQuestion) -> dict[tuple[str, str], list[str]]:
    """Return what each pair of methods came to on each benchmark that both have values on: from the side of the first, and of the second.

    All pairs on all benchmarks are one family, so that fewer are decided than against the baseline alone.

    Args:
        compared: a comparison for each benchmark.
        question: what was asked: threshold and level.

    Returns:
        (method, other method) -> `won`, `lost`, or another word of `effects.Word`, one a benchmark.
    """
    pairs, leads = [], []
    for made in compared:
        finals = {row.method: row.finals for row in made.rows if row.finals}
        for a, b in itertools.combinations(finals, 2):
            pairs.append((a, b))
            done = (made.done[a], made.done[b])
            leads.append(lead_over(finals[a], finals[b], done, made.mode, scale=made.scale, confidence=made.confidence))
    words: dict[tuple[str, str], list[str]] = {}
    for (first, second), found in zip(pairs, decide(leads, question.threshold, question.judged_level, plan=False), strict=True):
        won = found.word is Word.BETTER
        words.setdefault((first, second), []).append(WON if won and found.ahead else LOST if won else str(found.word))
        words.setdefault((second, first), []).append(LOST if won and found.ahead else WON if won else str(found.word))
    return words


def counts_of(words: Sequence[str]) -> str:
    """Return benchmarks won, tied and lost, and in brackets those that are neither: `2, 1, 0 (1)`; `-` for none."""
    if not words:
        return "-"
    open_ones = sum(word not in (WON, LOST, Word.TIE) for word in words)
    return f"{words.count(WON)}, {words.count(str(Word.TIE))}, {words.count(LOST)}" + (f" ({open_ones})" if open_ones else "")


def matrix_rows(compared: Sequence[BenchmarkComparison], question: ComparisonQuestion) -> list[Mapping[str, Any]]:
    """Return a row for each method with a column for each: the row's benchmarks won, tied and lost against the column's.

    Arguments as for `words_of_pairs`; empty for fewer than two methods.
    """
    methods = list(dict.fromkeys(row.method for made in compared for row in made.rows))
    if len(methods) < 2:
        return []
    words = words_of_pairs(compared, question)
    return [
        {"method": row, **{column: "" if row == column else counts_of(words.get((row, column), ())) for column in methods}}
        for row in methods
    ]
