"""What drives the width of each forecast, and what one more run would cost and buy: a canary, or a longer beginning of the job. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarking.forecasting.data.canary import PREFIX, Canary
from benchmarking.forecasting.model.draws import Question, draw
from benchmarking.forecasting.model.expected_run import expected_run
from benchmarking.forecasting.model.fit import Fitted, fit_all
from benchmarking.forecasting.model.memory import SPREAD, SPREAD_OF_GROWTH
from benchmarking.forecasting.model.phases import Laws
from benchmarking.forecasting.model.prefix_draws import causes_of_time
from benchmarking.forecasting.model.prefix_memory import causes_of_peak
from benchmarking.forecasting.model.prefix_runs import another_small, longer_prefix
from benchmarking.forecasting.model.result import METRICS, TIMES, UTILISATIONS
from benchmarking.report.text import dollars, duration

_TEACHERS = 8
"""Most other configurations that a fit with one more run learns from: each is fitted again for each run that is thought of."""

_HARDLY = 1.02
"""A run that narrows an interval by less than this factor buys nothing."""

_WORDS = {
    "total_s": "time", "train_s": "fit phase", "cpu_s": "CPU time", "rss_bytes": "memory", "gpu_bytes": "GPU memory",
    "billable_s": "billed time", "quiet_s": "time without other programs", "cost_usd": "cost", "cpu_util": "CPU use", "gpu_util": "GPU use",
}  # fmt: skip


@dataclass(frozen=True)
class CandidateRun:
    """One more run: what it is expected to cost, and the half width of the 80 % interval (a factor) before and after.

    Args:
        fraction: nominal fraction of the data; `is_repeat`: whether it was measured there before.
        is_prefix: whether it is the beginning of the full job, run for twice as long as the longest so far.
        seconds: expected wall time; `usd`: of it, None where the price is unknown.
        before, after: half of the 80 % interval, as a factor.
    """

    fraction: float
    is_repeat: bool
    seconds: float
    usd: float | None
    before: float
    after: float
    is_prefix: bool = False

    @property
    def kind(self) -> str:
        """What it is, in a word: `prefix`, `repeat` or `canary`."""
        return "prefix" if self.is_prefix else ("repeat" if self.is_repeat else "canary")

    @property
    def narrows(self) -> bool:
        """Whether it buys anything."""
        return self.after * _HARDLY < self.before


@dataclass(frozen=True)
class Explanation:
    """Why one forecast is as wide as it is.

    Args:
        configuration: whose; `metric`: of which.
        causes: share of the variance by cause, the largest first; empty where nothing was measured.
        runs: one more run at several fractions, the one that narrows most for its price first.
        prefix_share: of the job's loop that its beginnings have seen; `prefix_s`: seconds that the longest of them ran. None without one.
    """

    configuration: str
    metric: str
    causes: Mapping[str, float]
    runs: tuple[CandidateRun, ...]
    prefix_share: float | None = None
    prefix_s: float | None = None

    @property
    def next_run(self) -> CandidateRun | None:
        """The run that buys most for its price; None where none narrows the interval."""
        return next((run for run in self.runs if run.narrows), None)


def causes_of(item: Fitted, metric: str, question: Question) -> dict[str, float]:
    """Return the share of a metric's variance that each cause brings: noise of the runs, growth of each part.

    Args:
        item: a fitted configuration.
        metric: one of `METRICS`.
        question: what is asked.
    """
    import numpy as np

    if metric in UTILISATIONS:
        return {"scatter of the runs": 1.0}
    if item.prefixes and metric in TIMES:
        rng = np.random.default_rng(question.seed)
        clock = {"cpu_s": "cpu", "quiet_s": "quiet"}.get(metric, "wall")
        return _shares(causes_of_time(item.prefixes, item.used, question.draws, rng, clock, item.lent))
    if item.prefixes and metric == "rss_bytes":
        return _shares(causes_of_peak(item.prefixes, item.used, item.rss))
    if metric == "gpu_bytes":
        return {"growth of GPU memory": 1.0} if item.gpu is not None else {}
    if metric == "rss_bytes":
        return _causes_of_memory(item)
    laws = {"cpu_s": item.cpu, "quiet_s": item.quiet}.get(metric, item.time)
    return {} if laws is None else _causes_of_time(laws, question, "train" if metric == "train_s" else "")


def _causes_of_memory(item: Fitted) -> dict[str, float]:
    if item.rss is None:
        return {}
    if item.rss.slope is None:
        return {"memory was measured at one fraction only": 1.0}
    grows = item.rss.slope * (1 - item.rss.top)
    peak = float(item.rss.levels[1][-1]) + grows
    parts = {"a peak is never told better": SPREAD * peak, "memory that must still grow": 0.0}
    if item.rss.top < 1:
        parts["memory that must still grow"] = SPREAD_OF_GROWTH * math.sqrt(math.log(1 / item.rss.top)) * grows
    # Both are added before they are squared (`memory`), so that they are compared as they are.
    return _shares(parts)


def _causes_of_time(laws: Laws, question: Question, only: str) -> dict[str, float]:
    import numpy as np

    # Each cause alone, with the others at their median: what growth leaves unknown, and the noise of a run as its share of the total.
    rng = np.random.default_rng(question.seed)
    chosen = {name: part for name, part in laws.parts.items() if not only or name == only}
    centre = {name: float(np.median(part.sample(1.0, question.draws, rng))) for name, part in chosen.items()}
    total = math.fsum(centre.values())
    found: dict[str, float] = {}
    for name, part in chosen.items():
        if part.growth is None:
            continue
        quiet = part.sample(1.0, question.draws, rng, noise=False)
        noisy = part.noise_sd() * centre[name] / total
        found[f"growth of {name}"] = float(np.var(np.log(np.maximum(total - centre[name] + quiet, 1e-300))))
        found["noise of the runs"] = found.get("noise of the runs", 0.0) + noisy**2
    return _shares(found)


def _shares(found: Mapping[str, float]) -> dict[str, float]:
    whole = math.fsum(found.values())
    return {name: value / whole for name, value in sorted(found.items(), key=lambda pair: -pair[1])} if whole > 0 else {}


def half_widths(item: Fitted, question: Question) -> dict[str, float]:
    """Return by metric half of the 80 % interval as a factor, of what was measured."""
    import numpy as np

    found = {}
    for metric, values in draw(item, question).items():
        low, high = np.quantile(values, (0.1, 0.9))
        found[metric] = math.sqrt(float(high) / float(low)) if low > 0 else math.inf
    return found


def explanations(
    groups: Mapping[str, Sequence[Canary]], name: str, question: Question, fractions: Sequence[float] | None = None
) -> list[Explanation]:
    """Return of each metric of a configuration what drives its width, and what one more canary would cost and buy.

    Each run is judged by adding the one that the fit expects, at its own median: the plug-in form of preposterior analysis (Raiffa and
    Schlaifer, Applied Statistical Decision Theory, 1961).

    Args:
        groups: canaries of all configurations, so that what they share stays shared.
        name: the configuration that would run.
        question: what is asked.
        fractions: candidates; by default each measured one again, and three times the largest.
    """
    near = {other: group for other, group in islice(((o, g) for o, g in groups.items() if o != name), _TEACHERS)}
    item = fit_all({**near, name: groups[name]}, question.at)[name]
    before = half_widths(item, question)
    runs: dict[str, list[CandidateRun]] = {metric: [] for metric in before}
    for expected in _candidates(item, question, fractions):
        again = fit_all({**near, name: [*groups[name], expected]}, question.at)[name]
        after = half_widths(again, question)
        fraction, seconds = expected.fraction, expected.total_s or expected.train_s or 0.0
        price = question.billing.usd_per_hour(item.instance_type)
        usd = None if price is None else (seconds + question.billing.startup_s) / 3600 * price * item.instance_count
        is_repeat, is_prefix = any(canary.fraction == fraction for canary in item.used), expected.status == PREFIX
        for metric, width in before.items():
            runs[metric].append(CandidateRun(fraction, is_repeat, seconds, usd, width, after.get(metric, width), is_prefix))
    seen = [one.progress.share for one in item.prefixes if one.progress is not None and one.progress.share is not None]
    ran = [one.total_s for one in item.prefixes if one.total_s is not None]
    return [
        Explanation(name, metric, causes_of(item, metric, question), tuple(sorted(runs[metric], key=lambda run: -gain_per_cost(run))),
                    max(seen, default=None), max(ran, default=None))
        for metric in METRICS
        if metric in before
    ]  # fmt: skip


def _candidates(item: Fitted, question: Question, fractions: Sequence[float] | None) -> list[Canary]:
    """Return the runs that may come next, each as the fit expects it."""
    if item.prefixes and fractions is None:
        longer = longer_prefix(item.prefixes)
        return [*([] if longer is None else [longer]), *another_small(item.used)]
    if item.time is None:
        return []
    return [expected_run(item, fraction, question.seed) for fraction in (_fractions(item, question) if fractions is None else fractions)]


def _fractions(item: Fitted, question: Question) -> list[float]:
    measured = sorted({canary.fraction for canary in item.used})
    return sorted({measured[0], measured[-1], min(question.at, 0.5, measured[-1] * 10 / 3)}) if measured else []


def gain_per_cost(run: CandidateRun) -> float:
    """Return the expected fall of the log half width per dollar, or per second where the price is unknown."""
    return (math.log(run.before) - math.log(run.after)) / max(run.usd if run.usd is not None else run.seconds, 1e-9)


def explained_lines(found: Sequence[Explanation], name: str, *, timed: bool) -> list[str]:
    """Return lines that say what drives the width of each of a configuration's forecasts, and what one more canary would cost and buy.

    Args:
        found: of all its metrics.
        name: the configuration.
        timed: whether its fit phase was timed, or its beginning was run, which needs no timer.
    """
    if not found:
        return [f"{name}: nothing was measured, so nothing can be said of its width"]
    lines = []
    for one in found:
        causes = ", ".join(f"{cause} {share:.0%}" for cause, share in one.causes.items() if share >= 0.005)
        lines.append(f"{name}: the width of its {_WORDS[one.metric]} comes from {causes or 'what was not measured'}")
        if one.metric == "total_s" and not timed:
            lines.append('  a timer around the fit phase costs nothing and narrows most: `with phase("train")` in the script')
        best = one.next_run or next(iter(one.runs), None)
        shown = one.runs if one.metric == "total_s" else [best] if best is not None else []
        lines += [f"  {_run_text(run)}" for run in shown]
    return lines


def _run_text(run: CandidateRun) -> str:
    price = dollars(run.usd) if run.usd is not None else "price unknown"
    what = "one more run" if run.is_repeat else "one run"
    what = "its beginning for twice as long" if run.is_prefix else f"{what} at fraction {run.fraction:g}"
    head = f"{what}: about {duration(run.seconds)}, {price}; "
    if not run.narrows:
        return f"{head}hardly narrows it (80 % interval x/{run.before:.2f})"
    return f"{head}80 % interval from x/{run.before:.2f} to x/{run.after:.2f}"
