"""Metric lines by regular expression in a large log: processor time and memory of reading it, against grep and a plain loop in Python.

The log is 200 MB: 100,000 metric lines among lines of other kinds, of about 100 bytes. Ours is the whole way of a job's output: read from
a descriptor, copied to the job's log, split into lines, searched, and watched for tracebacks and reports. The peers are given the file:
`grep -E` prints the lines, the loop makes a number of each. `bars` ends the other lines with carriage returns; `levels` gathers by a second
expression; `colours` has escapes in each line; in `numbers` the metric lines are nothing but a number, found by an expression without fixed
text; in `each` there is something in each line, and each is a report. The whole command runs a script that prints the log, with 100,000
reports in its journal.
"""

from __future__ import annotations

import argparse
import cProfile
import csv
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import _common

from backends.common.job_output import Output
from definitions.metrics import MetricSources

METRICS = 100_000
EXPRESSION = r"val_loss: ([0-9.eE+-]+|nan)"
LEVEL = r"Epoch (\d+)"
NUMBER = r"^\s*([0-9.eE+-]+)\s*$"
EACH = r"(\d+)"
SHAPES = ("lines", "bars", "levels", "colours", "numbers", "each")


def write_log(path: Path, megabytes: float, shape: str) -> None:
    """Write a log of so many megabytes with 100,000 metric lines, evenly among the others."""
    draw = random.Random(1)
    others = []
    for _ in range(1000):
        stamp = f"2026-11-28 12:{draw.randrange(60):02}:{draw.randrange(60):02},{draw.randrange(1000):03}"
        what = f"worker {draw.randrange(16)} fetched batch {draw.randrange(10**6)} of shard-{draw.randrange(10**4):05}.tar"
        others.append(f"{stamp} INFO trainer.py:{draw.randrange(999)}] {what} in {draw.random():.3f} s")
    if shape == "colours":
        others = [f"\x1b[32m{line[:30]}\x1b[0m{line[30:]}" for line in others]
    end = "\r" if shape == "bars" else "\n"
    with path.open("w", buffering=1 << 20, newline="") as file:
        written = 0
        for number in range(METRICS):
            while written < (number + 1) * megabytes * 1e6 / METRICS - 50:
                written += file.write(others[draw.randrange(1000)] + end)
            value = f"{draw.random():.4f}"
            marked = f"Epoch {number + 1} train_loss: {draw.random():.4f} val_loss: {value}"
            written += file.write(f"{value if shape == 'numbers' else marked}\n")


def ours(log: Path, folder: Path, sources: MetricSources) -> tuple[int, int]:
    """Return the number of reports, and by how many bytes the memory grew after the first megabyte."""
    with (folder / "copy.log").open("wb"):
        pass
    output = Output(os.open(log, os.O_RDONLY), folder / "copy.log", sources)
    found = len(output.take(16))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while not output.at_end:
        found += len(output.take(16))
    output.close()
    return found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


def loop(log: Path, expression: str) -> int:
    """Return how many numbers a plain loop finds."""
    search = re.compile(expression).search
    found = 0
    with log.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            match = search(line)
            if match is not None:
                float(match[1])
                found += 1
    return found


def grep(log: Path, expression: str) -> int:
    """Return how many lines grep prints."""
    done = subprocess.run(["grep", "-aE", expression, str(log)], capture_output=True, check=True)
    return done.stdout.count(b"\n")


def command(log: Path, folder: Path) -> tuple[float, float]:
    """Return the processor seconds of the whole command without its script's, and its largest memory in MB."""
    (folder / "print.sh").write_text(f"exec cat {log}\n")
    definition = {"name": "log", "script": "print.sh", "objectives": {"val_loss": "min"}, "metrics": {"val_loss": EXPRESSION}}
    (folder / "log.yaml").write_text(json.dumps(definition | {"trials": [{}], "n_workers": 1}))
    process = subprocess.Popen(
        [sys.executable, "hpo_main.py", "--benchmark", str(folder / "log.yaml"), "--results_dir", str(folder / "results")],
        cwd=_common.ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, status
    with next((folder / "results").rglob("trials.csv")).open() as file:
        (trial,) = csv.DictReader(file)
    return used.ru_utime + used.ru_stime - float(trial.get("cpu_s") or 0), used.ru_maxrss / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=float, default=200.0)
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shape in SHAPES:
            log = folder / f"{shape}.log"
            write_log(log, arguments.megabytes, shape)
            expression = {"numbers": NUMBER, "each": EACH}.get(shape, EXPRESSION)
            level = (("epoch", LEVEL), ("val_loss", expression))
            sources = MetricSources(level, (), "epoch", ("val_loss",)) if shape == "levels" else MetricSources((level[1],))
            if arguments.profile:
                cProfile.runctx("ours(log, folder, sources)", globals(), locals(), sort="tottime")
            grown: list[int] = []

            def read(log: Path = log, sources: MetricSources = sources, grown: list[int] = grown, shape: str = shape) -> _common.Cost:
                def call() -> None:
                    count, more = ours(log, folder, sources)
                    assert count == METRICS or (shape == "each" and count > METRICS), count
                    grown.append(more)

                return _common.cost_of(call)

            peers = {name: partial(_common.cost_of, partial(peer, log, expression)) for name, peer in (("loop", loop), ("grep", grep))}
            found = _common.in_turn(arguments.rounds, {"ours": read, **peers})
            best = {side: min(cost.cpu_s for cost in costs) * 100 / arguments.megabytes for side, costs in found.items()}
            ratios = ", ".join(f"{name} {best[name]:.2f} ({best['ours'] / best[name]:.2f} times)" for name in peers)
            print(f"{shape}: ours {best['ours']:.2f} cpu s per 100 MB, {ratios}; memory grew by {max(grown) / 1e6:.1f} MB")
            if shape == SHAPES[0]:
                cpu_s, memory_mb = command(log, folder)
                print(f"the whole command: {cpu_s * 100 / arguments.megabytes:.2f} cpu s per 100 MB, {memory_mb:.0f} MB")
            log.unlink()


if __name__ == "__main__":
    main()
