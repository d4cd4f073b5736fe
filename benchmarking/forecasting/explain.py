"""What drives the width of a forecast, and what one more canary would cost and buy. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.draws import Question, draw
from benchmarking.forecasting.model.expected_run import expected_run
from benchmarking.forecasting.model.fit import Fitted, fit_all
from benchmarking.report.text import dollars, duration


@dataclass(frozen=True)
class CandidateRun:
    """One more canary: what it is expected to cost, and the half width of the 80 % interval (a factor) before and after.

    Args:
        fraction: nominal fraction of the data; `is_repeat`: whether it was measured there before.
        seconds: expected wall time; `usd`: of it, None where the price is unknown.
        before, after: half of the 80 % interval of the total time, as a factor.
    """

    fraction: float
    is_repeat: bool
    seconds: float
    usd: float | None
    before: float
    after: float


def variance_shares(item: Fitted, question: Question) -> dict[str, float]:
    """Return the share of the variance of log total time that each cause brings: noise of the runs, growth of each part.

    Args:
        item: a fitted configuration whose time was measured.
        question: what is asked.
    """
    import numpy as np

    if item.time is None:
        return {}
    # Each cause alone, with the others at their median: what growth leaves unknown, and the noise of a run as its share of the total.
    rng = np.random.default_rng(question.seed)
    centre = {name: float(np.median(part.sample(1.0, question.draws, rng))) for name, part in item.time.parts.items()}
    total = math.fsum(centre.values())
    found: dict[str, float] = {}
    for name, part in item.time.parts.items():
        if part.growth is None:
            continue
        quiet = part.sample(1.0, question.draws, rng, noise=False)
        noisy = part.noise_sd() * centre[name] / total
        found[f"growth of {name}"] = float(np.var(np.log(np.maximum(total - centre[name] + quiet, 1e-300))))
        found["noise of the runs"] = found.get("noise of the runs", 0.0) + noisy**2
    whole = math.fsum(found.values())
    return {name: value / whole for name, value in sorted(found.items(), key=lambda pair: -pair[1])} if whole > 0 else {}


def half_width(item: Fitted, question: Question) -> float | None:
    """Return half of the 80 % interval of the total time as a factor; None where no time was measured."""
    import numpy as np

    values = draw(item, question).get("total_s")
    if values is None:
        return None
    low, high = np.quantile(values, (0.1, 0.9))
    return math.sqrt(float(high) / float(low)) if low > 0 else math.inf


def candidate_runs(
    groups: Mapping[str, Sequence[Canary]], name: str, question: Question, fractions: Sequence[float] | None = None
) -> list[CandidateRun]:
    """Return what one more canary of a configuration would cost and buy, best width per dollar (else per second) first.

    Each is judged by adding the run that the fit expects, at its own median: the plug-in form of preposterior analysis (Raiffa and
    Schlaifer, Applied Statistical Decision Theory, 1961).

    Args:
        groups: canaries of all configurations, so that what they share stays shared.
        name: the configuration that would run.
        question: what is asked.
        fractions: candidates; by default each measured one again, and three times the largest.
    """
    fitted = fit_all(groups, question.at)
    item = fitted[name]
    before = half_width(item, question)
    if before is None or not item.used:
        return []
    measured = sorted({canary.fraction for canary in item.used})
    wanted = fractions if fractions is not None else sorted({measured[0], measured[-1], min(question.at, 0.5, measured[-1] * 10 / 3)})
    found = []
    for fraction in wanted:
        expected = expected_run(item, fraction, question.seed)
        again = fit_all({**groups, name: [*groups[name], expected]}, question.at)[name]
        after = half_width(again, question) or before
        seconds = expected.total_s or expected.train_s or 0.0
        price = question.billing.usd_per_hour(item.instance_type)
        usd = None if price is None else (seconds + question.billing.startup_s) / 3600 * price * item.instance_count
        found.append(CandidateRun(fraction, fraction in measured, seconds, usd, before, after))
    return sorted(found, key=lambda run: -gain_per_cost(run))


def gain_per_cost(run: CandidateRun) -> float:
    """Return the expected fall of the log half width per dollar, or per second where the price is unknown."""
    return (math.log(run.before) - math.log(run.after)) / max(run.usd if run.usd is not None else run.seconds, 1e-9)


def explain(groups: Mapping[str, Sequence[Canary]], name: str, question: Question) -> list[str]:
    """Return lines that say what drives the width of a configuration's time, and what one more canary would cost and buy."""
    item = fit_all(groups, question.at)[name]
    shares = variance_shares(item, question)
    if not shares:
        return [f"{name}: no time was measured, so nothing can be said of its width"]
    lines = [f"{name}: the width of its time comes from " + ", ".join(f"{cause} {share:.0%}" for cause, share in shares.items())]
    if item.time is not None and not item.time.timed:
        lines.append('  a timer around the fit phase costs nothing and narrows most: `with phase("train")` in the script')
    for run in candidate_runs(groups, name, question):
        price = dollars(run.usd) if run.usd is not None else "price unknown"
        what = "one more run" if run.is_repeat else "one run"
        lines.append(
            f"  {what} at fraction {run.fraction:g}: about {duration(run.seconds)}, {price}; "
            f"80 % interval from x/{run.before:.2f} to x/{run.after:.2f}"
        )
    return lines
