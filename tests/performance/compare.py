"""Reading many experiments: `outrider compare` of all of them against Syne Tune's `load_experiments_df` alone, on the same data.

ours    the whole of it: journals read, methods compared, the table made; without imports, as the peer's
theirs  all that was exported with `--to syne_tune`, read as one table; nothing is compared

The experiments are simulated, ten trials of ten reports each, by RS and REA; `--results DIR` takes those that `--keep` left.
Its optional imports have to be there (huggingface_hub).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from _common import ROOT, in_turn, load_line, median, run_side, show, temporary_folder

RATES = [10 ** (-4 + 0.2 * number) for number in range(20)]
WIDTHS = [8, 16, 32, 64, 128, 256]
LEVELS = 10
DEFINITION = f"""
name: job
script: job.py
space: {{rate: {{choice: {RATES}}}, width: {{choice: {WIDTHS}}}}}
objectives: {{loss: min}}
fidelity: {{kind: progressive, argument: epochs, reported_as: epoch, full: {LEVELS}}}
simulated: {{table: runs.csv}}
budget: {{max_num_trials: 10}}
"""


def make_study(folder: Path, experiments: int) -> Path:
    """Leave a study of so many experiments and its export for Syne Tune in a folder, and return the folder of results."""
    with (folder / "runs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["trial", "repeat", "attempt", "incarnation", "sequence", "elapsed_s", "rate", "width", "loss", "epoch"])
        for number, (rate, width) in enumerate((rate, width) for rate in RATES for width in WIDTHS):
            for epoch in range(1, LEVELS + 1):
                seconds = epoch * (1 + width / 256)
                writer.writerow([number, 0, 1, 0, epoch - 1, seconds, rate, width, abs(rate - 0.01) + 1 / width + 1 / epoch, epoch])
    (folder / "job.py").write_text("")
    (folder / "job.yaml").write_text(DEFINITION)
    results = folder / "results"
    program = [sys.executable, "hpo_main.py"]
    run = ["--benchmark", str(folder / "job.yaml"), "--backend", "simulated", "--method", "RS", "REA"]
    run += ["--num_seeds", str(experiments // 2), "--experiment_tag", "study", "--results_dir", str(results)]
    for words in (run, ["export", "study", "--to", "syne_tune", "--results_dir", str(results)]):
        done = subprocess.run([*program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 4):
            raise SystemExit(done.stderr[-3000:])
    return results


def ours(results: Path) -> dict[str, float]:
    """Return seconds until the experiments were read, and until the table was there."""
    from benchmarking.comparison.document import as_text, document
    from benchmarking.comparison.methods import ComparisonQuestion
    from launch.named_results import named_runs

    begun_s = time.perf_counter()
    runs = named_runs(["study"], results, "compare")
    loaded_s = time.perf_counter()
    as_text(document(runs, ComparisonQuestion()))
    return {"experiments": len(runs), "loaded": loaded_s - begun_s, "all": time.perf_counter() - begun_s}


def theirs(results: Path) -> dict[str, float]:
    """Return seconds until the peer has read the same experiments."""
    from syne_tune.experiments import load_experiments_df

    os.environ["SYNETUNE_FOLDER"] = str(results / "study" / "syne_tune")
    begun_s = time.perf_counter()
    frame = load_experiments_df()
    took_s = time.perf_counter() - begun_s
    return {"experiments": frame["tuner_name"].nunique(), "reports": len(frame), "loaded": took_s, "all": took_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, metavar="DIR", help="of an earlier call with --keep")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the study there and leave it")
    parser.add_argument("--side", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        given.out.write_text(json.dumps({"ours": ours, "theirs": theirs}[given.side](given.results)))
        return
    with temporary_folder() as folder:
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
        results = given.results or make_study(given.keep or folder, given.experiments)
        sides = {
            side: partial(
                run_side,
                __file__,
                "--side",
                side,
                "--results",
                str(results.resolve()),
                environment={"SYNETUNE_FOLDER": str(results.resolve() / "study" / "syne_tune")},
            )
            for side in ("ours", "theirs")
        }
        found = in_turn(given.rounds, sides)
    rows = [
        [side, one[0]["experiments"], *(median([run[name] for run in one]) for name in ("loaded", "all"))] for side, one in found.items()
    ]
    show(f"{rows[0][1]:.0f} experiments of 100 reports ({load_line()})", ["", "experiments", "loaded s", "all s"], rows)
    print(f"\ntarget: at most a third of the peer's time; ours / theirs {rows[0][3] / rows[1][3]:.2f}")


if __name__ == "__main__":
    main()
