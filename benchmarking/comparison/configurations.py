"""Configurations against each other on one benchmark, by what was measured of them: instance types, ingestions, anything swept. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarking.analysis.effects import Scale
from benchmarking.analysis.verdict import Measured, Ranking, judge, without_emulations
from benchmarking.comparison.alike import one_kind_of_dollars
from benchmarking.comparison.question import ComparisonQuestion, objective_of
from benchmarking.comparison.runs import RUN_KEYS, ComparedRun
from benchmarking.report.labels import label
from definitions.errors import UserError, did_you_mean
from definitions.parts import is_money, is_timed
from definitions.scalars import mean
from definitions.schema import Mode


@dataclass(frozen=True)
class ConfigurationComparison:
    """Groups of configurations, by the values of some keys.

    Args:
        benchmark: its name; `objective`, `mode`: what was compared; `keys`: by which it was grouped.
        names: number of a group in the ranking -> its values as text.
        ranking: the leader, or the baseline that was asked for, first; None where nothing was measured.
        unit: what one measurement is.
        has_baseline: whether the first was asked for, so that it need not be the best.
        differing: keys in which groups differ besides, where nothing was measured alike: then nothing pairs them.
        confidence: of all intervals together.
        dollars: their kind; empty where it is not known.
    """

    benchmark: str
    objective: str
    mode: Mode
    keys: Sequence[str]
    names: Mapping[int, str]
    ranking: Ranking | None
    unit: str
    has_baseline: bool
    differing: Sequence[str]
    confidence: float
    dollars: str = ""


def compare_configurations(runs: Sequence[ComparedRun], question: ComparisonQuestion, comparisons: int = 1) -> ConfigurationComparison:
    """Return how groups of configurations compare in what was measured of them.

    Where one configuration differs from the others in the keys alone, a measurement is a repeat; interleaved ones are pairs. Where the
    groups have several points in common (other parameters, seeds), a measurement is the mean of a point's repeats, and points are pairs.
    Where they have none in common, points are not paired.

    Args:
        runs: (n_runs,) of one benchmark.
        question: what is asked; its `by` are keys of configurations, or names in `RUN_KEYS`.
        comparisons: how many are made at once, each of another benchmark: they are one family, with an equal share of the level each.

    Raises:
        UserError: a key, an objective or a baseline that they have not.
    """
    keys = question.by
    objective = objective_of(runs[0], question.objective)
    mode = runs[0].objectives[objective]
    _check_keys(runs, keys)
    level = question.judged_level
    kind = one_kind_of_dollars(runs, objective if is_money(objective) else "")
    # Step 1: of each group, the values by point and repeat.
    grouped = _grouped(runs, keys, objective)
    groups = grouped.values
    ordered = sorted(groups, key=lambda group: grouped.shown[group])
    names = {number: grouped.shown[group] for number, group in enumerate(ordered)}
    # Step 2: what one measurement is, and whether measurements are pairs.
    everywhere = [point for point in groups[ordered[0]] if all(point in groups[group] for group in ordered)] if ordered else []
    anywhere = {point for group in ordered for point in groups[group]}
    place = {point: number for number, point in enumerate(sorted(anywhere, key=repr))}
    differing: list[str] = []
    if len(everywhere) == 1:
        # One point that all have: its repeats are what was measured.
        unit, paired = "repeats", all(run.interleaved for run in runs if run.trials)
        samples = [dict(groups[group][everywhere[0]]) for group in ordered]
    else:
        shared = [sum(point in groups[group] for group in ordered) > 1 for point in anywhere]
        unit, paired = "points", any(shared)
        samples = [
            {place[point]: mean([value for _, value in found]) or 0.0 for point, found in groups[group].items()} for group in ordered
        ]
        differing = [] if paired else sorted(key for key, texts in grouped.others.items() if len(texts) > 1)
    measured = [Measured(number, {"": names[number]}, [*sample.values()], [*sample]) for number, sample in enumerate(samples)]
    ranking = judge(
        measured, mode, 1 - level / comparisons, paired=paired, threshold=question.threshold, baseline=_baseline(names, question.baseline)
    )
    if is_timed(objective):
        ranking = without_emulations(ranking, lambda one: ", ".join(sorted(grouped.imitated[ordered[one.evaluation]])))
    return ConfigurationComparison(
        runs[0].benchmark, objective, mode, keys, names, ranking, unit, bool(question.baseline), differing, 1 - level, kind
    )


_Group = tuple[Hashable, ...]
"""The values of some keys, as text."""


@dataclass
class _Grouped:
    """What was measured, by groups.

    Args:
        values: of each group and point in it, each repeat and its value.
        shown: a group -> its values for people.
        others: a key beside those that groups are made by -> its values as text.
        imitated: a group -> what was imitated where it was measured.
    """

    values: dict[_Group, dict[Hashable, list[tuple[int, float]]]] = field(default_factory=dict)
    shown: dict[_Group, str] = field(default_factory=dict)
    others: dict[str, set[str]] = field(default_factory=dict)
    imitated: dict[_Group, set[str]] = field(default_factory=dict)


def _grouped(runs: Sequence[ComparedRun], keys: Sequence[str], objective: str) -> _Grouped:
    """Return what was measured of an objective, by groups; trials without it are left out."""
    found = _Grouped()
    for run in runs:
        for trial in run.trials:
            value = trial.values.get(objective)
            if value is None:
                continue
            known = {**run.about, **trial.configuration}
            group = tuple(repr(known.get(key)) for key in keys)
            found.shown.setdefault(group, label({key: run.stood_in.shown(key, known.get(key)) for key in keys}, keys))
            found.imitated.setdefault(group, set()).add(run.stood_in.emulation(trial.configuration))
            rest = {key: repr(value) for key, value in trial.configuration.items() if key not in keys}
            for key, text in rest.items():
                found.others.setdefault(key, set()).add(text)
            point = (*([run.method] if "method" not in keys else []), run.number, tuple(sorted(rest.items())))
            found.values.setdefault(group, {}).setdefault(point, []).append((trial.repeat, value))
    return found


def _check_keys(runs: Sequence[ComparedRun], keys: Sequence[str]) -> None:
    known = list(dict.fromkeys(key for run in runs for trial in run.trials for key in trial.configuration))
    for key in keys:
        if key not in known and key not in RUN_KEYS:
            found = [*RUN_KEYS, *known]
            raise UserError(
                f"--by {key}: {runs[0].benchmark} has no such key",
                "neither experiments nor their configurations are told apart by it",
                did_you_mean(key, found),
            )


def _baseline(names: Mapping[int, str], asked: str) -> int | None:
    if not asked:
        return None
    for number, name in names.items():
        # A value alone is enough, where there is one key: `0.1` for `lr=0.1`; and what it was in place of need not be said.
        plain = name.partition(" (")[0]
        if asked in (name, name.partition("=")[2], plain, plain.partition("=")[2]):
            return number
    found = [*names.values()]
    raise UserError(f"--baseline {asked}: nothing of this was measured", f"there are {', '.join(found)}", did_you_mean(asked, found))


def rows_of(made: ConfigurationComparison) -> list[dict[str, Any]]:
    """Return a row for each group, the leader or the baseline first: `method` is the group, leads are its own over the first."""
    from benchmarking.analysis.intervals import mean_interval

    if made.ranking is None:
        return []
    rows = []
    for one in (None, *made.ranking.comparisons):
        entry = made.ranking.leader if one is None else one.other
        interval = mean_interval([*entry.values], made.confidence)
        row = {
            "benchmark": made.benchmark,
            "method": made.names[entry.evaluation],
            "objective": made.objective,
            "budget": f"over all {made.unit}",
            "seeds": len(entry.values),
            "value": entry.mean,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "verdict": "baseline" if made.has_baseline else "leader",
        }
        if one is not None:
            # The ranking says how far the first is ahead; a row says how far its group is.
            ratio = one.factor is not None
            lead = _turned(one.difference if one.factor is None else one.factor, ratio=ratio)
            low, high = (None, None) if one.interval is None else sorted(_turned(value, ratio=ratio) for value in one.interval)
            word = "worse" if one.decided and lead < (1.0 if ratio else 0.0) else f"{one.word}: emulated" if one.emulated else str(one.word)
            row |= {"lead": lead, "lead_low": low, "lead_high": high, "lead_is": str(Scale.RATIO if ratio else Scale.DIFFERENCE)}
            row |= {"p": one.p, "verdict": word, "seeds_needed": one.more}
        rows.append(row)
    return rows


def _turned(value: float, *, ratio: bool) -> float:
    if not ratio:
        return -value
    return 1 / value if value else float("inf")
