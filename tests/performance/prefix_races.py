"""RACE by the beginnings of jobs: how often a decision is wrong, how often there is one, and what it costs.

python tests/performance/prefix_races.py --races 100 --configurations 8              # simulated jobs with known truth
python tests/performance/prefix_races.py --live 4 --folder FOLDER                    # four races of each family of real jobs
python tests/performance/prefix_races.py --live 4 --folder FOLDER --families trees   # of some, e.g. one half on each of two cores
python tests/performance/prefix_races.py --live 0 --folder FOLDER                    # the table of what was run
Step times of configurations are log-normal around 0.1 s (`--spread`), 1000 steps after 5 s of start-up; each configuration's steps get
dearer or cheaper by 15 % on the way (one standard deviation), each step scatters by 20 %, and each run of a job as a whole by 4 %. A
decision is wrong where another configuration's full job is faster by more than the 5 % that count as alike. Spend is that of all runs over
all full jobs.

Live races are of `_race_jobs.py`, ten families whose full jobs take 3 to 15 s; the truth is the processor time of two full runs of every
configuration, and the spend that of all runs over all full jobs. What is in the folder is not run again.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _live_races as live
from _race_jobs import SPACES

from backends.progress import ProgressLine
from backends.simulated.table import Run
from benchmarking.controller.method import MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.methods.race import Race
from tests.benchmarking.experiments import FakeJobs, MemoryJournal, definition, tuner

STEPS, STARTUP_S, CHANGE, SCATTER, REPEAT = 1000, 5.0, 0.15, 0.2, 0.04


class Jobs:
    """Jobs of known mean times."""

    def __init__(self, seed: int, configurations: int, spread: float) -> None:
        source = random.Random(f"jobs-{seed}")
        self._seed, self._runs = seed, Counter()
        self.step_s = [0.1 * math.exp(source.gauss(0, spread)) for _ in range(configurations)]
        self.change = [source.gauss(0, CHANGE) for _ in range(configurations)]

    def mean_s(self, x: int) -> float:
        """Return the mean time of a full job."""
        return STARTUP_S + sum(self._step(x, k, STEPS) for k in range(STEPS))

    def _step(self, x: int, k: int, steps: int) -> float:
        return self.step_s[x] * math.exp(self.change[x] * (k / steps - 0.5))

    def run(self, configuration, level, repeat):
        x, steps = configuration["x"], round(STEPS * (1.0 if level is None else level))
        self._runs[x] += 1
        source = random.Random(f"run-{self._seed}-{x}-{self._runs[x]}")
        run_factor, elapsed_s = math.exp(source.gauss(0, REPEAT)), STARTUP_S
        said, next_s = [ProgressLine(0.0, float(steps), elapsed_s, elapsed_s)], 0.1
        for k in range(steps):
            elapsed_s += self._step(x, k, steps) * run_factor * source.lognormvariate(-(SCATTER**2) / 2, SCATTER)
            if elapsed_s - STARTUP_S >= next_s or k + 1 == steps:
                said.append(ProgressLine(k + 1.0, float(steps), elapsed_s, elapsed_s, number=len(said)))
                next_s = elapsed_s - STARTUP_S + min(max(0.1, 0.05 * (elapsed_s - STARTUP_S)), 10.0)
        return Run([(elapsed_s, {"loss": 1.0})], elapsed_s + 0.01, progress=said)


def race(seed: int, configurations: int, spread: float, **given) -> tuple[str, bool, float]:
    """Return how a race ended, whether a decision was wrong, and its spend."""
    fidelity = {"kind": "per_job", "argument": "fraction", "ladder": [0.01, 0.03, 0.1]}
    asked = definition(space={"x": {"choice": list(range(configurations))}}, objectives={"duration_s": "min"}, fidelity=fidelity)
    arguments = read_arguments("RACE", Race.arguments, given)
    method = Race(MethodContext(asked.search_space, (), asked.objectives, asked.fidelity, seed, arguments, region="us-east-1"))
    table = Jobs(seed, configurations, spread)
    loop = tuner(asked, MemoryJournal(), make_method=lambda: method, table=table, jobs=FakeJobs(max_run_s=99999), n_workers=1)
    loop.run()
    true_s = [table.mean_s(x) for x in range(configurations)]
    decision = str(method.status.decision)
    winner = true_s[int(method.status.winner.partition("=")[2])]
    wrong = decision in ("decided", "tied") and winner > min(true_s) * 1.05
    return decision, wrong, sum(one.duration_s for one in loop.state.trials.values()) / sum(true_s)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--races", type=int, default=100)
    parser.add_argument("--configurations", type=int, default=8)
    parser.add_argument("--spread", type=float, default=0.3)
    parser.add_argument("--live", type=int, help="races of each family of real jobs")
    parser.add_argument("--folder", type=Path, help="of the live races")
    parser.add_argument("--families", nargs="+", choices=list(SPACES), default=list(SPACES))
    given = parser.parse_args()
    if given.live is not None:
        if given.folder is None:
            parser.error("--live needs --folder")
        live.measure(given.folder, given.families if given.live else [], given.live)
        live.show(given.folder, given.families)
        return
    found = [race(seed, given.configurations, given.spread) for seed in range(given.races)]
    ends = Counter(decision for decision, _, _ in found)
    decided = [wrong for decision, wrong, _ in found if decision in ("decided", "tied")]
    spend = sorted(one for _, _, one in found)
    print(f"{given.races} races of {given.configurations}: {dict(ends)}; wrong {sum(decided)} of {len(decided)};"
          f" spend median {spend[len(spend) // 2]:.3f}, most {spend[-1]:.3f} of all in full")  # fmt: skip


if __name__ == "__main__":
    main()
