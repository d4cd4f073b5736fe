"""What the output of a trial run tells: whose words the metrics are in, which to optimise, and how far the job says it is. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from backends.metrics.presets import ANYBODYS, PRESETS
from backends.reports import ReportParser
from benchmarking.scripts.metric_lines import find_metrics, lines_of
from benchmarking.scripts.metric_names import best_objective, is_level_name, is_metric_name
from definitions.metrics import MetricSources
from definitions.scalars import is_number


@dataclass(frozen=True)
class TrialLog:
    """The metrics of a trial run.

    Args:
        source: `reports`, the name of a library, `expressions`, or empty where there are none.
        metrics: the course of each, by name.
        expressions: by name; only where the source is `expressions`.
        level: the metric that says how far the job is; empty where there is none.
        objective: the one to optimise; empty where there is none.
        is_whole: whether the job came to its end.
        asked_level: the level that the job was asked to go to, where it came to its end; None where it was not asked, or was ended.
    """

    source: str = ""
    metrics: Mapping[str, Sequence[float]] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)
    level: str = ""
    objective: str = ""
    asked_level: float | None = None
    is_whole: bool = False

    @property
    def others(self) -> tuple[str, ...]:
        """The metrics that could be optimised in place of the objective."""
        return tuple(name for name in self.metrics if name not in (self.objective, self.level) and is_metric_name(name))

    @property
    def counts_from(self) -> int | None:
        """What the first level is called, 0 or 1, where the level says in whole steps how much is done; None where it does not.

        It never falls and ends at what was asked, counted from 1, or one before that, counted from 0. What a library prints is counted
        from 1 by whoever reads it.
        """
        course = self.metrics.get(self.level, ())
        if not course or not _never_falls(course):
            return None
        if min(course) >= 1 and self.asked_level in (None, course[-1]):
            return 1
        is_zero = course[0] == 0 and (self.is_whole if self.asked_level is None else course[-1] == self.asked_level - 1)
        return 0 if is_zero and self.source in ("reports", "expressions") else None

    def without_echoes(self, told: Mapping[str, Any]) -> TrialLog:
        """Return the log without what the script only repeats of what it was told: the argument's name, and its value each time.

        Args:
            told: values of arguments, by their names.
        """
        plain = {_plain(name): value for name, value in told.items()}
        echoes = {name for name, course in self.metrics.items() if (key := _plain(name)) in plain and _is_all(course, plain[key])}
        if not echoes:
            return self
        metrics = {name: course for name, course in self.metrics.items() if name not in echoes}
        level = self.level if self.level not in echoes else next((name for name in metrics if is_level_name(name)), "")
        expressions = {name: text for name, text in self.expressions.items() if name not in echoes}
        objective = best_objective({name: course for name, course in metrics.items() if name != level})
        return replace(
            self, metrics=metrics, expressions=expressions, level=level, objective=objective, source=self.source if objective else ""
        )


def _plain(name: str) -> str:
    return name.split(".")[-1].lower().replace("-", "_")


def _is_all(course: Sequence[float], value: Any) -> bool:
    return is_number(value) and all(one == value for one in course)


def read_trial_log(output: bytes) -> TrialLog:
    """Return the metrics of a job's output: its reports, else what a known library prints, else what it names in its own words."""
    reports = [report.metrics for report in _fed(ReportParser(), output)]
    if reports:
        return _made("reports", reports)
    best: TrialLog | None = None
    for name in PRESETS:
        found = [report.metrics for report in _fed(ReportParser(sources=MetricSources(presets=(name,))), output)]
        log = _made(name, found) if found else TrialLog()
        # A line that only looks like a library's has no level, or no metric of a known name.
        if log.level and log.objective and is_metric_name(log.objective) and (best is None or len(log.metrics) > len(best.metrics)):
            best = log
    if best is not None and best.source not in ANYBODYS:
        return best
    own = _own_words(output)
    return own if best is None or _says_more(own, best) else best


def _says_more(own: TrialLog, library: TrialLog) -> bool:
    """Return whether beside lines that look like a library's the script says a better metric in its own words, at each level."""
    name = own.objective
    if not own.level or name in ("", library.objective) or not is_metric_name(name):
        return False
    levels = len(set(own.metrics[own.level]))
    return best_objective({library.objective: (), name: ()}) == name and len(own.metrics[name]) >= levels


def _fed(parser: ReportParser, output: bytes) -> list[Any]:
    return [*parser.feed(output), *parser.finish()]


def _own_words(output: bytes) -> TrialLog:
    found = find_metrics(lines_of(output))
    if not any(not one.is_level for one in found):
        return TrialLog()
    metrics = {one.name: one.course for one in found}
    level = next((one.name for one in found if one.is_level), "")
    return TrialLog("expressions", metrics, {one.name: one.expression for one in found}, level, best_objective(metrics))


def _made(source: str, reports: Sequence[Mapping[str, Any]]) -> TrialLog:
    metrics: dict[str, list[float]] = {}
    for report in reports:
        for name, value in report.items():
            if is_number(value) or (isinstance(value, float) and not math.isfinite(value)):
                metrics.setdefault(name, []).append(value)
    preset = PRESETS.get(source)
    if preset is not None:
        level = preset.level_name if preset.level_name in metrics else ""
    else:
        level = next((name for name, values in metrics.items() if is_level_name(name) and _never_falls(values)), "")
    return TrialLog(source, metrics, {}, level, best_objective({name: values for name, values in metrics.items() if name != level}))


def _never_falls(values: Sequence[float]) -> bool:
    return all(math.isfinite(value) and value == int(value) for value in values) and all(one <= other for one, other in pairwise(values))
