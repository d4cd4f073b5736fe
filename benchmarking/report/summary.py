"""The end of an experiment in words and one table: verdict first. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backends.failures import LOG_INCOMPLETE, METRICS_IN_PART
from benchmarking.analysis.pareto import pareto_front
from benchmarking.analysis.pipeline_figures import ACCELERATOR_UTIL, ACCELERATORS_FED, BOUND_BY, bound_text, is_disturbed
from benchmarking.analysis.service_shares import MODEL, NETWORK, NETWORK_SHARE, OVERHEAD
from benchmarking.analysis.stand_ins import NO_STAND_INS, StandIns
from benchmarking.analysis.verdict import Measured, Ranking, judge, without_emulations
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import MAX_RATE, TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.report.advice_text import advice_lines
from benchmarking.report.epochs import ReadCosts, overtaking_lines
from benchmarking.report.labels import varying_keys
from benchmarking.report.pipelines import measured_pipeline
from benchmarking.report.strata import strata
from benchmarking.report.text import configuration_text, key_value, shown, table
from benchmarking.report.verdict_text import verdict_sentence
from benchmarking.report.warm import forked_text, warm_text
from definitions.parts import PER_EPOCH, is_timed
from definitions.scalars import mean
from definitions.schema import BenchmarkDefinition, Mode

_ROWS = 12
_OF_CALLS = (MODEL, OVERHEAD, NETWORK, NETWORK_SHARE)
_CALLS_NOTE = (
    "model_ms, overhead_ms: means of all calls by CloudWatch; network_ms: what is left of the client's mean (call_mean_ms); "
    "network_share: of it."
)


@dataclass(frozen=True)
class Summary:
    """What is printed at the end.

    Args:
        verdict: one or a few sentences.
        table: configurations, best first, at most a dozen.
        best: value of the primary objective of the leading configuration; None where nothing was completed.
        warm: what warm instances did and cost; empty where none were asked for.
        best_config: the leading configuration; None where nothing was completed.
    """

    verdict: str
    table: str
    best: float | None
    warm: str = ""
    best_config: Mapping[str, Any] | None = None


def summarise(
    state: ExperimentState,
    objectives: Mapping[str, Mode],
    price_label: str = "",
    keys_in_order: Sequence[str] = (),
    *,
    keeps_warm: bool = False,
    stood_in: StandIns = NO_STAND_INS,
    definition: BenchmarkDefinition | None = None,
    benchmark: Sequence[str] = (),
) -> Summary:
    """Return the summary of an experiment's state.

    Args:
        state: the experiment so far.
        objectives: name -> mode, the primary one first.
        price_label: what kind of dollars it counts, e.g. `nominal`.
        keys_in_order: configuration keys in the order of the definition.
        keeps_warm: whether the back-end was to keep instances warm.
        stood_in: what was measured in place of something else: it is labelled, and its speed decides nothing.
        definition: of the benchmark, for advice on its input pipeline; None for none.
        benchmark: words of a command that name it, or its file, and where it runs.
    """
    primary, mode = next(iter(objectives.items()))
    measured_as = _by_evaluation(state)
    below = stood_in.notes([trial.configuration for trial in state.trials.values()])
    groups = {e: [_labelled(trial, stood_in) for trial in trials] for e, trials in measured_as.items()}
    points = {e: _point(trials[0]) for e, trials in groups.items()}
    keys = keys_shown(list(points.values()), keys_in_order)
    several = len(state.codes) > 1
    lines: list[str] = []
    advice: list[str] = []
    order: list[int] = []
    front: list[int] = []
    for stratum in strata(points, {} if definition is None else definition.compare_within):
        there = {e: groups[e] for e in stratum.evaluations}
        verdict = real_ranking(ranking(state, primary, mode, among=stratum.evaluations), primary, stood_in)
        found = [verdict_sentence(_called(verdict, points), primary, keys, price_label)]
        if several:
            across = _across_versions(state, primary, mode, keys, stratum.evaluations)
            found = [across, *(f"Of all together: {line[:1].lower()}{line[1:]}" for line in found)]
        best = _front(there, objectives)
        found += _not_beaten(best, points, keys, objectives) if len(best) > 1 else []
        lines += [f"{stratum.label}: {line}" if stratum.label else line for line in found]
        front += best
        if verdict is not None:
            advice += _advice(verdict.leader.evaluation, {e: measured_as[e] for e in there}, keys, stood_in, definition, benchmark)
        ranked = [] if verdict is None else [verdict.leader, *(comparison.other for comparison in verdict.comparisons)]
        order += dict.fromkeys([*(entry.evaluation for entry in ranked), *there])
    lines += [*_overtaking(measured_as, keys, stood_in), *_caveats(state), *advice]
    text = _table(state, groups, keys, objectives, order, front, below)
    warm = warm_text(state, price_label) if keeps_warm else forked_text(state.trials.values())
    overall = ranking(state, primary, mode)
    best_of = (None, warm, None) if overall is None else (overall.leader.mean, warm, overall.leader.configuration)
    return Summary("\n".join(lines), text, *best_of)


def _table(
    state: ExperimentState,
    groups: Mapping[int, Sequence[TrialState]],
    keys: Sequence[str],
    objectives: Mapping[str, Mode],
    order: Sequence[int],
    front: Sequence[int],
    below: Sequence[str],
) -> str:
    """Return the first rows of the table and what stands below it; empty where nothing was started."""
    if not order:
        return ""
    measured, several = _measured(groups, objectives), len(state.codes) > 1
    header = ["config", *keys, *objectives, *measured, "n", "status", *(["front"] if front else []), *(["code"] if several else [])]
    versions = {e: [", ".join(dict.fromkeys(trial.code for trial in groups[e]))] if several else [] for e in groups}
    rows = [
        [*_row(e, groups[e], keys, objectives, measured, e in front if front else None, state.setup.reported_level), *versions[e]]
        for e in order[:_ROWS]
    ]
    more = [f"... and {len(order) - _ROWS} more"] if len(order) > _ROWS else []
    return "\n".join([table(header, rows), *more, *below, *([_CALLS_NOTE] if MODEL in measured else []), *_no_rates(groups)])


def _front(groups: Mapping[int, Sequence[TrialState]], objectives: Mapping[str, Mode]) -> list[int]:
    """Return the configurations that are not beaten in every objective; none where there is one objective."""
    if len(objectives) < 2:
        return []
    means = {e: {name: mean(_values(trials, name)) for name in objectives} for e, trials in groups.items() if _completed(trials)}
    return [list(means)[index] for index in pareto_front(list(means.values()), objectives)]


def _not_beaten(
    front: Sequence[int], points: Mapping[int, Mapping[str, Any]], keys: Sequence[str], objectives: Mapping[str, Mode]
) -> list[str]:
    named = ", ".join(f"{e} ({configuration_text(points[e], keys)})" for e in front[:6])
    return [f"Not beaten in every objective ({', '.join(objectives)}): {named}{', ...' if len(front) > 6 else ''}."]


def _measured(groups: Mapping[int, Sequence[TrialState]], objectives: Mapping[str, Mode]) -> list[str]:
    """Return the columns of what completed trials measured beside the objectives."""
    completed = [trial for trials in groups.values() for trial in _completed(trials)]
    names = [name for name in (ACCELERATOR_UTIL, ACCELERATORS_FED, BOUND_BY) if any(name in trial.last for trial in completed)]
    names += PER_EPOCH if any(trial.epochs for trial in completed) else ()
    names += _OF_CALLS if any(trial.value_of(MODEL) is not None for trial in completed) else ()
    return [name for name in names if name not in objectives]


def _no_rates(groups: Mapping[int, Sequence[TrialState]]) -> list[str]:
    """Return why a rate is 0, a line a configuration: of errors, too slow, limited by the client, or not decided."""
    said = {}
    for evaluation, trials in groups.items():
        whys = [str(trial.last["why"]) for trial in _completed(trials) if trial.value_of(MAX_RATE) == 0 and trial.last.get("why")]
        if whys:
            said[evaluation] = "; ".join(dict.fromkeys(whys))
    return [f"{MAX_RATE} 0 of configuration {evaluation}: {why}" for evaluation, why in [*said.items()][:_ROWS]]


def real_ranking(ranked: Ranking | None, primary: str, stood_in: StandIns) -> Ranking | None:
    """Return a ranking in which emulations decide nothing, where the objective is one of time or money.

    Args:
        ranked: as measured.
        primary: the objective.
        stood_in: what was measured in place of something else.
    """
    return without_emulations(ranked, lambda one: stood_in.emulation(one.configuration)) if is_timed(primary) else ranked


def ranking(
    state: ExperimentState, primary: str, mode: Mode, code: str | None = None, among: Collection[int] | None = None
) -> Ranking | None:
    """Return how the completed evaluations compare in the primary objective; None where none was completed.

    Args:
        state: the experiment.
        primary: the objective.
        mode: its direction.
        code: version of the code whose measurements count; None for all.
        among: numbers of the evaluations that are compared; None for all.
    """
    groups = {e: [trial for trial in trials if code is None or trial.code == code] for e, trials in _by_evaluation(state).items()}
    found = []
    for evaluation, trials in groups.items():
        if among is not None and evaluation not in among:
            continue
        values = {trial.repeat: value for trial in trials if (value := _value(trial, primary)) is not None}
        if values:
            spoilt = is_timed(primary) and all(is_disturbed(trial.last) for trial in trials if trial.repeat in values)
            found.append(Measured(evaluation, _point(trials[0]), [*values.values()], [*values], spoilt))
    return judge(found, mode, paired=state.setup.order == "interleave")


def _row(
    evaluation: int,
    trials: Sequence[TrialState],
    keys: Sequence[str],
    objectives: Mapping[str, Mode],
    measured: Sequence[str],
    on_front: bool | None,
    level_name: str | None,
) -> list[Any]:
    configuration = _point(trials[0])
    marks = [] if on_front is None else ["*" if on_front else ""]
    values = [_cell(trials, name, level_name) for name in objectives]
    values += [_bounds(trials) if name == BOUND_BY else _cell(trials, name, None) for name in measured]
    return [evaluation, *(key_value(configuration, key) for key in keys), *values, len(_completed(trials)), _statuses(trials), *marks]


def _point(trial: TrialState) -> Mapping[str, Any]:
    """Return what tells an evaluation from others: its configuration, and of a canary also its level and repeat."""
    if trial.level is None:
        return trial.configuration
    return {**trial.configuration, "fidelity": trial.level, "repeat": trial.repeat}


def _called(ranked: Ranking | None, points: Mapping[int, Mapping[str, Any]]) -> Ranking | None:
    """Return a ranking whose leader is called as in the table."""
    if ranked is None:
        return None
    return replace(ranked, leader=replace(ranked.leader, configuration=points[ranked.leader.evaluation]))


def _labelled(trial: TrialState, stood_in: StandIns) -> TrialState:
    """Return a trial for a table, in which an emulation is called so."""
    configuration = stood_in.labelled(trial.spec.configuration)
    return trial if configuration == trial.spec.configuration else replace(trial, spec=replace(trial.spec, configuration=configuration))


def _by_evaluation(state: ExperimentState) -> dict[int, list[TrialState]]:
    groups: dict[int, list[TrialState]] = {}
    for trial in state.trials.values():
        groups.setdefault(trial.evaluation, []).append(trial)
    return groups


def _completed(trials: Sequence[TrialState]) -> list[TrialState]:
    return [trial for trial in trials if trial.status is TrialStatus.COMPLETED]


def _values(trials: Sequence[TrialState], objective: str) -> list[float]:
    return [value for trial in trials if (value := _value(trial, objective)) is not None]


def _value(trial: TrialState, objective: str) -> float | None:
    value = trial.value_of(objective) if trial.status is TrialStatus.COMPLETED else None
    return value if value is not None and math.isfinite(value) else None


def _cell(trials: Sequence[TrialState], objective: str, level_name: str | None) -> str:
    values = _values(trials, objective)
    if not values:
        return _reached(trials, objective, level_name)
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return shown(mean)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return f"{shown(mean)} ± {spread / abs(mean) * 100:.0f} %" if mean else f"{shown(mean)} ± {shown(spread)}"


def _reached(trials: Sequence[TrialState], objective: str, level_name: str | None) -> str:
    """Return what trials that were stopped or paused had come to, and at which level; `-` where they reported nothing."""
    for trial in reversed(trials):
        value = trial.value_of(objective) if trial.status in (TrialStatus.STOPPED, TrialStatus.PAUSED) else None
        if value is not None and math.isfinite(value):
            level = None if level_name is None else as_number(trial.last.get(level_name))
            return f"{shown(value)} at {level_name} {level:g}" if level is not None else f"{shown(value)} when {trial.status}"
    return "-"


def _advice(
    leader: int,
    groups: Mapping[int, Sequence[TrialState]],
    keys: Sequence[str],
    stood_in: StandIns,
    definition: BenchmarkDefinition | None,
    benchmark: Sequence[str],
) -> list[str]:
    """Return advice for the leader and each other bound; nothing where input pipelines are not measured."""
    said = {e: str(one.last["advice"]) for e, trials in groups.items() for one in _completed(trials) if one.last.get("advice")}
    if definition is None or leader not in said:
        return []
    found = [measured_pipeline(e, trials, definition.arguments) for e, trials in groups.items()]
    measured = [one for one in found if one is not None]
    return advice_lines(measured, leader, definition, stood_in, said, keys, benchmark or (definition.name,))


def _overtaking(groups: Mapping[int, Sequence[TrialState]], keys: Sequence[str], stood_in: StandIns) -> list[str]:
    """Return from which epoch on ways of reading are cheaper than others; nothing where epochs are not reported."""
    found = {e: {one.repeat: costs for one in _completed(trials) if (costs := one.epoch_costs)} for e, trials in groups.items()}
    read = [ReadCosts(e, groups[e][0].configuration, repeats) for e, repeats in found.items() if repeats]
    return overtaking_lines(read, keys, stood_in)


def _bounds(trials: Sequence[TrialState]) -> str:
    return bound_text([trial.last.get(BOUND_BY) for trial in _completed(trials)]) or "-"


def _statuses(trials: Sequence[TrialState]) -> str:
    disturbed = sum(is_disturbed(trial.last) for trial in _completed(trials))
    return _endings(trials) + (f", {disturbed} disturbed" if disturbed else "")


def _endings(trials: Sequence[TrialState]) -> str:
    marks = {trial.trial: str(trial.cause) if trial.cause is not None else "reused" if trial.reused is not None else "" for trial in trials}
    counts = Counter(f"{trial.status}" + (f" ({marks[trial.trial]})" if marks[trial.trial] else "") for trial in trials)
    return ", ".join(name if count == len(trials) else f"{count} {name}" for name, count in counts.items())


def keys_shown(configurations: Sequence[Mapping[str, Any]], order: Sequence[str]) -> list[str]:
    """Return the keys that tell configurations apart, in the order of the definition; the first four where none does.

    Args:
        configurations: (n_configurations,) points of the space.
        order: all keys, in the order of the definition.
    """
    place = {key: number for number, key in enumerate(order)}
    varying = varying_keys(configurations)
    keys = varying or list(dict.fromkeys(key for configuration in configurations for key in configuration))
    return sorted(keys, key=lambda key: place.get(key, len(place)))[: None if varying else 4]


def _caveats(state: ExperimentState) -> list[str]:
    lines = []
    statuses = Counter(trial.status for trial in state.trials.values())
    if statuses[TrialStatus.FAILED] and state.failures:
        cause, message = state.failures[-1][:2]
        lines.append(f"{statuses[TrialStatus.FAILED]} of {len(state.trials)} trials failed; the last: {message or cause}")
    for status, words in ((TrialStatus.INFEASIBLE, "ran out of memory"), (TrialStatus.DIVERGED, "diverged (an objective was not finite)")):
        if statuses[status]:
            lines.append(f"{statuses[status]} of {len(state.trials)} trials {words}.")
    incomplete = sum(trial.message.startswith(LOG_INCOMPLETE) for trial in state.trials.values())
    if incomplete:
        lines.append(f"The logs of {incomplete} trials were incomplete, so their values may not be the last: see `message` in trials.csv.")
    in_part = sum(METRICS_IN_PART in trial.message for trial in state.trials.values())
    if in_part:
        lines.append(f"The metrics of {in_part} trials were read in part: see `message` in trials.csv.")
    disturbed = sum(is_disturbed(trial.last) for trial in state.trials.values())
    if disturbed:
        lines.append(
            f"{disturbed} of {len(state.trials)} trials were measured while something else used more than a tenth of a core; "
            "what was measured so alone decides nothing."
        )
    reused = sum(trial.reused is not None for trial in state.trials.values())
    if reused:
        lines.append(f"{reused} of {len(state.trials)} trials were not run: they were measured before, see `message` in trials.csv.")
    if state.skipped:
        lines.append(f"{state.skipped} suggested configurations cannot run and were skipped; the last: {state.last_reason}.")
    return lines


def _across_versions(state: ExperimentState, primary: str, mode: Mode, keys: Sequence[str], among: Collection[int]) -> str:
    """Return which configuration is the best that each version of the code measured, as values of different ones may not compare."""
    found = []
    for code in state.codes:
        ranked = ranking(state, primary, mode, code, among)
        if ranked is None:
            found.append(f"{shown(code)} completed nothing")
            continue
        leader = ranked.leader
        where = f"configuration {leader.evaluation} ({configuration_text(leader.configuration, keys)})"
        found.append(f"of {shown(code)} {where}: {primary} = {shown(leader.mean)}")
    return f"The code changed on the way, so there is no winner across its versions. Best {'; '.join(found)}."
