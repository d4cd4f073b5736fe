"""How often a run whose state is in S3 writes there, as the emulator counts: for each finished trial, and for each second without news.

The peer is the same run whose state is in its folder alone; what both write, code and outputs, is the trials' own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _common import ROOT, temporary_folder

SCRIPT = """
import sys, time
from outrider_report import report
given = dict(word.split("=", 1) for word in sys.argv[1:])
for epoch in range(1, int(given["--epochs"]) + 1):
    time.sleep(float(given["--seconds"]))
    report(loss=float(given["--x"]) / epoch, epoch=epoch)
"""
DEFINITION = """
name: writes
script: train.py
arguments: {{instance_type: ml.m5.large, seconds: {seconds}, epochs: {epochs}}}
space: {{x: {{uniform: [0.0, 1.0]}}}}
objectives: {{loss: min}}
n_workers: {at_once}
budget: {{max_num_trials: {trials}, max_run: 3600}}
sagemaker: {{image: "image:1", bucket: bench}}
"""
URI = "s3://bench/outrider/runs/w"

Writes = list[tuple[float, str]]
"""When an object was written, in seconds, and its path."""


@contextmanager
def written() -> Iterator[Writes]:
    """Note what is written to emulators of this process."""
    from backends.emulator.router import Router

    answer, found = Router.answer, list[tuple[float, str]]()

    def noting(self: Any, request: Any) -> Any:
        if request.method == "PUT":
            found.append((time.monotonic(), request.path))
        return answer(self, request)

    Router.answer = noting  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Router.answer = answer  # type: ignore[method-assign]


def run(folder: Path, *, kept: bool, seconds: float, epochs: int, trials: int, at_once: int) -> Writes:
    """Run an experiment on an emulator and return what was written."""
    from backends.emulator import Emulator, Settings
    from backends.emulator.core.settings import TRAINING_QUOTA

    folder = folder / f"{kept}-{trials}"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "writes.yaml").write_text(DEFINITION.format(seconds=seconds, epochs=epochs, trials=trials, at_once=at_once))
    with written() as found, Emulator(settings=Settings(quotas={TRAINING_QUOTA.format("*"): 2 * at_once})) as emulator:
        emulator.create_bucket("bench")
        environ = {word: value for word, value in os.environ.items() if not word.startswith(("AWS_", "SAGEMAKER_"))}
        words = ["--benchmark", "writes.yaml", "--method", "RS", "--backend", "sagemaker", "--experiment_tag", "w", "--yes"]
        words += ["--results_dir", "results", *(["--launched_remotely", URI] if kept else [])]
        command = [sys.executable, str(ROOT / "hpo_main.py"), *words]
        done = subprocess.run(command, env={**environ, **emulator.environment}, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return found


def kind_of(path: str) -> str:
    if "/runs/" not in path:
        return "of the trials"
    return "segments" if "/journal/" in path else "live.json" if path.endswith("live.json") else "files"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=24, help="of the first part; 0 to leave it out")
    parser.add_argument("--at_once", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=4.0, help="between two reports")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--idle", type=float, default=120.0, help="seconds of one trial that reports nothing before its end")
    given = parser.parse_args()
    with temporary_folder() as folder:
        shape = {"seconds": given.seconds, "epochs": given.epochs, "trials": given.trials, "at_once": given.at_once}
        for kept in (False, True) if given.trials else ():
            counts = Counter(kind_of(path) for _, path in run(folder, kept=kept, **shape))
            state = counts["segments"] + counts["live.json"]
            each = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            print(
                f"state in {'S3' if kept else 'its folder'}: {each}; {state / given.trials:.2f} of the state a finished trial", flush=True
            )
        found = run(folder, kept=True, seconds=given.idle, epochs=1, trials=1, at_once=1)
        began = next(at for at, path in found if kind_of(path) == "segments")
        # From when all that its start gave rise to is written to before anything of its end.
        first, last = began + 45.0, began + given.idle - 5.0
        quiet = [path for at, path in found if first <= at <= last and kind_of(path) != "of the trials"]
        print(f"{len(quiet)} writes in {last - first:.0f} s without news: {len(quiet) / (last - first):.3f} a second")


if __name__ == "__main__":
    main()
