"""What sampling a job's use of resources costs, in processor seconds: per sample, and over a whole job with and without it."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time

from _common import ROOT, in_turn, load_line, median, show

REPORTER = ROOT / "backends" / "reporter"

JOB = """
import resource, sys, time
from outrider_report import phase, report, step
report(n=0)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    with phase("load"):
        time.sleep(0.02)
    with phase("train"):
        time.sleep(0.02)
    step(samples=32)
report(n=1)
used = resource.getrusage(resource.RUSAGE_SELF)
print("cpu", used.ru_utime + used.ru_stime)
"""


def per_sample_s(processes: int, threads: int, samples: int) -> float:
    """Return the processor seconds of one sample of this process with so many children and further threads.

    Args:
        processes: children, which do nothing.
        threads: further threads of this process, which do nothing.
        samples: how many are taken.
    """
    sys.path.insert(0, str(REPORTER))
    from outrider_report import Sampler

    over = threading.Event()
    sleepers = [subprocess.Popen(["sleep", "600"]) for _ in range(processes)]
    waiting = [threading.Thread(target=over.wait, daemon=True) for _ in range(threads)]
    for thread in waiting:
        thread.start()
    try:
        sampler = Sampler(os.environ, lambda: {"train": (time.monotonic(), time.process_time())}, 3600.0)
        sampler.start(1.0)
        before = time.thread_time()
        for _ in range(samples):
            sampler._sample()
        return (time.thread_time() - before) / samples
    finally:
        sampler.finish()
        over.set()
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


def job_cpu_s(seconds: float, every_s: str) -> float:
    """Return the processor seconds of a job of this length that samples so often; `0` for not at all."""
    command = [sys.executable, "-c", JOB, str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(REPORTER), "OUTRIDER_SAMPLING": every_s}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return next(float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("cpu "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the job that is run with and without sampling")
    parser.add_argument("--samples", type=int, default=300)
    given = parser.parse_args()
    rows = []
    for processes, threads in ((0, 0), (4, 8), (16, 64)):
        cost_s = per_sample_s(processes, threads, given.samples)
        rows.append([f"{1 + processes} processes, {1 + threads} threads", 1e3 * cost_s, 100 * cost_s])
    show(f"one sample ({load_line()})", ["of a job with", "cpu ms", "% of a core, one a second"], rows)
    sides = {
        name: (lambda every_s=every_s: job_cpu_s(given.seconds, every_s)) for name, every_s in (("sampled", "1"), ("not sampled", "0"))
    }
    found = {name: median(costs) for name, costs in in_turn(given.rounds, sides).items()}
    show(f"a job of {given.seconds:g} s, a phase every 20 ms", ["", "cpu s"], [[name, cost_s] for name, cost_s in found.items()])
    extra = (found["sampled"] - found["not sampled"]) / given.seconds
    print(f"\ntarget: 1 % of one core; a whole job {100 * extra:.2f} %, the largest tree above {rows[-1][2]:.2f} %")


if __name__ == "__main__":
    main()
