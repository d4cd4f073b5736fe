"""Methods over several benchmarks: normalised scores, interquartile mean, probability of improvement, performance profile, ranks. Pure.

After Agarwal et al., Deep RL at the edge of the statistical precipice, 2021 (IQM, stratified bootstrap, profiles), and Demsar, Statistical
comparisons of classifiers over multiple data sets, 2006 (ranks, Friedman's test). Pairs of methods are compared by Wilcoxon's test with
Holm's correction, never by mean ranks (Nemenyi), as those of two methods depend on which others take part (Benavoli et al. 2016).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarking.analysis.permutations import holm
from definitions.schema import Mode

_DRAWS = 2_000
_DIAGRAM_FROM = 5
"""Benchmarks from which on a critical-difference diagram says something."""

Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""Benchmark -> method -> its values, one a seed."""


def normalised(scores: Scores, modes: Mapping[str, Mode]) -> Scores:
    """Return scores from 0 to 1, more being better: 0 is the worst and 1 the best value of any method and seed on that benchmark."""
    found: dict[str, dict[str, list[float]]] = {}
    for benchmark, methods in scores.items():
        everything = [value for values in methods.values() for value in values]
        low, high = min(everything), max(everything)
        sign = 1.0 if modes[benchmark] == "max" else -1.0
        worst, span = (low if sign > 0 else high), high - low
        # All alike: nobody is better there, which must not count for or against anybody.
        found[benchmark] = {
            method: [sign * (value - worst) / span if span else 1.0 for value in values] for method, values in methods.items()
        }
    return found


def interquartile_mean(values: Sequence[float]) -> float:
    """Return the mean of the middle half; a quarter of (n,) values is cut off at each end, a value in part where the quarter ends in it."""
    weights = _middle_half(len(values))
    return math.fsum(weight * value for weight, value in zip(weights, sorted(values), strict=True)) / math.fsum(weights)


def _middle_half(n: int) -> list[float]:
    """Return how much of each of n ordered values is in the middle half."""
    cut = n / 4
    return [min(1.0, max(0.0, index + 1 - cut), max(0.0, n - cut - index)) for index in range(n)]


@dataclass(frozen=True)
class Aggregate:
    """One method over all benchmarks: the interquartile mean of its normalised scores, and its interval (bootstrap within benchmarks)."""

    iqm: float
    low: float
    high: float


def aggregates(scores: Scores, confidence: float = 0.95, seed: int = 0) -> dict[str, Aggregate]:
    """Return each method's aggregate of normalised scores; seeds are drawn anew within each benchmark, as benchmarks are not a sample."""
    import numpy as np

    generator = np.random.default_rng(seed)
    found = {}
    for method in methods_of(scores):
        strata = [np.asarray(methods[method], dtype=np.float64) for methods in scores.values() if methods.get(method)]
        drawn = np.concatenate([values[generator.integers(0, len(values), size=(_DRAWS, len(values)))] for values in strata], axis=1)
        weights = np.asarray(_middle_half(drawn.shape[1]))
        iqms = np.sort(drawn, axis=1) @ weights / weights.sum()
        low, high = np.quantile(iqms, [(1 - confidence) / 2, (1 + confidence) / 2])
        found[method] = Aggregate(interquartile_mean([float(value) for values in strata for value in values]), float(low), float(high))
    return found


def methods_of(scores: Scores) -> list[str]:
    """Return the methods that have values on any benchmark, in the order in which they come."""
    return list(dict.fromkeys(method for methods in scores.values() for method, values in methods.items() if values))


def common_scores(scores: Scores) -> Scores:
    """Return the part of some scores in which every method has run every benchmark: only there do means over benchmarks compare.

    All benchmarks and the methods that ran them all, where those are two at least; else all methods, on the benchmarks that all have run.
    """
    methods = methods_of(scores)
    whole = [method for method in methods if all(found.get(method) for found in scores.values())]
    kept = whole if len(whole) > 1 else methods
    return {
        benchmark: {method: found[method] for method in kept}
        for benchmark, found in scores.items()
        if all(found.get(name) for name in kept)
    }


def probability_of_improvement(scores: Scores, first: str, second: str) -> float | None:
    """Return how probably a run of the first beats one of the second on the same benchmark, ties half; None without a common one.

    The mean over benchmarks of the Mann-Whitney statistic divided by the number of pairs.
    """
    shares = []
    for methods in scores.values():
        mine, theirs = methods.get(first, ()), methods.get(second, ())
        if mine and theirs:
            won = math.fsum(1.0 if one > other else 0.5 if one == other else 0.0 for one in mine for other in theirs)
            shares.append(won / (len(mine) * len(theirs)))
    return math.fsum(shares) / len(shares) if shares else None


def performance_profile(scores: Scores, method: str, at: Sequence[float]) -> list[float]:
    """Return which share of a method's runs has a score above each of (n,) values, every benchmark weighing the same."""
    strata = [methods[method] for methods in scores.values() if methods.get(method)]
    return [math.fsum(sum(value > x for value in values) / len(values) for values in strata) / len(strata) for x in at]


def mean_ranks(scores: Scores) -> dict[str, float]:
    """Return each method's mean rank by the mean score of each benchmark that all have run; 1 is the best, equal ones share theirs.

    Of methods that did not run all, see `common_scores`.
    """
    methods = methods_of(scores)
    ranks: dict[str, list[float]] = {method: [] for method in methods}
    for means in _means(scores, methods):
        for method, mean in means.items():
            better = sum(other > mean for other in means.values())
            equal = sum(other == mean for other in means.values())
            ranks[method].append(better + (equal + 1) / 2)
    return {method: math.fsum(found) / len(found) for method, found in ranks.items() if found}


def friedman_p(scores: Scores) -> float | None:
    """Return the p value of "no method differs" over benchmarks (Friedman 1937); None below three methods or five common benchmarks."""
    methods = methods_of(scores)
    rows = _means(scores, methods)
    if len(methods) < 3 or len(rows) < _DIAGRAM_FROM:
        return None
    if all(len({*row.values()}) == 1 for row in rows):
        return 1.0
    from scipy.stats import friedmanchisquare

    p = float(friedmanchisquare(*([row[method] for row in rows] for method in methods)).pvalue)
    return 1.0 if math.isnan(p) else p


def wilcoxon_ps(scores: Scores) -> dict[tuple[str, str], float]:
    """Return the p value of each pair of methods over benchmarks (Wilcoxon 1945, exact), adjusted by Holm; empty below five benchmarks."""
    methods = methods_of(scores)
    rows = _means(scores, methods)
    pairs = [(first, second) for index, first in enumerate(methods) for second in methods[index + 1 :]]
    if len(rows) < _DIAGRAM_FROM or not pairs:
        return {}
    from scipy.stats import wilcoxon

    found = []
    for first, second in pairs:
        gaps = [row[first] - row[second] for row in rows]
        found.append(float(wilcoxon(gaps).pvalue) if any(gaps) else 1.0)
    return dict(zip(pairs, holm(found), strict=True))


def cliques(scores: Scores, level: float = 0.05) -> list[tuple[str, ...]]:
    """Return the groups of methods, by rank, within which no pair differs: the bars of a critical-difference diagram; maximal ones only.

    Empty where fewer than five benchmarks were run by all: nothing was tested then, which is not the same as no difference.
    """
    ps = wilcoxon_ps(scores)
    if not ps:
        return []
    ranks = mean_ranks(scores)
    ordered = sorted(ranks, key=lambda method: ranks[method])
    groups: list[tuple[str, ...]] = []
    for begin in range(len(ordered)):
        end = begin + 1
        while end < len(ordered) and all(_p(ps, ordered[other], ordered[end]) > level for other in range(begin, end)):
            end += 1
        group = tuple(ordered[begin:end])
        if len(group) > 1 and not any(set(group) <= set(known) for known in groups):
            groups.append(group)
    return groups


def _p(ps: Mapping[tuple[str, str], float], first: str, second: str) -> float:
    return ps.get((first, second), ps.get((second, first), 1.0))


def _means(scores: Scores, methods: Sequence[str]) -> list[dict[str, float]]:
    """Return, for each benchmark that all methods have run, each one's mean."""
    return [
        {method: math.fsum(found[method]) / len(found[method]) for method in methods}
        for found in scores.values()
        if all(found.get(method) for method in methods)
    ]
