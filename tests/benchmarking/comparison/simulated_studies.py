"""Studies made up from distributions that are known, to count how often what is said of them is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarking.analysis.effects import Word, decide
from benchmarking.comparison.measured_methods import measure_methods
from benchmarking.comparison.methods import compare_benchmarks
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import ComparedRun
from tests.benchmarking.comparison.made_runs import run

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

DISTRIBUTIONS: Mapping[str, tuple[Draw, float]] = {
    "normal": (lambda generator, n: generator.standard_normal(n), 0.0),
    "t3": (lambda generator, n: generator.standard_t(3, n), 0.0),
    "lognormal": (lambda generator, n: np.exp(generator.standard_normal(n)), math.exp(0.5)),
}
"""Name -> how values are drawn, and their mean."""

METHODS = ("RS", "TPE", "BO")
TRIALS = 10


def made_study(draw: Draw, generator: np.random.Generator, seeds: int, ahead: float = 0.0) -> list[ComparedRun]:
    """Return a study of three methods in ten trials; what a seed shares among its methods pairs them.

    Args:
        draw: of the trials' values.
        generator: of all numbers.
        seeds: of each method.
        ahead: by how many of the trials' standard deviations the last method is better; 0 where all are alike.
    """
    shared = generator.standard_normal(seeds)
    return [
        run(method, seed, [*(20.0 + shared[seed] + draw(generator, TRIALS) - (ahead if method == METHODS[-1] else 0.0))])
        for seed in range(seeds)
        for method in METHODS
    ]


def says_better(studies: Sequence[Sequence[ComparedRun]], looks: int = 0) -> bool:
    """Return whether "better" (or worse) stands anywhere in the comparison of a study: of values or of when a target was reached.

    Args:
        studies: the runs on each benchmark.
        looks: how often it was looked at before it was extended.
    """
    found = compare_benchmarks([measure_methods(runs, ComparisonQuestion(looks=looks)) for runs in studies])
    said = [finding for one in found for row in one.rows for finding in (row.final, row.sooner)]
    return any(finding is not None and finding.word is Word.BETTER for finding in said)


def says_sooner(studies: Sequence[Sequence[ComparedRun]], *, open_gate: bool) -> bool:
    """Return whether "sooner" is said anywhere in the comparison of a study.

    Args:
        studies: the runs on each benchmark.
        open_gate: whether it is asked of all, as if the final values of all were decided; else of those alone whose are.
    """
    measured = [measure_methods(runs, ComparisonQuestion()) for runs in studies]
    if not open_gate:
        said = [row.sooner for one in compare_benchmarks(measured) for row in one.rows]
        return any(finding is not None and finding.word is Word.BETTER for finding in said)
    question = measured[0].question
    waits = [one.waits(method, 1 - question.judged_level) for one in measured for method in one.leads]
    return any(finding.word is Word.BETTER for finding in decide(waits, question.threshold, question.judged_level, plan=False))


def found_sooner(draw: Draw, seed: int, seeds: int, ahead: float = 0.0, benchmarks: int = 1, *, open_gate: bool = False) -> bool:
    """Return whether "sooner" was said of a study; see `found_better`."""
    generator = np.random.default_rng(seed)
    return says_sooner([made_study(draw, generator, seeds, ahead) for _ in range(benchmarks)], open_gate=open_gate)


def found_better(draw: Draw, seed: int, seeds: Sequence[int], ahead: float = 0.0, benchmarks: int = 1) -> list[bool]:
    """Return at each look at a study, with ever more seeds, whether "better" was said.

    Args:
        draw: as in `made_study`.
        seed: of the study's numbers.
        seeds: how many of each method there were at each look.
        ahead: as in `made_study`.
        benchmarks: that the study has, each with numbers of its own.
    """
    generator = np.random.default_rng(seed)
    studies = [made_study(draw, generator, seeds[-1], ahead) for _ in range(benchmarks)]
    return [says_better([[one for one in runs if one.number < many] for runs in studies], looks) for looks, many in enumerate(seeds)]
