"""Which configuration the forecasts speak for: one sentence, and the order of their table. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarking.forecasting.model.draws import Question, draw
from benchmarking.forecasting.model.evidence import hidden_by_startup
from benchmarking.forecasting.model.fit import Fitted
from benchmarking.forecasting.model.result import Forecast, Status
from benchmarking.forecasting.render import readable
from definitions.schema import Mode

_FORECAST_OF = {
    "cost_usd": "cost_usd",
    "duration_s": "total_s",
    "billable_s": "total_s",
    "cpu_s": "cpu_s",
    "peak_rss_bytes": "rss_bytes",
    "quiet_s": "quiet_s",
}
"""Objective -> the metric that forecasts it."""

_DEARER = {"cost_usd": "dearer", "total_s": "slower", "quiet_s": "slower", "cpu_s": "slower", "rss_bytes": "larger"}

CONFIDENCE, TOLERANCE = 0.9, 0.05
"""What a recommendation asks for, as RACE does by default."""

_ONE_PRICE = 1.05
"""Prices of a second that differ by no more than this count as one."""

MORE = "RACE, or more canaries, would tell."


def raced_metric(objectives: dict[str, Mode], forecasts: Sequence[Forecast]) -> str:
    """Return the metric that configurations are ordered by: of the first objective that is forecast, else cost, else time.

    Args:
        objectives: name -> mode, the primary one first.
        forecasts: of all configurations.
    """
    there = {one.metric for one in forecasts if one.median is not None}
    # Time without other programs is the configuration's own; it is compared where all know it, for money too where all have one price.
    if _known(forecasts, "quiet_s"):
        times = ("duration_s", "billable_s", *(["cost_usd"] if _have_one_price(forecasts) else []))
        objectives = {("quiet_s" if name in times else name): mode for name, mode in objectives.items()}
    wanted = [_FORECAST_OF[name] for name, mode in objectives.items() if mode == "min" and name in _FORECAST_OF]
    return next((metric for metric in (*wanted, "cost_usd", "total_s", "cpu_s") if metric in there), "total_s")


def _known(forecasts: Sequence[Forecast], metric: str) -> bool:
    """Return whether a metric is forecast of every configuration."""
    known = {one.configuration for one in forecasts if one.metric == metric and one.median is not None}
    return bool(known) and known == {one.configuration for one in forecasts}


def _have_one_price(forecasts: Sequence[Forecast]) -> bool:
    """Return whether a second costs the same in all configurations, up to the whole seconds that bills have."""
    medians = {(one.configuration, one.metric): one.median for one in forecasts if one.median}
    each = [
        usd / seconds for (name, metric), usd in medians.items() if metric == "cost_usd" and (seconds := medians.get((name, "total_s")))
    ]
    return bool(each) and max(each) <= _ONE_PRICE * min(each)


def ranked(forecasts: Sequence[Forecast], metric: str) -> list[str]:
    """Return the configurations, best forecast first; those that do not fit, and those without a forecast, come last."""
    by_name: dict[str, Forecast | None] = dict.fromkeys(one.configuration for one in forecasts)
    unfit = {one.configuration for one in forecasts if one.status is Status.DOES_NOT_FIT}
    by_name |= {one.configuration: one for one in forecasts if one.metric == metric}

    def place(name: str) -> tuple[bool, bool, float]:
        made = by_name[name]
        median = None if made is None else made.median
        return name in unfit, median is None, median or 0.0

    return sorted(by_name, key=place)


def sureness(fitted: Mapping[str, Fitted], question: Question, metric: str, names: Sequence[str]) -> float:
    """Return the probability that no other configuration is better than the first by more than 5 %, as a race would have it.

    What mostly starts up, which nobody timed, is compared by its start-up: of such a leader nothing is known, and 0 is returned.

    Args:
        fitted: by configuration.
        question: what is asked of the canaries.
        metric: that they are ordered by.
        names: that are compared, the leader first.
    """
    import numpy as np

    leader = fitted[names[0]]
    laws = None if leader.prefixes else leader.time  # a prefix is the full job, start-up and all
    if laws is not None and not laws.timed and hidden_by_startup(laws.growth, "total_s"):
        return 0.0
    drawn = [values for name in names if (values := draw(fitted[name], question).get(metric)) is not None]
    if len(drawn) < 2:
        return 1.0
    return float((drawn[0] <= np.minimum.reduce(drawn[1:]) * (1 + TOLERANCE)).mean())


def usable(forecasts: Sequence[Forecast], metric: str) -> list[str]:
    """Return the configurations that fit and of which the metric is forecast, best first."""
    unfit = {one.configuration for one in forecasts if one.status is Status.DOES_NOT_FIT}
    known = {one.configuration for one in forecasts if one.metric == metric and one.median is not None}
    return [name for name in ranked(forecasts, metric) if name in known - unfit]


def recommendation(forecasts: Sequence[Forecast], metric: str, sure: float, more: str = MORE) -> str:
    """Return what to use and what its full job takes, beside the next best; or that it is not decided, and against what.

    Args:
        forecasts: of all configurations.
        metric: that they are ordered by.
        sure: as `sureness` returns it.
        more: what would decide what is not decided, as a sentence; empty for nothing.
    """
    names = usable(forecasts, metric)
    if not names:
        if any(one.status is Status.DOES_NOT_FIT for one in forecasts):
            return "No recommendation: no configuration fits."
        reasons = Counter(one.why for one in forecasts if one.metric == metric and one.why).most_common(1)
        return "No recommendation: nothing was forecast" + (f"; {reasons[0][0]}." if reasons else ".")
    by_name = {one.configuration: one for one in forecasts if one.metric == metric}
    first = by_name[names[0]]
    carried = first.status in (Status.OK, Status.WIDE)
    takes = (
        f"the full job takes {_both(forecasts, first.configuration)}"
        if carried
        else f"what its full job takes is not decided ({first.why})"
    )
    if len(names) == 1:
        return f"Use {first.configuration}: {takes}." if carried else f"Not decided: of {first.configuration}, {takes}."
    second = by_name[names[1]]
    ratio = (second.median or 0.0) / (first.median or 1.0)
    next_best = f"next best is {second.configuration}, {ratio:.2g} times {_DEARER.get(metric, 'worse')}"
    how_sure = f"{sure:.0%} sure that nothing is better by more than {TOLERANCE:.0%}"
    if sure < CONFIDENCE:
        return f"Not decided: {first.configuration} looks best ({how_sure}): {takes}; {next_best}. {more}".rstrip()
    return f"Use {first.configuration} ({how_sure}): {takes}; {next_best}."


def _both(forecasts: Sequence[Forecast], name: str) -> str:
    """Return time and cost of a configuration with their intervals, as far as they are known."""
    mine = {one.metric: one for one in forecasts if one.configuration == name and one.median is not None}
    return " and ".join(
        f"{readable(metric, one.median)} ({readable(metric, one.lo80)} to {readable(metric, one.hi80)})"
        for metric in ("total_s", "cost_usd")
        if (one := mine.get(metric)) is not None
    )
