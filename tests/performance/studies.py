"""What a study costs beside its experiments: 200 simulated ones, its resume when it is over, and the status of 1,000 experiments.

  study        `outrider run` of 200 seeds of RS, ten trials each, on the simulated back-end: the whole command, its report included
  experiments  the same experiments one after the other in a process of their own, without study, panel, comparison and report
  resume       `outrider run --resume` of the study that is over: everything is read, nothing is run (target: 1 s)
  status       `outrider status` of five such studies

Targets: the study at most 1.3 times its experiments.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from _common import ROOT, Cost, cost_of, in_turn, load_line, median, run_side, show, temporary_folder

DEFINITION = """
name: bench
script: job.py
space: {{x: {{choice: {values}}}}}
objectives: {{loss: min}}
simulated: {{table: {table}}}
budget: {{max_num_trials: 10}}
"""
VALUES = [0.01 * number for number in range(100)]
COPIES = 5


def make_benchmark(folder: Path) -> Path:
    """Write a benchmark of made-up measurements into the folder and return its definition's path."""
    rows = [f"{trial},0,1,0,0,{1 + value},{value},{(value - 0.3) ** 2}" for trial, value in enumerate(VALUES)]
    table = folder / "runs.csv"
    table.write_text("\n".join(["trial,repeat,attempt,incarnation,sequence,elapsed_s,x,loss", *rows]) + "\n")
    (folder / "job.py").write_text("")
    path = folder / "bench.yaml"
    path.write_text(DEFINITION.format(values=VALUES, table=table))
    return path


def command(folder: Path, *words: str) -> Cost:
    """Return what a command takes, in a process of its own."""
    whole = [sys.executable, "hpo_main.py", *words, "--results_dir", str(folder / "results")]
    return cost_of(
        lambda: subprocess.run(whole, cwd=ROOT, env={**os.environ}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    )


def alone(folder: Path, seeds: int) -> None:
    """Run the experiments of the study one after the other, as if each were the only one."""
    from benchmarking.experiment import run_experiment
    from benchmarking.methods.registry import experiment_spec
    from benchmarking.surroundings import Surroundings
    from definitions.resolve import resolve
    from definitions.yaml_source import read_yaml

    resolved = resolve(read_yaml(folder / "bench.yaml"), "simulated")
    for seed in range(seeds):
        spec = experiment_spec(resolved, "RS", seed, "alone", folder / "results", {}, seed)
        run_experiment(spec, Surroundings(dict(os.environ), folder / "cache"))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        alone(given.folder, given.seeds)
        given.out.write_text("null")
        return
    print(load_line())
    with temporary_folder() as folder:
        made, seeds = make_benchmark(folder), str(given.seeds)

        def study() -> Cost:
            shutil.rmtree(folder / "results" / "s0", ignore_errors=True)
            words = ("--benchmark", str(made), "--method", "RS", "--backend", "simulated", "--num_seeds", seeds)
            return command(folder, "run", *words, "--experiment_tag", "s0")

        def experiments() -> Cost:
            shutil.rmtree(folder / "results" / "alone", ignore_errors=True)
            return cost_of(lambda: run_side(__file__, "--side", "alone", "--folder", str(folder), "--seeds", seeds))

        found = in_turn(given.rounds, {"study": study, "experiments": experiments})
        found["resume"] = [command(folder, "run", "--resume", "s0") for _ in range(given.rounds)]
        for number in range(1, COPIES):
            shutil.copytree(folder / "results" / "s0", folder / "results" / f"s{number}")
        found["status"] = [command(folder, "status", *(f"s{number}" for number in range(COPIES))) for _ in range(given.rounds)]
    rows: list[list[Any]] = [
        [name, f"{median([one.wall_s for one in costs]):.2f}", f"{median([one.cpu_s for one in costs]):.2f}"]
        for name, costs in found.items()
    ]
    show(f"{given.seeds} simulated experiments of ten trials", ["", "wall s", "cpu s"], rows)
    pairs = list(zip(found["study"], found["experiments"], strict=True))
    wall, cpu = median([one.wall_s / other.wall_s for one, other in pairs]), median([one.cpu_s / other.cpu_s for one, other in pairs])
    print(f"\ntarget: the study at most 1.3 times its experiments; of pairs measured in turn wall {wall:.2f}, cpu {cpu:.2f}")


if __name__ == "__main__":
    main()
