"""The gap between one trial's last report and the next trial's start on the slot that it freed: ours, Syne Tune's.

Two workers, a script that reports once and ends. Two ends of the gap are shown:
  spawned     when the controller has made the next process, by the controllers' own records (our `started` record, Syne Tune's
              `creation_time`; both are taken right after the process was made). It includes the old interpreter's exit.
  first line  when the next script runs its first line, by the script's own stamp. It includes the new interpreter's start too.
The beginning is in both the script's own stamp after its report. The k-th start takes the slot that the (k - 2)-th end freed.
The floor is the same script started again by a bare loop, two at a time, as soon as one has ended: what no controller can beat.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _common import NOOP, in_turn, load_line, median, p95, run_side, show, temporary_folder

WORKERS = 2
SIDES = {
    "ours": 0.0,
    "Syne Tune, sleep 0": 0.0,
    "Syne Tune, sleep 0.01 s": 0.01,
    "Syne Tune, default sleep 5 s": 5.0,
    "floor: bare loop": 0.0,
}


def gaps_s(ends: Sequence[float], starts: Sequence[float]) -> list[float]:
    """Return the gaps: the k-th start less the (k - WORKERS)-th end, both in order of time."""
    return [start - end for end, start in zip(sorted(ends), sorted(starts)[WORKERS:], strict=False)]


def measure(side: str, trials: int) -> dict[str, Any]:
    """Run one side in this process; return the stamps."""
    with temporary_folder() as folder:
        stamps = folder / "stamps"
        stamps.mkdir()
        os.environ["PERFORMANCE_STAMPS"] = str(stamps)
        os.environ["PERFORMANCE_FOLDER"] = str(folder / "syne-tune")
        spawned = {"ours": _ours, "floor: bare loop": _floor}.get(side, _syne_tune)(folder, side, trials)
        pairs = [tuple(float(word) for word in path.read_text().split()) for path in stamps.iterdir()]
    return {"spawned": spawned, "first": [first for first, _ in pairs], "reported": [reported for _, reported in pairs]}


def _ours(folder: Path, side: str, trials: int) -> list[float]:
    from _ours import run_local

    from benchmarking.journal import SqliteJournal

    result = run_local(folder, trials, WORKERS)
    if len(result.state.trials) != trials or result.state.succeeded != trials:
        raise SystemExit(f"not all trials were completed: {result.ending}")
    journal = SqliteJournal(result.spec.folder / "journal.sqlite", read_only=True)
    return [record.at for record in journal.records() if record.kind == "started"]


def _syne_tune(folder: Path, side: str, trials: int) -> list[float]:
    from _syne_tune import run_local

    return run_local(trials, WORKERS, SIDES[side])


def _floor(folder: Path, side: str, trials: int) -> list[float]:
    spawned: list[float] = []
    left = iter(range(trials))

    def work() -> None:
        for _ in left:
            process = subprocess.Popen([sys.executable, str(NOOP)], stdout=subprocess.DEVNULL)
            spawned.append(time.time())
            process.wait()

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return spawned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=60, help="trials per round and side (default 60)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        given.out.write_text(json.dumps(measure(given.side, given.trials)))
        return
    slow = "Syne Tune, default sleep 5 s"
    sides = {name: lambda name=name: run_side(__file__, "--side", name, "--trials", str(given.trials)) for name in SIDES if name != slow}
    found = in_turn(given.rounds, sides)
    found[slow] = [run_side(__file__, "--side", slow, "--trials", "8")]
    gaps = {
        (name, end): [1000 * gap for run in runs for gap in gaps_s(run["reported"], run[end])]
        for name, runs in found.items()
        for end in ("spawned", "first")
    }
    rows = []
    for name in SIDES:
        spawned, first = gaps[name, "spawned"], gaps[name, "first"]
        beyond = median(first) - median(gaps["floor: bare loop", "first"])
        rows.append([name, len(first), median(spawned), p95(spawned), median(first), p95(first), beyond])
    header = ["", "gaps", "spawned median ms", "p95 ms", "first line median ms", "p95 ms", "median beyond the floor ms"]
    show(f"gap from the last report to the next start, {WORKERS} workers ({load_line()})", header, rows)
    best = {end: min(median(gaps[name, end]) for name in SIDES if name.startswith("Syne")) for end in ("spawned", "first")}
    ours = {end: median(gaps["ours", end]) for end in ("spawned", "first")}
    print(
        f"\ntarget: ours at most 10 ms, and at most 0.2 of Syne Tune's best; spawned {ours['spawned']:.1f} ms, first line {ours['first']:.1f} ms"
    )
    print(f"ratio ours / Syne Tune's best: spawned {ours['spawned'] / best['spawned']:.3f}, first line {ours['first'] / best['first']:.3f}")


if __name__ == "__main__":
    main()
