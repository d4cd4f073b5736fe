"""The SageMaker back-end under load: many training jobs at once on an emulator in a process of its own.

calls      API calls per finished trial, by operation, the uploads included
polls      calls of a listing and of the looks at logs meanwhile, few and many jobs at once
processor  of the controller alone, in percent of one core, over the whole run and while all workers are busy
memory     resident memory of the controller after each third of the trials
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from _common import ROOT, temporary_folder

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
POLLS = ("ListTrainingJobs", "FilterLogEvents")


class Watch:
    """An observer of the loop that samples the controller when trials end."""

    def __init__(self, n_workers: int, every: int) -> None:
        self.n_workers, self.every = n_workers, every
        self.tuner: Any = None
        self.backend: Any = None
        self.memory_mb: list[float] = []
        self.full_from: tuple[float, float] | None = None
        self.full_until: tuple[float, float] | None = None

    def started(self, tuner: Any, _: int) -> None:
        self.tuner = tuner

    def __call__(self, record: Any, state: Any) -> None:
        if state.busy >= self.n_workers:
            now = time.perf_counter(), time.process_time()
            self.full_from, self.full_until = self.full_from or now, now
        if record.kind == "settle" and state.finished % self.every == 0:
            self.memory_mb.append(int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6)


def run(folder: Path, endpoint: dict[str, str], n_workers: int, trials: int, seconds: float) -> None:
    """Run one experiment and print what it took."""
    from backends.registry import backend_class
    from benchmarking.archive.folder import prepare_folder
    from benchmarking.experiment import run_experiment
    from benchmarking.methods.registry import experiment_spec
    from benchmarking.surroundings import Surroundings
    from definitions.resolve import resolve_python
    from definitions.schema import BenchmarkDefinition

    (folder / "source").mkdir(exist_ok=True)
    (folder / "source" / "train.py").write_text(SCRIPT)
    definition = BenchmarkDefinition.model_validate(
        {
            "name": "load",
            "script": "train.py",
            "source_dir": str(folder / "source"),
            "arguments": {"instance_type": "ml.m5.large", "seconds": seconds},
            "space": {"x": {"uniform": [0.0, 1.0]}},
            "objectives": {"loss": "min"},
            "n_workers": n_workers,
            "budget": {"max_num_trials": trials},
            "sagemaker": {"image": "image:1"},
        }
    )
    watch = Watch(n_workers, max(1, trials // 3))

    def make(name: str, context: Any) -> Any:
        watch.backend = backend_class(name).create(context)
        return watch.backend

    environ = {**os.environ, **endpoint}
    spec = experiment_spec(resolve_python(definition, "sagemaker"), "RS", 1, f"load-{n_workers}", folder / "results")
    surroundings = Surroundings(environ, folder, observers=(watch,), started=watch.started, make_backend=make)
    prepare_folder(spec, environ)
    began = time.perf_counter(), time.process_time()
    result = run_experiment(spec, surroundings)
    wall_s, cpu_s = time.perf_counter() - began[0], time.process_time() - began[1]
    done = sum(str(trial.status) == "completed" for trial in result.state.trials.values())
    print(f"{trials} trials, {n_workers} at once, {seconds:g} s each: {done} completed in {wall_s:.0f} s")
    calls = watch.backend.calls_made
    each = "  ".join(f"{name} {count}" for name, count in sorted(calls.items(), key=lambda item: -item[1]))
    print(f"  calls      {sum(calls.values()) / trials:.2f} per trial: {each}")
    polled = sum(calls.get(name, 0) for name in POLLS)
    print(f"  polls      {polled / watch.backend.polls:.2f} calls a listing (listings and logs; pages, and logs read once more, included)")
    print(f"  processor  {100 * cpu_s / wall_s:.1f} % of a core over the whole run ({1e3 * cpu_s / trials:.0f} ms a trial)")
    if watch.full_from and watch.full_until and watch.full_until[0] > watch.full_from[0]:
        share = (watch.full_until[1] - watch.full_from[1]) / (watch.full_until[0] - watch.full_from[0])
        print(f"             {100 * share:.1f} % while all workers were busy")
    print("  memory     " + " ".join(f"{value:.0f}" for value in watch.memory_mb) + " MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=600)
    parser.add_argument("--at_once", type=int, default=200)
    parser.add_argument("--few", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each job")
    given = parser.parse_args()
    command = [sys.executable, "-m", "launch", "emulate", "--quota", f"*={2 * given.at_once}"]
    emulator = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert emulator.stdout is not None
        lines = [emulator.stdout.readline() for _ in range(6)]
        # As a shell reads them: what is empty is quoted.
        endpoint = dict(shlex.split(line)[1].split("=", 1) for line in lines if line.startswith("export "))
        os.environ.update(endpoint)
        with temporary_folder() as folder:
            run(folder, endpoint, given.few, 3 * given.few, given.seconds / 4)
            run(folder, endpoint, given.at_once, given.trials, given.seconds)
    finally:
        emulator.terminate()
        emulator.wait()


if __name__ == "__main__":
    main()
