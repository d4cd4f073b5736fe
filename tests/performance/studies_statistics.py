"""How often verdicts and intervals of studies are wrong where the truth is known: simulated studies, nothing is timed.

verdicts   studies of three methods in ten trials, alike but for luck (normal, t3 and lognormal in turn), all that `outrider compare` says:
           how often "better" stands anywhere; looked at once, or extended twice (8, 10, 12 seeds), stopped where something was better
sooner     of such studies how often "sooner" is said: of who is better alone, as it is said, and of all, as where the values of all were
           decided by something else than time; and with one method ahead, so that it is sooner
power      the same with one method better by so many standard deviations of a trial
intervals  how often ours of a mean hold it, beside Student's t and, with `--syne_tune FILE`, the bands of Syne Tune (its module
           `syne_tune/experiments/visualization/aggregate_results.py`, which its later versions have not)
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _common import show

from benchmarking.analysis.intervals import mean_intervals, standard_deviation, student_quantile
from tests.benchmarking.comparison.simulated_studies import DISTRIBUTIONS, found_better, found_sooner

LOOKS = (8, 10, 12)
SIZES = (5, 8)
BENCHMARKS = (1, 2)
LEADS = (0.5, 1.0, 1.5)
PEER_TRUTHS = 400_000

Interval = Callable[[Sequence[float]], tuple[float, float]]


def verdicts(studies: int) -> None:
    """Print in how many studies without a difference something was better, on one benchmark and on two."""
    draws = [draw for draw, _ in DISTRIBUTIONS.values()]
    rows: list[list[Any]] = []
    for benchmarks in BENCHMARKS:
        where = "one benchmark" if benchmarks == 1 else f"{benchmarks} benchmarks"
        looks = LOOKS if benchmarks == 1 else LOOKS[:1]
        found = [found_better(draws[number % len(draws)], number, looks, benchmarks=benchmarks) for number in range(studies)]
        rows.append([f"{where}, {LOOKS[0]} seeds, looked at once", share(one[0] for one in found)])
        for offset, name in enumerate(DISTRIBUTIONS):
            rows.append([f"{where}, {name}, looked at once", share(one[0] for one in found[offset :: len(draws)])])
        for last in range(2, len(looks) + 1):
            rows.append([f"{where}, extended to {LOOKS[last - 1]}, ended where better", share(any(one[:last]) for one in found)])
            rows.append([f"{where}, extended to {LOOKS[last - 1]} in any case, last verdict", share(one[last - 1] for one in found)])
    show(f"{studies} studies without a difference: share with a wrong verdict anywhere", ["", "share"], rows)


def sooner(studies: int) -> None:
    """Print in how many studies without a difference, and with one, a method is said to have reached the target sooner."""
    rows: list[list[Any]] = []
    for name, (draw, _) in DISTRIBUTIONS.items():
        for many in BENCHMARKS:
            found = [
                [found_sooner(draw, seed, LOOKS[0], benchmarks=many, open_gate=gate) for seed in range(studies)] for gate in (False, True)
            ]
            rows.append([name, many, "none", *map(share, found)])
    normal = DISTRIBUTIONS["normal"][0]
    for lead in LEADS:
        found = [[found_sooner(normal, seed, LOOKS[0], lead, open_gate=gate) for seed in range(studies // 10)] for gate in (False, True)]
        rows.append(["normal", 1, lead, *map(share, found)])
    heads = ["", "benchmarks", "lead, sd of a trial", "of who is better", "of all"]
    show(f"{studies} studies of {LOOKS[0]} seeds ({studies // 10} with a lead): share that says sooner anywhere", heads, rows)


def power(studies: int) -> None:
    """Print in how many studies with a difference something was better, on one benchmark and on two."""
    draw = DISTRIBUTIONS["normal"][0]
    rows = [
        [lead, *(share(found_better(draw, number, LOOKS[:1], lead, many)[0] for number in range(studies)) for many in BENCHMARKS)]
        for lead in LEADS
    ]
    heads = ["lead, sd of a trial", *(f"{many} {'benchmark' if many == 1 else 'benchmarks'}" for many in BENCHMARKS)]
    show(f"{studies} studies of {LOOKS[0]} seeds, normal, each lead: share that says better anywhere", heads, rows)


def intervals(draws: int, peer: Path | None) -> None:
    """Print how often intervals hold what they are of."""
    bands = {} if peer is None else peer_bands(peer)
    rows, heads = [], ["", "n", "ours", "Student's t", *(f"Syne Tune {name}" for name in bands)]
    for name, (draw, mean) in DISTRIBUTIONS.items():
        for n in SIZES:
            generator = np.random.default_rng(n)
            samples = [[*map(float, draw(generator, n))] for _ in range(draws)]
            row: list[Any] = [
                name,
                n,
                share(holds(one, mean) for one in ours(samples)),
                share(holds(students_t(one), mean) for one in samples),
            ]
            for what, band in bands.items():
                # An interquartile mean is not the mean where data are skewed: its band is judged by what it estimates at this size.
                truth = mean if what == "mean" else peer_truth(draw, n)
                row.append(share(holds(band(one), truth) for one in samples))
            rows.append(row)
    show(f"intervals of 95 %, {draws} draws: share that hold", heads, rows)


def ours(samples: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return our interval of each sample; so many at once as fit into memory."""
    found = [one for begin in range(0, len(samples), 500) for one in mean_intervals(samples[begin : begin + 500])]
    return [(one.low, one.high) for one in found if one is not None]


def students_t(values: Sequence[float]) -> tuple[float, float]:
    centre = math.fsum(values) / len(values)
    half = student_quantile(0.975, len(values) - 1) * standard_deviation(values) / math.sqrt(len(values))
    return centre - half, centre + half


def peer_bands(path: Path) -> dict[str, Interval]:
    """Return Syne Tune's own functions as intervals of one sample."""
    np.NaN = np.nan  # type: ignore[attr-defined]  # it was written for numpy 1
    spec = importlib.util.spec_from_file_location("aggregate_results", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def band(function: Callable[..., Any]) -> Interval:
        def of(values: Sequence[float]) -> tuple[float, float]:
            found = function(np.array([values]), np.zeros(1))
            return float(found["lower"][0]), float(found["upper"][0])

        return of

    return {"mean": band(module.compute_mean_and_ci), "IQM": band(module.compute_iqm_bootstrap)}


def peer_truth(draw: Callable[..., Any], n: int) -> float:
    """Return the mean of what an interquartile mean of n values is, which is the middle of the peer's band."""
    data = np.sort(draw(np.random.default_rng(99), PEER_TRUTHS * n).reshape(PEER_TRUTHS, n), axis=1)
    # A quarter of the values' weight is taken off at each end, in part of a value where it is no whole number of them.
    weights = np.clip(np.arange(1, n + 1) - n / 4, 0, 1)
    weights = np.minimum(weights, weights[::-1])
    return float((data @ weights / weights.sum()).mean())


def holds(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] <= truth <= interval[1]


def share(found: Any) -> str:
    values = [*found]
    return f"{sum(values) / len(values):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--draws", type=int, default=8_000)
    parser.add_argument("--power_studies", type=int, default=200)
    parser.add_argument("--syne_tune", type=Path, metavar="FILE")
    given = parser.parse_args()
    intervals(given.draws, given.syne_tune)
    power(given.power_studies)
    verdicts(given.studies)
    sooner(given.studies)


if __name__ == "__main__":
    main()
