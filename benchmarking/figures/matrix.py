"""Which method beats which on how many benchmarks, and the ranks of a critical-difference diagram. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarking.analysis.across_benchmarks import Scores, cliques, common_scores, friedman_p, mean_ranks, methods_of, performance_profile
from benchmarking.comparison.across import scores_of
from benchmarking.comparison.matrix import LOST, WON, counts_of, words_of_pairs
from benchmarking.comparison.methods import BenchmarkComparison
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.data import Curve, Figure, LinePanel, MatrixPanel, PlotAxis, PointGroup, PointPanel
from benchmarking.figures.short_names import changed, short_names

MOST_PANELS = 24
_PROFILE_STEPS = 101


def matrix_figure(compared: Sequence[BenchmarkComparison], question: ComparisonQuestion, *, is_split: bool = False) -> Figure:
    """Return wins, ties and losses of each method (row) against each other one (column), over benchmarks.

    All pairs of a matrix are one family, over its benchmarks, so that fewer are decided than against the baseline alone.

    Args:
        compared: a comparison for each benchmark.
        question: what was asked: threshold and level.
        is_split: whether a benchmark has several comparisons, each of which then has a panel of its own.
    """
    short = short_names([name for made in compared for name in (made.benchmark, *(row.method for row in made.rows))])
    groups = [(short[made.benchmark], [made]) for made in compared] if is_split else [("", compared)]
    panels = [panel for title, group in groups if (panel := _matrix(title, group, question, short)) is not None]
    if not panels:
        return Figure("matrix", "Wins, ties and losses", (), ("There is one method alone.",), changed(short))
    notes = [
        "Of the row against the column: benchmarks won, tied, lost; in brackets those not decided.",
        "All pairs of a matrix are judged as one family (Holm), so that fewer are decided than against the baseline alone.",
    ]
    notes += [f"The first {MOST_PANELS} of {len(panels)} comparisons; the tables have all."] if len(panels) > MOST_PANELS else []
    return Figure("matrix", "Wins, ties and losses", tuple(panels[:MOST_PANELS]), tuple(notes), changed(short))


def _matrix(
    title: str, compared: Sequence[BenchmarkComparison], question: ComparisonQuestion, short: Mapping[str, str]
) -> MatrixPanel | None:
    """Return the matrix of some comparisons; None where they are of one method."""
    methods = list(dict.fromkeys(row.method for made in compared for row in made.rows))
    if len(methods) < 2:
        return None
    words = words_of_pairs(compared, question)
    values = tuple(tuple(_score(words.get((row, column), ())) for column in methods) for row in methods)
    texts = tuple(tuple("" if row == column else counts_of(words.get((row, column), ())) for column in methods) for row in methods)
    names = tuple(short[method] for method in methods)
    return MatrixPanel(title, names, names, values, texts, PlotAxis("won less lost, a share of the benchmarks", better="max"))


def _score(words: Sequence[str]) -> float | None:
    return (words.count(WON) - words.count(LOST)) / len(words) if words else None


def ranks_figure(compared: Sequence[BenchmarkComparison], question: ComparisonQuestion, *, is_split: bool = False) -> Figure:
    """Return each method's mean rank over benchmarks, bars that join those that do not differ, and performance profiles.

    Bars (Wilcoxon's test with Holm's correction) are there from five benchmarks on (Demsar 2006; Benavoli et al. 2016). Profiles are shares
    of runs above a normalised score (Agarwal et al. 2021).

    Args:
        compared: a comparison for each benchmark.
        question: what was asked: the level.
        is_split: whether a benchmark has several comparisons, which are no sample of benchmarks.
    """
    short = short_names([row.method for made in compared for row in made.rows])
    if len(compared) < 2:
        return Figure("ranks", "Ranks over benchmarks", (), ("There is one benchmark alone.",), changed(short))
    if is_split:
        return Figure("ranks", "Ranks over benchmarks", (), ("Parts of one benchmark are no sample of benchmarks.",), changed(short))
    every = scores_of(compared)
    scores = common_scores(every)
    ranks = mean_ranks(scores)
    notes = []
    panels: list[PointPanel | LinePanel] = []
    if ranks:
        panels.append(_ranks(ranks, scores, question, short))
        p = friedman_p(scores)
        notes.append("Friedman's test takes three methods and five benchmarks." if p is None else f"Friedman's test: p = {p:.2g}.")
    else:
        notes.append("No benchmark was run by all methods.")
    places = [index / (_PROFILE_STEPS - 1) for index in range(_PROFILE_STEPS)]
    profiles = tuple(
        Curve(short[method], tuple(places), tuple(performance_profile(scores, method, places)), step=True, group=short[method])
        for method in methods_of(scores)
    )
    if profiles:
        share = PlotAxis("share of runs above it", better="max")
        panels.append(LinePanel("Performance profile", PlotAxis("normalised score"), share, profiles))
        notes.append("Normalised score: 0 is the worst and 1 the best value of any run on that benchmark.")
    left_out = [short[method] for method in methods_of(every) if method not in methods_of(scores)]
    if left_out and scores:
        notes.append(f"Of {len(every)} benchmarks not all were run by {', '.join(left_out)}: without a rank and a profile.")
    elif scores and len(scores) < len(every):
        notes.append(f"Of the {len(scores)} benchmarks that all methods ran, of {len(every)}.")
    return Figure("ranks", "Ranks over benchmarks", tuple(panels), tuple(notes), changed(short))


def _ranks(ranks: Mapping[str, float], scores: Scores, question: ComparisonQuestion, short: Mapping[str, str]) -> PointPanel:
    ordered = sorted(ranks, key=lambda method: ranks[method])
    names = tuple(short[method] for method in ordered)
    points = tuple(
        PointGroup(short[method], (ranks[method],), (short[method],), texts=(f"{short[method]}: {ranks[method]:.2f}",), group=short[method])
        for method in ordered
    )
    # A bar for each group within which no pair differs, a little below the last of its members.
    bars = tuple(
        Curve(
            f"no difference: {', '.join(short[method] for method in group)}",
            (ranks[group[0]], ranks[group[-1]]),
            (ordered.index(group[-1]) + 0.3,) * 2,
        )
        for group in cliques(scores, question.judged_level)
    )
    axis = PlotAxis("mean rank, 1 is the best", better="min")
    return PointPanel("Mean rank", axis, PlotAxis("method", categories=names), points, bars)
