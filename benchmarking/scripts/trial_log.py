"""What the output of a trial run tells: whose words the metrics are in, which to optimise, and how far the job says it is. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from backends.metrics.presets import PRESETS
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
    def counts_from_one(self) -> bool:
        """Whether the level says how much is done, in whole steps: it is 1 or more first, never falls, and ends at what was asked."""
        course = self.metrics.get(self.level, ())
        return bool(course) and min(course) >= 1 and _never_falls(course) and self.asked_level in (None, course[-1])


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
    return best or _own_words(output)


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
