"""What `--explain` promises of one more run beside what that run then bought: half of the 80 % interval, on the log scale.

python tests/performance/promised_widths.py FOLDER [FOLDER ...]    # of any runs by CANARY or RACE, e.g. those of prefix_races.py --live

Of every configuration its runs are taken in the order in which they were made. Where the next one is of a kind that was promised (its
beginning for twice as long, or a small job near that fraction), the promise from the runs before it is compared with the forecast from them
and it. A beginning counts where it ran for 1.5 to 2.7 times as long as the longest before.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


from benchmarking.forecasting.data.canary import PREFIX, Canary, by_configuration
from benchmarking.forecasting.data.results_folder import read_measured
from benchmarking.forecasting.explain import CandidateRun, explanations, half_widths
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.fit import fit_all

METRICS = ("cpu_s", "total_s", "rss_bytes")
WITHIN, _NEAR = 0.2, 0.15
_QUESTION = Question(Billing("us-east-1"))


@dataclass(frozen=True)
class Promise:
    """One promise: of which kind of run and metric, and the log half widths before, as promised, and as they came."""

    kind: str
    metric: str
    before: float
    promised: float
    came: float

    @property
    def off_by(self) -> float:
        return self.came / self.promised - 1


def _of(run: Canary, options: tuple[CandidateRun, ...]) -> CandidateRun | None:
    if run.status == PREFIX:
        return next((one for one in options if one.is_prefix), None)
    return next((one for one in options if not one.is_prefix and abs(math.log(one.fraction / run.fraction)) < _NEAR), None)


def _is_as_promised(run: Canary, before: list[Canary]) -> bool:
    """Return whether a beginning ran for about twice as long as the longest before it; true of small jobs."""
    loops = [one.progress.end_s - one.progress.begin_s for one in before if one.status == PREFIX and one.progress is not None]
    if run.status != PREFIX:
        return True
    return bool(loops) and run.progress is not None and 1.5 <= (run.progress.end_s - run.progress.begin_s) / max(loops) <= 2.7


def promises(name: str, runs: list[Canary]) -> Iterator[Promise]:
    """Yield the promises of one configuration that a later run of it can be held against."""
    for number in range(1, len(runs)):
        before, run = runs[:number], runs[number]
        if not _is_as_promised(run, before) or all(one.total_s is None for one in before):
            continue
        after = half_widths(fit_all({name: runs[: number + 1]}, 1.0)[name], _QUESTION)
        for one in explanations({name: before}, name, _QUESTION):
            option = _of(run, one.runs)
            came = after.get(one.metric)
            if one.metric in METRICS and option is not None and came is not None and min(option.after, option.before, came) > 1.0:
                logs = (math.log(value) for value in (option.before, option.after, came))
                yield Promise(option.kind, one.metric, *logs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--details", action="store_true", help="a line for each promise")
    given = parser.parse_args()
    found: dict[tuple[str, str], list[Promise]] = defaultdict(list)
    for path in sorted(path for folder in given.folders for path in folder.glob("**/experiment.json")):
        measured = read_measured(path.parent)
        runs = [one for one in measured.canaries.canaries if not one.is_full] if measured else []
        for name, group in by_configuration(sorted(runs, key=lambda one: one.about["trial"])).items():
            for one in promises(name, group):
                found[one.metric, one.kind].append(one)
                if given.details:
                    print(f"{path.parent.parent.name} {name}: {one}")
    for (metric, kind), each in sorted(found.items()):
        off = [one.off_by for one in each]
        before, promised, came = (
            math.exp(statistics.median(values)) for values in zip(*((one.before, one.promised, one.came) for one in each), strict=True)
        )
        held, wider = sum(abs(one) <= WITHIN for one in off), sum(one > WITHIN for one in off)
        print(f"{metric:10} {kind:7} {len(each):4} promises: {held / len(each):4.0%} within {WITHIN:.0%}, {wider} wider;", end=" ")
        print(f"half width before x/{before:.3f}, promised x/{promised:.3f}, came x/{came:.3f}; off by {statistics.median(off):+.0%}")


if __name__ == "__main__":
    main()
