"""Studies made up from distributions that are known, to count how often what is said of them is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarking.analysis.effects import Word
from benchmarking.comparison.methods import ComparisonQuestion, compare_methods
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


def says_better(runs: Sequence[ComparedRun], looks: int = 0) -> bool:
    """Return whether "better" (or worse) stands anywhere in the comparison of a study: of values or of when a target was reached."""
    rows = compare_methods(runs, ComparisonQuestion(looks=looks)).rows
    return any(found is not None and found.word is Word.BETTER for row in rows for found in (row.final, row.sooner))


def found_better(draw: Draw, seed: int, seeds: Sequence[int], ahead: float = 0.0) -> list[bool]:
    """Return at each look at a study, with ever more seeds, whether "better" was said.

    Args:
        draw: as in `made_study`.
        seed: of the study's numbers.
        seeds: how many of each method there were at each look.
        ahead: as in `made_study`.
    """
    runs = made_study(draw, np.random.default_rng(seed), seeds[-1], ahead)
    return [says_better([one for one in runs if one.number < many], looks) for looks, many in enumerate(seeds)]
