"""Many no-op scripts, two at a time: ours against `xargs -P2` that runs the very same processes.

  command     `hpo_main.py` with a definition, from the first instruction of its interpreter to its exit: what a user waits for
  experiment  the same experiment in a process that has its imports done: folder, journal, processes, exports (CSV), verdict not printed
  warm ...    the same with `preload: [sys]`: scripts are forked from an interpreter that has imported nothing for them
  xargs       `xargs -P2 -n1 python noop_trial.py`, output to a file
Processor seconds are those of the controller and all its scripts together. `--profile` prints where the experiment's own go.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from _common import NOOP, ROOT, Cost, cost_of, in_turn, load_line, median, run_side, show, temporary_folder

WORKERS = 2
COLD, EMPTY = "[]", "[sys]"
STARTS = {"": COLD, "warm ": EMPTY}


def command(trials: int, preload: str) -> Cost:
    """Run `hpo_main.py`."""
    from _ours import noop_spec

    with temporary_folder() as folder:
        noop_spec(folder, trials, WORKERS, "local", preload)
        words = ["hpo_main.py", "--benchmark", str(folder / "noop.yaml"), "--results_dir", str(folder), "--experiment_tag", "performance"]
        environment = {**os.environ, "OUTRIDER_LEASES": str(folder / "leases")}
        with (folder / "out").open("wb") as out:
            cost = cost_of(lambda: subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, stdout=out, stderr=out, check=True))
        done = (folder / "performance" / "noop" / "RS-local-0" / "trials.csv").read_text().count("completed")
    if done != trials:
        raise SystemExit(f"{done} of {trials} trials were completed")
    return cost


def experiment(trials: int, preload: str, profile: bool = False) -> Cost:
    """Run the experiment in this process."""
    from _ours import run_local

    with temporary_folder() as folder:
        # The first one imports what is imported late.
        run_local(folder, 2, WORKERS, preload)
    with temporary_folder() as folder:
        if not profile:
            return cost_of(lambda: run_local(folder, trials, WORKERS, preload))
        import cProfile
        import pstats

        profiler = cProfile.Profile(time.process_time)
        profiler.runcall(run_local, folder, trials, WORKERS, preload)
        pstats.Stats(profiler).sort_stats("cumtime").print_stats(60)
    return Cost(0.0, 0.0)


def xargs(trials: int) -> Cost:
    """Run the same scripts by `xargs`."""
    names = "\n".join(str(number) for number in range(trials)).encode()
    with temporary_folder() as folder, (folder / "out").open("wb") as out:
        words = ["xargs", f"-P{WORKERS}", "-n1", sys.executable, str(NOOP), "--x"]
        return cost_of(lambda: subprocess.run(words, input=names, stdout=out, check=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="profile one experiment and stop")
    parser.add_argument("--preload", default=COLD, help="with --profile: modules as a YAML list, `[sys]` for a worker that imports nothing")
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.profile:
        experiment(given.trials, given.preload, profile=True)
        return
    if given.out:
        cost = experiment(given.trials, given.preload)
        given.out.write_text(json.dumps([cost.wall_s, cost.cpu_s]))
        return
    trials = given.trials
    found = in_turn(
        given.rounds,
        {
            **{f"ours: {name}command": lambda preload=preload: command(trials, preload) for name, preload in STARTS.items()},
            **{
                f"ours: {name}experiment": lambda words=("--trials", str(trials), "--preload", preload): Cost(*run_side(__file__, *words))
                for name, preload in STARTS.items()
            },
            "xargs": lambda: xargs(trials),
        },
    )
    rows = []
    wall = {name: median([cost.wall_s for cost in costs]) for name, costs in found.items()}
    cpu = {name: median([cost.cpu_s for cost in costs]) for name, costs in found.items()}
    for name in found:
        rows.append([name, wall[name], cpu[name], 1000 * wall[name] / trials, wall[name] / wall["xargs"], cpu[name] / cpu["xargs"]])
    header = ["", "wall s", "cpu s", "wall ms a trial", "wall / xargs", "cpu / xargs"]
    show(f"{trials} no-op scripts, {WORKERS} at a time ({load_line()})", header, rows)
    print("\ntarget: at most 1.2; warm below 1.0")
    ratios = [
        f"{name.removeprefix('ours: ')} {wall[name] / wall['xargs']:.2f} (cpu {cpu[name] / cpu['xargs']:.2f})" for name in list(found)[:-1]
    ]
    print("ratio ours / xargs: " + ", ".join(ratios))


if __name__ == "__main__":
    main()
