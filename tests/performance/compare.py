"""Reading many experiments: `outrider compare` of all of them against Syne Tune's `load_experiments_df` alone, on the same data.

ours    the whole of it: experiments read, methods compared, the table made; without imports, as the peer's
folded  the same of experiments whose controllers were all killed, looked at first: each journal is folded, and what it came to is kept
again   the same, looked at once more
theirs  all that was exported with `--to syne_tune`, read as one table; nothing is compared

The experiments are simulated, ten trials of ten reports each, by RS and REA; `--results DIR` takes those that `--keep` left. Then the
same of one experiment of 1,000 trials of 100 reports. The peer's optional imports have to be there (huggingface_hub).
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from _common import ROOT, in_turn, load_line, median, run_side, show, temporary_folder

WIDTHS = [8, 16, 32, 64, 128, 256]
DEFINITION = """
name: job
script: job.py
space: {{rate: {{choice: {rates}}}, width: {{choice: {widths}}}}}
objectives: {{loss: min}}
fidelity: {{kind: progressive, argument: epochs, reported_as: epoch, full: {levels}}}
simulated: {{table: runs.csv}}
budget: {{max_num_trials: {trials}}}
"""


@dataclass(frozen=True)
class Size:
    """Experiments of so many trials, with a report a level."""

    experiments: int
    trials: int
    levels: int


def make_study(folder: Path, size: Size) -> Path:
    """Leave experiments of a size and their export for Syne Tune in a folder, and return the folder of results."""
    rates = [10 ** (-4 + 4 * number / max(20, size.trials // len(WIDTHS) + 1)) for number in range(max(20, size.trials // len(WIDTHS) + 1))]
    with (folder / "runs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["trial", "repeat", "attempt", "incarnation", "sequence", "elapsed_s", "rate", "width", "loss", "epoch"])
        for number, (rate, width) in enumerate((rate, width) for rate in rates for width in WIDTHS):
            for epoch in range(1, size.levels + 1):
                seconds = epoch * (1 + width / 256)
                writer.writerow([number, 0, 1, 0, epoch - 1, seconds, rate, width, abs(rate - 0.01) + 1 / width + 1 / epoch, epoch])
    (folder / "job.py").write_text("")
    (folder / "job.yaml").write_text(DEFINITION.format(rates=rates, widths=WIDTHS, levels=size.levels, trials=size.trials))
    results = folder / "results"
    program = [sys.executable, "hpo_main.py"]
    methods = ["RS", "REA"] if size.experiments > 1 else ["RS"]
    run = ["--benchmark", str(folder / "job.yaml"), "--backend", "simulated", "--method", *methods]
    run += ["--num_seeds", str(size.experiments // len(methods)), "--experiment_tag", "study", "--results_dir", str(results)]
    for words in (run, ["export", "study", "--to", "syne_tune", "--results_dir", str(results)]):
        done = subprocess.run([*program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 4):
            raise SystemExit(done.stderr[-3000:])
    return results


def leave_killed(results: Path) -> None:
    """Leave the same experiments beside the others as if their controllers had been killed: without an end, the last records in the log."""
    shutil.copytree(results / "study", results / "killed", ignore=shutil.ignore_patterns("syne_tune", "folded.json", "result.json"))
    for path in (results / "killed").glob("*/*/journal.sqlite"):
        # Who writes moves the log into the file when the last connection is closed, unless somebody reads.
        reading = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        with contextlib.closing(reading) as reader, contextlib.closing(sqlite3.connect(path)) as writer:
            reader.execute("SELECT max(sequence) FROM records").fetchone()
            writer.execute("DELETE FROM records WHERE kind = 'end'")
            writer.commit()
        if not path.with_name("journal.sqlite-wal").stat().st_size:
            raise SystemExit(f"nothing is in the log of {path}")


def ours(results: Path, tag: str = "study", looks_before: int = 0) -> dict[str, float]:
    """Return seconds until the experiments were read, and until the table was there."""
    import numpy  # noqa: F401 (what the peer's module has imported before it is asked)
    import scipy.special  # noqa: F401

    import launch.planning  # noqa: F401
    from benchmarking.comparison import from_csv, loading, reading  # noqa: F401
    from benchmarking.comparison.document import as_text, document
    from benchmarking.comparison.kept_fold import NAME
    from benchmarking.comparison.question import ComparisonQuestion
    from launch.named_results import named_runs

    if tag == "killed":
        for path in results.glob(f"killed/*/*/{NAME}"):
            path.unlink()
        for _ in range(looks_before):
            named_runs([tag], results, "compare")
    begun_s, begun_cpu_s = time.perf_counter(), time.process_time()
    runs = named_runs([tag], results, "compare")
    loaded_s, loaded_cpu_s = time.perf_counter() - begun_s, time.process_time() - begun_cpu_s
    as_text(document(runs, ComparisonQuestion()))
    whole_s, whole_cpu_s = time.perf_counter() - begun_s, time.process_time() - begun_cpu_s
    return {"experiments": len(runs), "loaded": loaded_s, "loaded_cpu": loaded_cpu_s, "all": whole_s, "cpu": whole_cpu_s}


def theirs(results: Path) -> dict[str, float]:
    """Return seconds until the peer has read the same experiments."""
    from syne_tune.experiments import load_experiments_df

    os.environ["SYNETUNE_FOLDER"] = str(results / "study" / "syne_tune")
    begun_s, begun_cpu_s = time.perf_counter(), time.process_time()
    frame = load_experiments_df()
    took_s, took_cpu_s = time.perf_counter() - begun_s, time.process_time() - begun_cpu_s
    return {"experiments": frame["tuner_name"].nunique(), "loaded": took_s, "loaded_cpu": took_cpu_s, "all": took_s, "cpu": took_cpu_s}


SIDES: dict[str, Callable[[Path], dict[str, float]]] = {
    "ours": ours,
    "folded": partial(ours, tag="killed"),
    "again": partial(ours, tag="killed", looks_before=1),
    "theirs": theirs,
}


def measured(results: Path, rounds: int, what: str) -> dict[str, dict[str, float]]:
    """Measure all sides in turn, print a table, and return medians by side."""
    if not (results / "killed").is_dir():
        leave_killed(results)
    environment = {"SYNETUNE_FOLDER": str(results / "study" / "syne_tune")}
    sides = {
        side: partial(run_side, __file__, "--side", side, "--results", str(results.resolve()), environment=environment) for side in SIDES
    }
    found = in_turn(rounds, sides)
    columns = ("experiments", "loaded", "loaded_cpu", "all", "cpu")
    medians = {side: {name: median([run[name] for run in one]) for name in columns} for side, one in found.items()}
    rows = [[side, *values.values()] for side, values in medians.items()]
    show(f"{what} ({load_line()})", ["", "experiments", "loaded s", "loaded cpu s", "all s", "all cpu s"], rows)
    return medians


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results", type=Path, metavar="DIR", help="of an earlier call with --keep")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the study there and leave it")
    parser.add_argument("--side", choices=tuple(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        given.out.write_text(json.dumps(SIDES[given.side](given.results)))
        return
    with temporary_folder() as folder:
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
        results = given.results or make_study(given.keep or folder, Size(given.experiments, 10, 10))
        many = measured(results, given.rounds, f"{given.experiments} experiments of 100 reports")
        (folder / "one").mkdir()
        large = measured(make_study(folder / "one", Size(1, 1_000, 100)), given.rounds, "one experiment of 100,000 reports")
    for name in ("all", "cpu"):
        print(
            f"\ntarget: at most a third of the peer's time; ours / theirs, {name}: {many['ours'][name] / many['theirs'][name]:.2f}", end=""
        )
        print(f", of killed ones {many['again'][name] / many['theirs'][name]:.2f}", end="")
        print(f", looked at first {many['folded'][name] / many['theirs'][name]:.2f}", end="")
    print(f"\ntarget: 100,000 reports load in 2 s; {large['ours']['loaded']:.1f}, of a killed one {large['folded']['loaded']:.1f}", end="")
    print(f" (cpu {large['ours']['loaded_cpu']:.1f} and {large['folded']['loaded_cpu']:.1f})")


if __name__ == "__main__":
    main()
