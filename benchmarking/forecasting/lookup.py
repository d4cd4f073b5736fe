"""What earlier canaries of a benchmark say of its full jobs, before they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.result import Forecast, Status
from definitions.configuration import configuration_id
from definitions.instances import Options, no_options
from definitions.schema import BenchmarkDefinition, PerJob
from definitions.trial import TrialSpec

if TYPE_CHECKING:
    from benchmarking.forecasting.data.canary import Canary

TIMES_FORECAST, SLACK_S = 3.0, 120.0
"""A full job may run so many times its forecast, or up to the bound of it where that is later, and so many seconds more.

The limit is there for jobs that hang. A factor alone is none for jobs of seconds, which are late by as much as the machine is busy, and
start up as slowly as it reads their libraries for the first time.
"""

LIMIT_WORDS = f"{TIMES_FORECAST:g} times its forecast and {SLACK_S:g} s"


@dataclass(frozen=True)
class ForecastLookup:
    """Forecasts by configuration, from the latest experiment with canaries; empty where there is none.

    Args:
        forecasts: of all configurations; `names`: by the id of a configuration, what the forecasts call it.
        prices: dollars per instance-hour by name; None where unknown.
        source: the folder that the canaries are from.
    """

    forecasts: tuple[Forecast, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    prices: Mapping[str, float | None] = field(default_factory=dict)
    source: str = ""

    @cached_property
    def _by_metric(self) -> dict[tuple[str, str], Forecast]:
        return {(one.configuration, one.metric): one for one in self.forecasts}

    def of(self, configuration: Mapping[str, Any], metric: str) -> Forecast | None:
        """Return a configuration's forecast; None where it has none."""
        name = self.names.get(configuration_id(configuration))
        return None if name is None else self._by_metric.get((name, metric))

    def upper_s(self, spec: TrialSpec) -> float | None:
        """Return the one-sided 95 % bound of a full job's seconds; None where the forecast does not carry it, or the job is a canary."""
        found = self.of(spec.configuration, "total_s")
        if spec.level is not None or found is None or found.status not in (Status.OK, Status.WIDE):
            return None
        return found.hi90

    def longest_s(self, spec: TrialSpec) -> float | None:
        """Return the seconds that a full job may run where the definition sets no limit; None where `upper_s` is."""
        found, upper_s = self.of(spec.configuration, "total_s"), self.upper_s(spec)
        if upper_s is None or found is None or found.median is None:
            return None
        return max(TIMES_FORECAST * found.median, upper_s) + SLACK_S

    def problem(self, spec: TrialSpec) -> str | None:
        """Return why a full job cannot succeed (its memory does not fit), or None where it may."""
        if spec.level is not None:
            return None
        for metric in ("rss_bytes", "gpu_bytes", "total_s"):
            found = self.of(spec.configuration, metric)
            if found is not None and found.status is Status.DOES_NOT_FIT:
                return f"forecast: it does not fit: {found.why}"
        return None


def latest_forecasts(definition: BenchmarkDefinition, results_dir: Path, backend: str, region: str) -> ForecastLookup:
    """Return what the latest canaries of this benchmark on this back-end say; folders that cannot be read are passed over.

    Args:
        definition: the resolved definition.
        results_dir: folder of all results.
        backend: name of the back-end.
        region: whose prices count.
    """
    if not isinstance(definition.fidelity, PerJob) or not results_dir.is_dir():
        return ForecastLookup()
    from benchmarking.forecasting.data.results_folder import read_measured
    from definitions.errors import UserError

    marks = list(results_dir.glob(f"*/{definition.name}/*-{backend}-*/forecasts.csv"))
    for mark in sorted(marks, key=lambda one: one.stat().st_mtime, reverse=True):
        try:
            found = read_measured(mark.parent)
        except (UserError, OSError, KeyError, ValueError):
            continue
        small = [canary for canary in found.canaries.canaries if not canary.is_full] if found is not None else []
        if small:
            return lookup_from(small, str(mark.parent), region, definition.block)
    return ForecastLookup()


def lookup_from(canaries: Sequence[Canary], source: str, region: str, options: Options = no_options) -> ForecastLookup:
    """Return the forecasts of an experiment's canaries.

    Args:
        canaries: each with its `configuration_id` in `about`.
        source: the folder that they are from.
        region: whose prices count.
        options: of back-ends, some of which have prices there.
    """
    from benchmarking.forecasting.data.canary import CanaryTable
    from benchmarking.forecasting.forecast import forecast
    from benchmarking.forecasting.model.draws import Question

    question = Question(billing=Billing(region, options=options))
    names = {canary.about["configuration_id"]: canary.configuration for canary in canaries}
    prices = {canary.configuration: question.billing.usd_per_hour(canary.instance_type) for canary in canaries}
    return ForecastLookup(tuple(forecast(CanaryTable(tuple(canaries)), question)), names, prices, source)


def forecast_text(lookup: ForecastLookup) -> str:
    """Return the table of predicted times and bills with their intervals; empty where there are no canaries."""
    if not lookup.forecasts:
        return ""
    from benchmarking.forecasting.render import summary_rows
    from benchmarking.report.text import table

    wanted = [one for one in lookup.forecasts if one.metric in ("total_s", "cost_usd", "rss_bytes")]
    rows = table(*summary_rows(wanted, lookup.prices))
    return f"full jobs as forecast (median, 80 % interval) from the canaries in {lookup.source}:\n\n{rows}"
