"""The gap between one trial's last report and the next trial's start on the slot that it freed: ours, Syne Tune's.

Two workers, a script that reports once and ends. The gap begins, for all, with the script's own stamp right after its report, and has
two ends:
  spawned     the controller has made the next process, by the controllers' own records (our `started` record, Syne Tune's
              `creation_time`; both are taken right after the process was made). The old interpreter's exit is in it.
  first line  the next script runs its first line, by its own stamp. The exit of the old interpreter and the start of the new are in it.
The k-th start takes the slot that the (k - 2)-th end freed, so the gaps are those of two sorted lists.
The bare loop starts the same script again, two at a time, as soon as one has ended, and does nothing else: what goes beyond it is what
a controller adds (below zero for ours on a busy machine, as it gives each script a core of its own and the bare loop does not).
Ours knows also when it saw the slot free (`ended`); from there to `started` is its own work alone.
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
from functools import partial
from pathlib import Path
from typing import Any

from _common import NOOP, in_turn, load_line, median, p95, run_side, show, temporary_folder

WORKERS = 2
BARE = "bare loop"
SLOW = "Syne Tune, default sleep 5 s"
SLEEPS_S = {"Syne Tune, sleep 0": 0.0, "Syne Tune, sleep 0.01 s": 0.01, SLOW: 5.0}
SIDES = ("ours", *SLEEPS_S, BARE)


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
        spawned = {"ours": _ours, BARE: _bare}.get(side, _syne_tune)(folder, side, trials)
        pairs = [tuple(float(word) for word in path.read_text().split()) for path in stamps.iterdir()]
    return {**spawned, "first": [first for first, _ in pairs], "reported": [reported for _, reported in pairs]}


def _ours(folder: Path, side: str, trials: int) -> dict[str, list[float]]:
    from _ours import run_local

    from benchmarking.controller.sqlite_journal import SqliteJournal

    result = run_local(folder, trials, WORKERS)
    if len(result.state.trials) != trials or result.state.succeeded != trials:
        raise SystemExit(f"not all trials were completed: {result.ending}")
    journal = SqliteJournal(result.spec.folder / "journal.sqlite", read_only=True)
    at = {kind: [record.at for record in journal.records() if record.kind == kind] for kind in ("started", "ended")}
    return {"spawned": at["started"], "ended": at["ended"]}


def _syne_tune(folder: Path, side: str, trials: int) -> dict[str, list[float]]:
    from _syne_tune import run_local

    return {"spawned": run_local(trials, WORKERS, SLEEPS_S[side])}


def _bare(folder: Path, side: str, trials: int) -> dict[str, list[float]]:
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
    return {"spawned": spawned}


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
    sides = {name: partial(run_side, __file__, "--side", name, "--trials", str(given.trials)) for name in SIDES if name != SLOW}
    found = in_turn(given.rounds, sides)
    found[SLOW] = [run_side(__file__, "--side", SLOW, "--trials", "8")]
    gaps = {
        (name, end): [1000 * gap for run in runs for gap in gaps_s(run["reported"], run[end])]
        for name, runs in found.items()
        for end in ("spawned", "first")
    }
    rows = []
    for name in SIDES:
        spawned, first = gaps[name, "spawned"], gaps[name, "first"]
        beyond = [median(gaps[name, end]) - median(gaps[BARE, end]) for end in ("spawned", "first")]
        rows.append([name, len(first), median(spawned), p95(spawned), beyond[0], median(first), p95(first), beyond[1]])
    header = ["ms", "gaps", "spawned: median", "p95", "beyond bare", "first line: median", "p95", "beyond bare"]
    show(f"gap from the last report to the next start, {WORKERS} workers ({load_line()})", header, rows)
    own = [1000 * gap for run in found["ours"] for gap in gaps_s(run["ended"], run["spawned"])]
    print(f"\nours, from seeing the slot free to the next process made: median {median(own):.2f} ms, p95 {p95(own):.2f} ms")
    best = {end: min(median(gaps[name, end]) for name in SIDES if name.startswith("Syne")) for end in ("spawned", "first")}
    ours = {end: median(gaps["ours", end]) for end in ("spawned", "first")}
    print(f"target: at most 10 ms and 0.2 of Syne Tune's best; ours: spawned {ours['spawned']:.1f} ms, first line {ours['first']:.1f} ms")
    ratios = [f"{label} {ours[end] / best[end]:.2f}" for end, label in (("spawned", "spawned"), ("first", "first line"))]
    print("ratio ours / Syne Tune's best: " + ", ".join(ratios))


if __name__ == "__main__":
    main()
