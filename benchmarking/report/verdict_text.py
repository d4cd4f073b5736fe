"""A verdict in words: which configuration leads, by how much, and whether the measurements can carry that. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.analysis.effects import Word
from benchmarking.analysis.verdict import Comparison, Ranking
from benchmarking.report.text import configuration_text, shown
from definitions.parts import is_money


def verdict_sentence(verdict: Ranking | None, primary: str, keys: Sequence[str], price_label: str) -> str:
    """Return the verdict on the primary objective in a sentence or two.

    Args:
        verdict: None where no trial was completed.
        primary: name of the objective.
        keys: of the configuration that tell its leader from others.
        price_label: what kind of dollars it counts, e.g. `nominal`.
    """
    if verdict is None:
        return f"No trial was completed, so there is no verdict on {primary}."
    label = f" ({price_label} price)" if price_label and is_money(primary) else ""
    leader = f"configuration {verdict.leader.evaluation} ({configuration_text(verdict.leader.configuration, keys)})"
    value = f"{primary} = {shown(verdict.leader.mean)}{label}"
    if verdict.comparisons and all(comparison.emulated for comparison in verdict.comparisons):
        return f"Not decided: emulated. {leader[0].upper()}{leader[1:]} has {value}, but an emulation's speed is not the platform's."
    if not verdict.comparisons:
        return f"Only {leader} was completed: {value}."
    nearest, tied = verdict.comparisons[0], verdict.tied
    beside = [comparison for comparison in verdict.comparisons if comparison.emulated]
    if beside:
        names = ", ".join(str(comparison.other.evaluation) for comparison in beside[:6]) + (", ..." if len(beside) > 6 else "")
        rest = Ranking(verdict.leader, tuple(comparison for comparison in verdict.comparisons if not comparison.emulated))
        return f"{verdict_sentence(rest, primary, keys, price_label)} Against {names} it is not decided: emulated."
    if nearest.interval is None:
        gap = _gap(nearest)
        return (
            f"Best seen: {leader}: {value}, {gap} than configuration {nearest.other.evaluation}. "
            "Each was measured once, so nothing says whether that is noise: --repeats 3 would."
        )
    if not tied:
        return f"Best: {leader}: {value}, {_gap(nearest)} than the next, configuration {nearest.other.evaluation}{_interval(nearest)}."
    names = ", ".join(str(comparison.other.evaluation) for comparison in tied[:6]) + (", ..." if len(tied) > 6 else "")
    open_ = "a tie" if all(comparison.word is Word.TIE for comparison in tied) else "not decided"
    if len(tied) == len(verdict.comparisons):
        against = f"({_gap(nearest)} than configuration {nearest.other.evaluation}{_interval(nearest)})"
        if open_ == "a tie":
            return f"A tie: {leader} leads with {value}, but none is worse by what would matter {against}."
        would = "More repeats would tell" if nearest.more is None else f"About {nearest.more} repeats of each would tell these two apart"
        return f"Not decided: {leader} leads with {value}, but its lead over every other lies within the noise {against}. {would}."
    first = next(comparison for comparison in verdict.comparisons if comparison.decided)
    return (
        f"{leader[0].upper()}{leader[1:]} leads: {value}. "
        f"It is {_gap(first)} than configuration {first.other.evaluation}{_interval(first)}; "
        f"against {names} it is {open_} (nearest: {_gap(tied[0])}{_interval(tied[0])})."
    )


def _gap(comparison: Comparison) -> str:
    if comparison.factor is not None and (comparison.factor < 1 or _factor(comparison.factor) == "1.00"):
        return "no better"
    if comparison.factor is not None:
        return f"{_factor(comparison.factor)}x better"
    return f"{shown(comparison.difference)} better" if comparison.difference > 0 else "no better"


def _factor(factor: float) -> str:
    return f"{factor:.2f}" if factor < 100 else f"{factor:.3g}"


def _interval(comparison: Comparison) -> str:
    if comparison.interval is None:
        return ""
    low, high = comparison.interval
    show = _factor if comparison.factor is not None else shown
    return f" (95 % interval {show(low)} to {show(high)})"
