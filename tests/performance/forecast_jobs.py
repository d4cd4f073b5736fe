"""Measures small real training jobs on this machine, at canary fractions and in full, for `forecast_accuracy.py --table`.

python tests/performance/forecast_jobs.py jobs.csv                    # the sixteen jobs by which priors were chosen
python tests/performance/forecast_jobs.py jobs.csv --set held_out     # twelve others, which nothing was chosen by
One job at a time, each in a process of its own with one thread; CPU time and wall time by phase, peak RSS. Takes about 15 minutes.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import _first_jobs
import _held_out_jobs

SETS = {"first": _first_jobs, "held_out": _held_out_jobs}

COLUMNS = [
    "configuration", "fraction", "repeat", "rows", "bytes", "startup_s", "load_s", "train_s", "total_s",
    "startup_cpu_s", "load_cpu_s", "train_cpu_s", "cpu_s", "rss_bytes", "status", "family",
]  # fmt: skip


def child(jobs, kind: str, fraction: float, seed: int, path: Path) -> None:
    began = _process_start()
    marks = [(began, 0.0)]
    import numpy as np

    if kind in jobs.MODULES:
        module = importlib.import_module(jobs.MODULES[kind])
        if jobs.MODULES[kind] == "torch":
            module.set_num_threads(1)
    marks.append((time.time(), time.process_time()))
    rows = max(2, round(jobs.JOBS[kind][1] * fraction))
    x, y = jobs.load(kind, path, rows, seed)
    marks.append((time.time(), time.process_time()))
    jobs.train(kind, x, y)
    marks.append((time.time(), time.process_time()))
    names = ("startup", "load", "train")
    found = {f"{name}_s": b[0] - a[0] for name, a, b in zip(names, marks, marks[1:], strict=False)}
    found |= {f"{name}_cpu_s": b[1] - a[1] for name, a, b in zip(names, marks, marks[1:], strict=False)}
    size = sum(map(len, x)) if isinstance(x, list) else int(np.asarray(x).nbytes)
    found |= {"rows": rows, "bytes": size, "rss_bytes": _peak_rss_bytes(), "total_s": marks[-1][0] - began, "cpu_s": marks[-1][1]}
    print(json.dumps(found))


def _process_start() -> float:
    ticks = int(Path("/proc/self/stat").read_bytes().rsplit(b")", 1)[1].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - age


def _peak_rss_bytes() -> int:
    # Not getrusage: its maximum outlives exec, so that it begins with the peak of the process that made the data.
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--set", choices=list(SETS), default="first", help="which jobs (default first)")
    parser.add_argument("--jobs", nargs="*", default=[], help="some of them (default all)")
    parser.add_argument("--fractions", nargs="*", type=float, default=[0.01, 0.02, 0.03, 0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        kind, fraction, seed, path = given.child
        child(SETS[given.set], kind, float(fraction), int(seed), Path(path))
        return
    jobs = SETS[given.set]
    environment = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")}
    with given.table.open("w", newline="") as file, tempfile.TemporaryDirectory() as folder:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for kind in given.jobs or jobs.JOBS:
            path = jobs.make_data(kind, Path(folder))
            for repeat in range(given.repeats):
                for fraction in given.fractions:
                    which = ["--set", given.set, "--child", kind, str(fraction), str(repeat), str(path)]
                    command = [sys.executable, __file__, str(given.table), *which]
                    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
                    row = {"configuration": kind, "fraction": fraction, "repeat": repeat, "family": jobs.JOBS[kind][0], "status": "Failed"}
                    if answer.returncode == 0:
                        row |= {**json.loads(answer.stdout.splitlines()[-1]), "status": "Completed"}
                    else:
                        print(answer.stderr, file=sys.stderr)
                    writer.writerow(row)
                    file.flush()
                    print(kind, fraction, repeat, f"{float(row.get('total_s', 0)):.2f} s", file=sys.stderr, flush=True)
            path.unlink()


if __name__ == "__main__":
    main()
