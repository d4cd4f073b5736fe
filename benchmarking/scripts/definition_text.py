"""Writes a proposed benchmark definition: YAML in which a comment explains each line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from backends.common.hints import INTERPRETERS
from backends.scripts.interface import ScriptArgument
from benchmarking.scripts.metric_names import mode_of
from benchmarking.scripts.plan import CallPlan
from benchmarking.scripts.trial_log import TrialLog
from definitions.show import inline

_WIDEST = 72
_TRIALS = 20
_USUAL_LEVEL = 10
"""Of an argument that has to be said how long to train, and says no default itself."""

_STYLES = {
    "hyphens": "names of arguments have hyphens: --batch-size=32",
    "two_words": "arguments are told as two words: --key value",
    "key=value": "arguments are told as key=value",
    "json": "arguments are in a file, whose path is told",
    "yaml": "arguments are in a file, whose path is told",
    "toml": "arguments are in a file, whose path is told",
}
_BOOLEANS = {"switch": "a switch is there, or not", "no_switch": "--flag or --no-flag"}


@dataclass(frozen=True)
class ScriptSetting:
    """What is known of a script beside its arguments.

    Args:
        script: its path within `source_dir`, empty where a command starts it.
        form: library of its parser.
        source_dir: folder, relative to the definition's; `working_dir`: `job` or `source`.
        python: interpreter; empty for the usual one.
        remark: what the trial run came to, in a sentence.
    """

    script: str
    form: str
    source_dir: str = "."
    working_dir: str = "job"
    python: str = ""
    remark: str = ""


def name_of(script: str) -> str:
    """Return a benchmark's name made of that of a script or module."""
    stem = PurePath(script).stem if "/" in script or script.endswith(tuple(INTERPRETERS)) else script.split(".")[-1]
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-_.")[:63] or "script"


def definition_text(name: str, plan: CallPlan, setting: ScriptSetting, log: TrialLog) -> str:
    """Return a whole definition.

    Args:
        name: of the benchmark.
        plan: how the script is called, and what is varied.
        setting: what else is known of it.
        log: what its trial run reported.
    """
    lines = [*_calling(name, plan, setting), *_space(plan), *_measuring(plan, setting, log)]
    width = max(len(text) for text, _ in lines if len(text) <= _WIDEST)
    return "".join(_line(text, comment, width) for text, comment in lines)


def _line(text: str, comment: str, width: int) -> str:
    if not text:
        return f"# {comment}\n" if comment else "\n"
    return f"{text:<{width}}  # {comment}\n" if comment else f"{text}\n"


def _calling(name: str, plan: CallPlan, setting: ScriptSetting) -> Iterator[tuple[str, str]]:
    yield f"name: {inline(name)}", "of the benchmark, and of its folder of results"
    if plan.command is None:
        yield f"script: {inline(setting.script)}", f"its arguments were read from {setting.form}" if setting.form else ""
    else:
        placed = "; ${arguments} is all keys that are not named" if "${arguments}" in plan.command else ""
        yield f"command: {inline(list(plan.command))}", f"what a trial starts{placed}"
    if setting.source_dir != ".":
        yield f"source_dir: {inline(setting.source_dir)}", "folder of the script and of what it imports"
    if setting.working_dir != "job":
        yield f"working_dir: {inline(setting.working_dir)}", "it reads files beside it, so trials start where these are"
    if setting.python:
        yield f"python: {inline(setting.python)}", "interpreter"
    if plan.style != "flags":
        yield f"arguments_style: {inline(plan.style)}", _STYLES[plan.style]
    if plan.booleans != "value":
        how = _BOOLEANS[plan.booleans] if isinstance(plan.booleans, str) else "how each truth is told: --flag or nothing, or --no-flag"
        yield f"booleans: {inline(plan.booleans)}", how
    if plan.rename:
        yield f"rename: {inline(dict(plan.rename))}", "what the script calls a key"
    if plan.environment:
        yield f"environment: {inline(dict(plan.environment))}", "variables that it reads"
    if plan.seed is not None:
        yield f"seed_argument: {inline(plan.seed.name)}", "a number of its own for each seed and each repeat"


def _space(plan: CallPlan) -> Iterator[tuple[str, str]]:
    if plan.space:
        yield "space:", "what is searched; each line may go, and its argument then stays as the script has it"
        for key, dimension in plan.space.items():
            yield f"  {inline(key)}: {inline(dimension.domain)}", dimension.why
    else:
        yield "trials: [{}]", "nothing was found to search: one trial as it is; `space:` in place of it names keys and their ranges"
    for key, domain in plan.given.items():
        yield "", f"As you said it in --run; in place of its value in `arguments`, this would search it: {inline(key)}: {inline(domain)}"
    if plan.left:
        listed = ", ".join(_left(argument) for argument in plan.left[:30])
        yield "", f"Not searched, and as the script has them: {listed}" + (", ..." if len(plan.left) > 30 else "")


def _left(argument: ScriptArgument) -> str:
    return argument.name if argument.default in (None, "") or argument.kind == "switch" else f"{argument.name} ({argument.default})"


def fidelity_of(plan: CallPlan, log: TrialLog) -> dict[str, Any]:
    """Return the fidelity that a trial run carries; empty where it carries none.

    Its reports count what is done, up to what an argument says, or, where none does, up to where it came by itself.
    """
    level, first = plan.level, log.counts_from
    if first is None:
        return {}
    counted: dict[str, Any] = {"reported_as": log.level}
    from_zero = {"counts_from": 0} if first == 0 else {}
    if level is None:
        last = int(log.metrics[log.level][-1]) + 1 - first
        return {"kind": "progressive", **counted, "full": last, **from_zero} if log.is_whole and last > 1 else {}
    if not _belong(level.name, log.level) or (full := _full(level)) <= 1:
        return {}
    return {"kind": "progressive", "argument": level.name, **counted, "full": full, **from_zero}


def _no_fidelity(plan: CallPlan, log: TrialLog) -> str:
    """Return why a script that is told how long to train has no fidelity; empty where nobody would expect one, or it was not run."""
    level = plan.level
    if level is None or not log.objective:
        return ""
    if not log.level:
        return f"No fidelity: nothing says how far it is while it runs, as `{level.name}` counts it"
    if _full(level) <= 1:
        return f"No fidelity: {level.name} is {level.default}; with more, each would be a level at which bad trials can be stopped"
    if not _belong(level.name, log.level):
        return f"No fidelity: {log.level} is not what {level.name} limits; `fidelity` says it where it is"
    course = ", ".join(f"{value:g}" for value in log.metrics[log.level][:4])
    told = "" if log.asked_level is None else f", told to go to {log.asked_level:g}"
    return f"No fidelity: {log.level} was {course}{told}, which does not count, from 1 or from 0, what is done"


def _belong(argument: str, metric: str) -> bool:
    """Return whether a metric counts what an argument limits, as `epoch` does of `num_epochs`."""
    plain = metric.lower().rstrip("s")
    alike = {"ep": "epoch", "iter": "iteration", "it": "iter", "global_step": "step", "round": "round"}
    words = {plain, alike.get(plain, plain), *(("estimator",) if plain in ("round", "iteration") else ())}
    return any(word in argument.lower() for word in words)


def _full(level: ScriptArgument) -> int:
    return int(level.default) if isinstance(level.default, (int, float)) and level.default >= 1 else _USUAL_LEVEL


def fixed_arguments(plan: CallPlan, log: TrialLog) -> dict[str, Any]:
    """Return the arguments that every trial is told: those that are always the same, and how long it trains where no fidelity says it."""
    level = plan.level
    if level is None or fidelity_of(plan, log):
        return {**plan.fixed}
    return {**plan.fixed, level.name: level.default if level.default is not None else _USUAL_LEVEL}


def _measuring(plan: CallPlan, setting: ScriptSetting, log: TrialLog) -> Iterator[tuple[str, str]]:
    if setting.remark:
        yield "", setting.remark
    if log.source == "expressions":
        yield "metrics:", "regular expressions with one group each, as seen in the trial run"
        for name, expression in log.expressions.items():
            yield f"  {inline(name)}: {inline(expression)}", _course(log, name)
    elif log.source and log.source != "reports":
        yield f"metrics: {inline(log.source)}", f"it prints as {log.source} does: {', '.join(log.metrics)}"
    yield from _objectives(log)
    fixed, fidelity = fixed_arguments(plan, log), fidelity_of(plan, log)
    if fixed:
        as_said = ", ".join(key for key in plan.given if key in fixed)
        yield f"arguments: {inline(fixed)}", f"the same in all trials; as you said: {as_said}" if as_said else "the same in all trials"
    if fidelity:
        why = f"each {log.level} is a level: methods such as ASHA stop bad trials early"
        yield f"fidelity: {inline(fidelity)}", why
    elif reason := _no_fidelity(plan, log):
        yield "", reason
    yield f"budget: {inline({'max_num_trials': _TRIALS})}" if plan.space else "budget: {max_num_trials: 1}", "trials in all"


def _course(log: TrialLog, name: str) -> str:
    course = [f"{value:g}" for value in log.metrics[name]]
    shown = ", ".join(course[:3]) + (", ..." if len(course) > 3 else "")
    return f"it was {shown}" + ("; how far the job is" if name == log.level else "")


def _objectives(log: TrialLog) -> Iterator[tuple[str, str]]:
    if not log.objective:
        yield (
            "objectives: {duration_s: min}",
            "no metric is known yet, so its time counts; name one here, and under `metrics:` how it is printed",
        )
        return
    mode, why = mode_of(log.objective, log.metrics[log.objective])
    others = f"; in its place could stand {', '.join(log.others)}" if log.others else ""
    yield f"objectives: {inline({log.objective: mode})}", f"{why}{others}"


def told_values(plan: CallPlan, level: float | None) -> Mapping[str, Any]:
    """Return what a trial run is told, and what the script has for the rest, by argument; `level` is how far it is to go."""
    known = {argument.name: argument.default for argument in (*plan.left, *([plan.seed] if plan.seed is not None else []))}
    return {**known, **plan.fixed, **first_values(plan), **({plan.level.name: level} if plan.level is not None else {})}


def first_values(plan: CallPlan, level: int | None = None) -> Mapping[str, Any]:
    """Return what a trial run is told: values that the script itself has, and a level."""
    values = {key: dimension.first for key, dimension in plan.space.items()}
    if plan.level is not None and level is not None:
        values[plan.level.name] = level
    return values
