"""Two experiments of one worker each: `--parallel 2` against one after the other, the whole command from its start to its end.

computes  each trial computes for so many seconds of a processor, as training does
sleeps    each trial sleeps instead, so that what is left is what we ourselves take, also on a machine that has other things to do
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from _common import ROOT, Cost, cost_of, in_turn, load_line, median, show, temporary_folder

SCRIPT = """
import argparse, time
from outrider_report import report
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--seconds", type=float)
parser.add_argument("--kind")
given = parser.parse_args()
if given.kind == "sleeps":
    time.sleep(given.seconds)
else:
    while time.process_time() < given.seconds:
        sum(range(1000))
report(loss=given.x)
"""
DEFINITION = """
name: job
script: job.py
space: {x: {uniform: [0, 1]}}
objectives: {loss: min}
arguments: {kind: %s, seconds: %g}
n_workers: 1
budget: {max_num_trials: %d}
"""


def study(kind: str, trials: int, seconds: float, parallel: int) -> Cost:
    """Run a study of two seeds and return what it took."""
    with temporary_folder() as folder:
        (folder / "job.py").write_text(SCRIPT)
        (folder / "job.yaml").write_text(DEFINITION % (kind, seconds, trials))
        words = ["hpo_main.py", "--benchmark", str(folder / "job.yaml"), "--results_dir", str(folder), "--experiment_tag", "study"]
        words += ["--num_seeds", "2", "--parallel", str(parallel)]
        environment = {**os.environ, "OUTRIDER_LEASES": str(folder / "leases")}
        with (folder / "out").open("wb") as out:
            cost = cost_of(lambda: subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, stdout=out, stderr=out, check=True))
        done = sum(_completed(path) for path in (folder / "study").glob("*/*/trials.csv"))
    if done != 2 * trials:
        raise SystemExit(f"{done} of {2 * trials} trials were completed")
    return cost


def _completed(path: Path) -> int:
    return path.read_text().count("completed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=10, help="of each experiment")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each trial")
    given = parser.parse_args()
    kinds = ("computes", "sleeps")
    # One that is not counted fills the caches of files and of compiled modules.
    study("sleeps", 1, 0.0, 2)
    sides = {
        f"{kind}, {name}": lambda kind=kind, parallel=parallel: study(kind, given.trials, given.seconds, parallel)
        for kind in kinds
        for name, parallel in (("at once", 2), ("one after the other", 1))
    }
    found = in_turn(given.rounds, sides)
    wall = {name: median([cost.wall_s for cost in costs]) for name, costs in found.items()}
    cpu = {name: median([cost.cpu_s for cost in costs]) for name, costs in found.items()}
    rows = [[name, wall[name], min(cost.wall_s for cost in found[name]), cpu[name]] for name in sides]
    about = f"2 experiments x {given.trials} trials x {given.seconds:g} s, one worker each ({load_line()})"
    show(about, ["", "wall s", "least wall s", "cpu s"], rows)
    ratios = {kind: wall[f"{kind}, at once"] / wall[f"{kind}, one after the other"] for kind in kinds}
    print(
        "\ntarget: makespan at once at most 0.6 of one after the other; " + ", ".join(f"{kind} {one:.2f}" for kind, one in ratios.items())
    )


if __name__ == "__main__":
    main()
