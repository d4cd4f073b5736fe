"""Comparisons in words: a verdict a line, effect first. Pure."""

from __future__ import annotations

from benchmarking.analysis.effects import Contrast, Finding, Scale, Word
from benchmarking.comparison.methods import BenchmarkComparison, MethodRow
from benchmarking.comparison.runs import Axis
from benchmarking.report.text import dollars, duration, shown


def verdicts(made: BenchmarkComparison) -> list[str]:
    """Return a sentence for each method but the baseline, and those that say what was left out."""
    lines = []
    for row in made.rows:
        if row.final is not None:
            lines.append(_verdict(made, row, row.final))
        if row.sooner is not None and row.sooner.word is Word.BETTER:
            lines.append(_sooner(made, row, row.sooner))
    return lines + _caveats(made)


def budget(made: BenchmarkComparison) -> str:
    """Return the common budget in words, e.g. `after 20 trials`."""
    if made.axis is Axis.TRIALS:
        return f"after {made.at:g} trials"
    return f"after {dollars(made.at)}" if made.axis is Axis.COST else f"after {_time(made.at)}"


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 60 else duration(seconds)


def _verdict(made: BenchmarkComparison, row: MethodRow, found: Finding) -> str:
    pair = f"{row.method} and {made.baseline}"
    measured = found.contrast
    match found.word:
        case Word.BETTER:
            first, second = (row.method, made.baseline) if found.ahead else (made.baseline, row.method)
            lead = f"{made.objective} {_lead(measured, found.ahead)}"
            return f"{first} is better than {second}: {lead} {budget(made)} ({_evidence(made, found)})."
        case Word.TIE:
            return f"{pair}: a tie in {made.objective} {budget(made)} ({_evidence(made, found)})."
        case Word.ONE_RUN_ONLY:
            counts = f"{measured.counts[0]} in common" if measured.paired else f"{measured.counts[0]} and {measured.counts[1]}"
            return f"{pair}: one run only ({counts}), so nothing is said of {made.objective}; more seeds would."
    more = f"about {found.more} seeds would decide" if found.more is not None else "1,000 seeds would not decide it"
    return f"{pair}: not decided in {made.objective} {budget(made)}, {more} ({_lead_of(row.method, measured)}; {_evidence(made, found)})."


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
    return f"{size if ahead else 1 / size:.3g} times better"


def _lead_of(method: str, measured: Contrast) -> str:
    ahead = (measured.lead or 0.0) >= 0
    text = _lead(measured, ahead)
    return f"{method} {text}" if ahead else f"{method} {text.replace('better', 'worse')}"


def _evidence(made: BenchmarkComparison, found: Finding) -> str:
    measured = found.contrast
    parts = []
    if measured.bounds is not None:
        low, high = measured.bounds
        if not found.ahead and measured.scale is Scale.RATIO and low > 0:
            low, high = 1 / high, 1 / low
        elif not found.ahead and measured.scale is Scale.DIFFERENCE:
            low, high = -high, -low
        parts.append(f"{100 * made.confidence:.3g} % interval {shown(low)} to {shown(high)}")
    parts.append(f"{measured.counts[0]} pairs" if measured.paired else f"{measured.counts[0]} and {measured.counts[1]} runs")
    if found.p is not None:
        parts.append(f"p = {found.p:.2g}")
    elif found.word is not Word.ONE_RUN_ONLY:
        parts.append("too few for a test")
    return ", ".join(parts)


def _caveats(made: BenchmarkComparison) -> list[str]:
    lines = []
    for row in made.rows:
        if row.missing:
            seeds = ", ".join(map(str, row.missing))
            lines.append(
                f"{row.method} had no result {budget(made)} with {'seed' if len(row.missing) == 1 else 'seeds'} {seeds}: left out."
            )
        for seed, same in row.copies.items():
            seeds = ", ".join(map(str, same))
            lines.append(f"{row.method} ran exactly the same with seeds {seed}, {seeds}: counted once.")
    return lines
