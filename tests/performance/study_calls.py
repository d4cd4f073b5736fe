"""Calls to AWS a finished trial: a study of several experiments at once beside one experiment of as many workers, on an emulator.

All calls that reach the emulator from controllers are counted: what each experiment asks before its first job, uploads, listings, logs,
and what is cleared away at its end. Nothing is timed, but jobs that take longer, and a busy machine, make more calls for polls.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from typing import Any

from _common import ROOT, load_line, show, temporary_folder

SCRIPT = """
import argparse, time
from outrider_report import report
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--seconds", type=float)
given = parser.parse_args()
for step in range(1, 4):
    time.sleep(given.seconds / 3)
    report(step=step, loss=given.x / step)
"""
DEFINITION = """
name: job
script: job.py
space: {x: {uniform: [0, 1]}}
objectives: {loss: min}
arguments: {instance_type: ml.m5.large, seconds: %g}
budget: {max_num_trials: %d}
sagemaker: {image: "image:1"}
"""


def calls_of(experiments: int, workers: int, trials: int, seconds: float) -> Counter[str]:
    """Run a study and return how often each operation was called by its controllers."""
    from backends.emulator import Emulator, Settings
    from backends.emulator.faults.injector import FaultInjector

    made: Counter[str] = Counter()
    check = FaultInjector.check_call

    def counted(self: Any, service: str, operation: str, *more: Any) -> None:
        # What jobs themselves ask for begins so.
        if not operation.startswith("Job"):
            made[operation] += 1
        check(self, service, operation, *more)

    FaultInjector.check_call = counted  # type: ignore[method-assign]
    try:
        with temporary_folder() as folder, Emulator(settings=Settings(quotas={"*": 100})) as emulator:
            source = folder / "source"
            source.mkdir()
            (source / "job.py").write_text(SCRIPT)
            (source / "job.yaml").write_text(DEFINITION % (seconds, trials))
            words = ["run", "--benchmark", str(source / "job.yaml"), "--backend", "sagemaker", "--results_dir", str(folder)]
            words += ["--experiment_tag", "study", "--num_seeds", str(experiments), "--n_workers", str(workers), "--yes"]
            words += ["--parallel", str(experiments)] if experiments > 1 else []
            environment = {**os.environ, **emulator.environment, "OUTRIDER_LEASES": str(folder / "leases")}
            command = [sys.executable, "hpo_main.py", *words]
            run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                raise SystemExit(f"exit code {run.returncode}:\n{run.stderr[-3000:]}")
            done = sum(path.read_text().count("completed") for path in (folder / "study").glob("*/*/trials.csv"))
    finally:
        FaultInjector.check_call = check  # type: ignore[method-assign]
    if done != experiments * trials:
        raise SystemExit(f"{done} of {experiments * trials} trials were completed")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4, help="of each experiment of the study; the one alone has all of them")
    parser.add_argument("--trials", type=int, default=12, help="of each experiment of the study; the one alone has all of them")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each job")
    given = parser.parse_args()
    print(load_line())
    study = calls_of(given.experiments, given.workers, given.trials, given.seconds)
    alone = calls_of(1, given.experiments * given.workers, given.experiments * given.trials, given.seconds)
    trials = given.experiments * given.trials
    rows: list[list[Any]] = [[name, study[name], alone[name]] for name, _ in (study + alone).most_common()]
    rows.append(["a trial", f"{study.total() / trials:.2f}", f"{alone.total() / trials:.2f}"])
    about = f"{trials} jobs of {given.seconds:g} s, {given.experiments * given.workers} at once"
    show(about, ["", f"{given.experiments} experiments at once", "one experiment"], rows)
    print("\ntarget: at most 6 calls a trial")


if __name__ == "__main__":
    main()
