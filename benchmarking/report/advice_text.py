"""Advice on input pipelines in words, and the command that tries it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.analysis.stand_ins import StandIns
from benchmarking.report.pipeline_advice import PipelineAdvice, advice_for
from benchmarking.report.pipelines import MeasuredPipeline
from benchmarking.report.text import configuration_text
from benchmarking.workloads.measuring.bound import NOT_DECIDED
from definitions.program import command
from definitions.schema import BenchmarkDefinition


def advice_lines(
    measured: Sequence[MeasuredPipeline],
    leader: int,
    definition: BenchmarkDefinition,
    stood_in: StandIns,
    said: Mapping[int, str],
    keys: Sequence[str],
    benchmark: Sequence[str],
) -> list[str]:
    """Return a sentence for the leader, and one for the fastest configuration of each other bound.

    Args:
        measured: all configurations whose script says what bounds them.
        leader: number of the best one.
        definition: of the benchmark.
        stood_in: what was measured in place of something else.
        said: what the script of each configuration says, for where no setting helps.
        keys: of the configurations that are shown.
        benchmark: words of a command that name it, or its file, and where it runs.
    """
    chosen = [one for one in measured if one.evaluation == leader]
    for one in sorted(measured, key=lambda one: -(one.rate or 0.0)):
        if one.bound_by != NOT_DECIDED and one.bound_by not in {other.bound_by for other in chosen}:
            chosen.append(one)
    lines = []
    for one in chosen:
        advice = advice_for(one, measured, definition, stood_in.emulation)
        lines.append(f"{_bound(one, leader, keys)}: {_advised(advice, definition, said.get(one.evaluation, ''), benchmark)}.")
    return lines


def _bound(one: MeasuredPipeline, leader: int, keys: Sequence[str]) -> str:
    if one.bound_by == NOT_DECIDED:
        return f"What binds configuration {one.evaluation} is not decided"
    if one.evaluation == leader:
        return f"Configuration {one.evaluation} is bound by {one.bound_by}"
    return f"The fastest that is bound by {one.bound_by}, configuration {one.evaluation} ({configuration_text(one.configuration, keys)})"


def _advised(advice: PipelineAdvice, definition: BenchmarkDefinition, said: str, benchmark: Sequence[str]) -> str:
    option, outcome = advice.option, advice.outcome
    if option is None:
        return said or "nothing that can be set is predicted to help"
    change = ", ".join(f"{key}={_plain(value)}" for key, value in option.change.items())
    then = "" if option.then in ("", NOT_DECIDED) else f", then bound by {option.then}"
    gain = f"{change} is predicted to be {option.gain:.2f} times as fast ({option.low:.2f} to {option.high:.2f}){then}"
    if outcome is not None:
        came = f"configuration {outcome.evaluation} was {outcome.gain:.2f} times as fast ({outcome.low:.2f} to {outcome.high:.2f})"
        return f"{gain}; measured: {came}"
    return f"{gain}; `{trying(advice, definition, benchmark)}` tries it"


def trying(advice: PipelineAdvice, definition: BenchmarkDefinition, benchmark: Sequence[str]) -> str:
    """Return the command that runs the configuration as it is advised."""
    change: Mapping[str, Any] = {} if advice.option is None else advice.option.change
    wanted = {**advice.of.configuration, **change}
    scale = ["--scale", f"{definition.scale:g}"] if definition.scale != 1 else []
    return command("run", "--benchmark", *benchmark, *scale, "--set", *(f"{key}={_plain(value)}" for key, value in wanted.items()))


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
