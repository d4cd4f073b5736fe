"""Comparisons in words: a verdict a line, effect first. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarking.analysis.effects import Contrast, Finding, Scale, Word
from benchmarking.comparison.budgets import FirstToEnd, amount
from benchmarking.comparison.configurations import ConfigurationComparison
from benchmarking.comparison.methods import BenchmarkComparison, MethodRow
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis
from benchmarking.report.text import shown
from definitions.parts import is_money

_MOST = 12
"""Groups of configurations that sentences are made of; the rows have all."""

_IN_PERCENT, _FAR = 1.05, 3.0
"""Below which factor a lead is said in per cent, and from which on an end of its interval is not."""

_BILLED = ("", "real")
_NO_BILL = {"emulated": "an emulator counts them, nobody is billed them"}
"""What is said of dollars of a kind; of all others that nobody is billed them."""


def verdicts(made: BenchmarkComparison) -> list[str]:
    """Return a sentence for each method but the baseline, and those that say what was left out."""
    lines = []
    for row in made.rows:
        if row.final is not None:
            lines.append(_verdict(made, row, row.final))
        if row.sooner is not None and not row.emulated and row.sooner.word is Word.BETTER:
            lines.append(_sooner(made, row, row.sooner))
    return lines + _caveats(made)


def budget(made: BenchmarkComparison) -> str:
    """Return the common budget in words, e.g. `after 20 trials`."""
    return f"{'up to' if made.axis is Axis.LEVEL else 'after'} {amount(made.at, made.axis, made.dollars)}"


def objective_text(made: BenchmarkComparison | ConfigurationComparison) -> str:
    """Return the name of the objective; dollars that are not real are called so."""
    return f"{made.objective} ({made.dollars})" if is_money(made.objective) and made.dollars not in _BILLED else made.objective


def family(made: Sequence[BenchmarkComparison]) -> list[str]:
    """Return what is said of the comparisons that were judged together; nothing where there is none."""
    if not made or not made[0].family:
        return []
    size, level = made[0].family, 100 * (1 - made[0].confidence)
    where = "" if len(made) == 1 else f" on {len(made)} benchmarks"
    together = "one comparison" if size == 1 else f"{size} comparisons{where}, one family (Holm)"
    return [
        f'{together}: where nothing differs, "better" stands anywhere in at most {level:.2g} % of such studies; '
        "who was sooner is asked of those alone that are better"
    ]


def legend(made: Sequence[BenchmarkComparison]) -> list[str]:
    """Return which statistic each figure of the rows is: value, lead, their intervals, and what kind of dollars."""
    if not made:
        return []
    percent = f"{100 * made[0].confidence:.3g} %"
    aggregate = made[0].aggregate
    value = f"{aggregate} of the seeds, and the {percent} interval of their mean"
    if aggregate == "mean":
        value = f"the seeds' mean and its {percent} interval"
    of = {Scale.RATIO: "geometric mean of the pairs' ratios", Scale.DIFFERENCE: "mean of the pairs' differences"}
    where = {scale: [one.benchmark for one in made if one.scale is scale] for scale in of}
    named = [of[scale] + (f" ({_some(names)})" if len(names) < len(made) else "") for scale, names in where.items() if names]
    lines = [f"value: {value}; lead, its interval and p: {', '.join(named)}"]
    for kind in dict.fromkeys(one.dollars for one in made if one.dollars not in _BILLED and _shows_dollars(one)):
        said = _NO_BILL.get(kind, "nobody is billed them")
        names = [one.benchmark for one in made if one.dollars == kind]
        whose = f" of {_some(names)}" if len(names) < len(made) else ""
        lines.append(f"dollars{whose} are {kind}: {said}")
    return lines


def _some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _shows_dollars(made: BenchmarkComparison) -> bool:
    return made.axis is Axis.COST or is_money(made.objective) or any(row.dollars is not None for row in made.rows)


def configuration_verdicts(made: ConfigurationComparison) -> list[str]:
    """Return a sentence for each group of configurations but the first, at most a dozen, and what pairs them or does not."""
    if made.ranking is None:
        return [f"nothing was completed, so nothing is said of {made.objective}."]
    first, lines = made.ranking.leader, []
    objective = objective_text(made)
    for one in made.ranking.comparisons[:_MOST]:
        names = made.names[first.evaluation], made.names[one.other.evaluation]
        ahead = one.difference >= 0 if one.factor is None else one.factor >= 1
        size, ends = (one.difference, one.interval) if one.factor is None else (one.factor, one.interval)
        if not ahead:
            size, ends = _turned(one.factor is not None, size), _turned_ends(one.factor is not None, ends)
            names = names[1], names[0]
        gap = f"better by {shown(size)}" if one.factor is None else times_better(size)
        interval = "" if ends is None else f"{_interval(made.confidence, ends, None if one.factor is None else size)}, "
        how = f"; {one.test}" if one.test else ""
        p = "" if one.p is None else f", p = {one.p:.2g}{how}"
        evidence = f"{interval}{len(first.values)} and {len(one.other.values)} {made.unit}{p}"
        match one.word:
            case Word.BETTER:
                lines.append(f"{names[0]} is better than {names[1]}: {objective} {gap} ({evidence}).")
            case Word.TIE:
                lines.append(f"{names[0]} and {names[1]}: a tie in {objective} ({evidence}).")
            case Word.ONE_RUN_ONLY:
                lines.append(f"{names[0]} and {names[1]}: measured once, so nothing is said of {objective}; more repeats would.")
            case _ if one.emulated:
                lines.append(f"{names[0]} and {names[1]}: not decided: emulated, in {objective} ({gap}).")
            case _:
                more = f", about {one.more} {made.unit} would decide" if one.more is not None else ""
                lines.append(f"{names[0]} and {names[1]}: not decided in {objective}{more} ({gap}; {evidence}).")
    if len(made.ranking.comparisons) > _MOST:
        lines.append(f"and {len(made.ranking.comparisons) - _MOST} more, see the rows.")
    if not made.ranking.comparisons:
        lines.append(f"only {made.names[first.evaluation]} was completed: {objective} = {shown(first.mean)}.")
    if made.differing:
        lines.append(f"nothing pairs them: they were measured at different {', '.join(made.differing)}, which is part of the difference.")
    return lines


def looked(question: ComparisonQuestion) -> list[str]:
    """Return what is said of a study that was looked at and then extended; nothing of others."""
    if not question.looks:
        return []
    times = "once" if question.looks == 1 else f"{question.looks} times"
    return [
        f"This study was looked at {times} and then extended, so that each comparison is judged at {100 * question.judged_level:.2g} % "
        f"instead of {100 * question.level:.2g} %, and intervals are wider."
    ]


def _turned(ratio: bool, value: float) -> float:
    return (1 / value if value else math.inf) if ratio else -value


def _turned_ends(ratio: bool, ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (_turned(ratio, ends[1]), _turned(ratio, ends[0]))


def _verdict(made: BenchmarkComparison, row: MethodRow, found: Finding) -> str:
    pair = f"{row.method} and {made.baseline}"
    measured, objective = found.contrast, objective_text(made)
    if row.emulated:
        return f"{pair}: not decided: emulated, in {objective} {budget(made)} ({_lead_of(row.method, measured)})."
    match found.word:
        case Word.BETTER:
            first, second = (row.method, made.baseline) if found.ahead else (made.baseline, row.method)
            lead = f"{objective} {_lead(measured, found.ahead)}"
            return f"{first} is better than {second}: {lead} {budget(made)} ({_evidence(made, found)})."
        case Word.TIE:
            lead = "" if measured.lead == 0.0 else f"{_lead_of(row.method, measured)}; "
            return f"{pair}: a tie in {objective} {budget(made)} ({lead}{_evidence(made, found)})."
        case Word.ONE_RUN_ONLY:
            return f"{pair}: {_too_few(made, row)}"
        case Word.SAME:
            alike = f"with {_same_of(measured)} both had done the same, as within a start that they share"
            return f"{pair}: same by construction {budget(made)}: {alike}; nothing is said of {objective}, a larger budget would tell."
    would = "show a tie" if found.nears_tie else "decide"
    more = f"about {found.more} seeds would {would}" if found.more is not None else "1,000 seeds would not decide it"
    return f"{pair}: not decided in {objective} {budget(made)}, {more} ({_lead_of(row.method, measured)}; {_evidence(made, found)})."


def _too_few(made: BenchmarkComparison, row: MethodRow) -> str:
    """Return why nothing is said of two methods."""
    baseline = made.rows[0]
    nothing = [one.method for one in (row, baseline) if not one.finals]
    if nothing:
        return f"nothing is said of {objective_text(made)}, as {' and '.join(nothing)} had no result {budget(made)}."
    common = row.finals.keys() & baseline.finals.keys()
    counts = f"{row.method} has {len(row.finals)}, {baseline.method} {len(baseline.finals)}, in common {len(common)}"
    return f"one run only ({counts}), so nothing is said of {objective_text(made)}; more seeds would."


def _same_of(measured: Contrast) -> str:
    pairs = measured.counts[0]
    return f"all {pairs} pairs of seeds" if measured.same == pairs else f"{measured.same} of {pairs} pairs of seeds"


def _sooner(made: BenchmarkComparison, row: MethodRow, found: Finding) -> str:
    first, second = (row, made.rows[0]) if found.ahead else (made.rows[0], row)
    size = found.contrast.size or 1.0
    factor = size if found.ahead else 1 / size
    never = sum(value is None for value in second.reach.values())
    least = "at least " if never else ""
    sooner = f"{least}{factor:.2g} times sooner" if found.contrast.scale is Scale.RATIO else "sooner"
    late = f"; {never} of {len(second.reach)} seeds of {second.method} never did" if never else ""
    return f"{first.method} reached {shown(made.target)} {sooner} than {second.method} ({_evidence(made, found)}{late})."


def _lead(measured: Contrast, ahead: bool) -> str:
    size = measured.size
    if size is None:
        return ""
    if measured.scale is Scale.DIFFERENCE:
        return f"better by {shown(abs(size))}"
    return times_better(size if ahead else 1 / size)


def times_better(factor: float) -> str:
    """Return in words how many times better something is; by less than a twentieth it is said in per cent."""
    return f"{factor:.3g} times better" if factor >= _IN_PERCENT else f"better by {100 * (factor - 1):.2g} %"


def _interval(confidence: float, ends: tuple[float, float], factor: float | None) -> str:
    """Return the interval of a lead in the words of the lead: in per cent where that is said so.

    Args:
        confidence: of the interval.
        ends: (low, high), from the side that the lead is told from.
        factor: the lead from that side; None for a difference.
    """
    low, high = ends
    words = f"{shown(low)} to {shown(high)}"
    if factor is not None and factor < _IN_PERCENT:
        # Far ends would be thousands of per cent.
        words = f"{100 * (low - 1):.2g} % to {100 * (high - 1):.2g} %" if high < _FAR else f"of the factor {words}"
    return f"{100 * confidence:.3g} % interval {words}"


def _lead_of(method: str, measured: Contrast) -> str:
    if measured.lead == 0.0:
        return "no lead"
    ahead = (measured.lead or 0.0) >= 0
    text = _lead(measured, ahead)
    return f"{method} {text}" if ahead else f"{method} {text.replace('better', 'worse')}"


def _evidence(made: BenchmarkComparison, found: Finding) -> str:
    measured = found.contrast
    parts = []
    if measured.lead == 0.0 and measured.spread == 0.0:
        parts.append("all equal")
    elif measured.bounds is not None:
        low, high = measured.bounds
        if not found.ahead and measured.scale is Scale.RATIO and low > 0:
            low, high = 1 / high, 1 / low
        elif not found.ahead and measured.scale is Scale.DIFFERENCE:
            low, high = -high, -low
        size = measured.size if measured.scale is Scale.RATIO else None
        factor = size if size is None or found.ahead else 1 / size
        parts.append(_interval(made.confidence, (low, high), factor))
    runs = f"{measured.counts[0]} and {measured.counts[1]} runs without a seed in common"
    parts.append(f"{measured.counts[0]} pairs" if measured.paired else runs)
    if found.p is not None:
        parts.append(f"p = {found.p:.2g}")
    elif found.word is not Word.ONE_RUN_ONLY:
        parts.append("too few for a test")
    return ", ".join(parts)


def _caveats(made: BenchmarkComparison) -> list[str]:
    lines = []
    if made.first_to_end is not None:
        lines.append(_cut_short(made, made.first_to_end))
    for row in made.rows:
        if row.final is not None and row.final.word is not Word.SAME and row.final.contrast.same:
            lines.append(f"{row.method} and {made.baseline}: in {_same_of(row.final.contrast)} both had done the same {budget(made)}.")
        if row.missing:
            seeds = ", ".join(map(str, row.missing))
            lines.append(
                f"{row.method} had no result {budget(made)} with {'seed' if len(row.missing) == 1 else 'seeds'} {seeds}: left out."
            )
        for seed, same in row.copies.items():
            seeds = ", ".join(map(str, same))
            lines.append(f"{row.method} ran exactly the same with seeds {seed}, {seeds}: counted once.")
    return lines


def _cut_short(made: BenchmarkComparison, first: FirstToEnd) -> str:
    """Return whose end is the budget of all, and how much of the others is not compared for it."""
    alike = f" and {first.alike} more" if first.alike else ""
    ended = f" ({first.ended})" if first.ended else " (it runs, or was killed)"
    ends = [amount(value, made.axis, made.dollars) for value in (made.at, first.median)]
    further = "another went to" if first.further == 1 else f"{first.further} others went further, half of them to"
    # The line begins with the benchmark where there are several.
    title = first.title.removeprefix(f"{made.benchmark} x ")
    return f"{title}{alike} went least far{ended}, so all are compared at {ends[0]}: {further} {ends[1]} or more (see --at)."
