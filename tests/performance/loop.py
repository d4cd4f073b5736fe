"""The loop and its journal on the simulated back-end, random search: milliseconds a trial and a report, and whether they grow.

Several experiments of different sizes are run; a least-squares fit of `time = a * trials + b * reports` (relative errors, no constant)
separates the two. Processor time of this process is fitted, as others may be at work on the machine. The clock is virtual, so the
journal commits every 512 records; the row "commits" is the same with a commit at every step, as on a real clock.
The peer is Syne Tune's loop with a back-end that takes no time (every trial is completed when it is first asked for), nothing saved
but the results that its default callback keeps; it records nothing durably, where ours journals every event.
`--profile` prints where the time goes.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

from _common import in_turn, least_squares, load_line, median, run_side, show, temporary_folder

SIZES = ((1000, 1), (1000, 10), (1000, 100), (3000, 30), (10_000, 1), (10_000, 10))
PEER_SIZES = ((1000, 1), (1000, 10), (10_000, 1), (10_000, 10))


def ours(trials: int, reports: int, commits: bool = False, profile: bool = False) -> float:
    """Run one experiment in this process; return its processor seconds."""
    from _ours import simulated_tuner

    from benchmarking.controller.sqlite_journal import SqliteJournal

    with temporary_folder() as folder:
        journal = SqliteJournal(folder / "journal.sqlite")
        tuner = simulated_tuner(folder, journal, trials, reports, commits=commits)
        if profile:
            import cProfile
            import pstats

            profiler = cProfile.Profile(time.process_time)
            profiler.runcall(tuner.run)
            pstats.Stats(profiler).sort_stats("tottime").print_stats(40)
        cpu_s = time.process_time()
        if not profile:
            tuner.run()
        journal.close()
        cpu_s = time.process_time() - cpu_s
        if tuner.state.finished != trials or tuner.state.reports != trials * reports:
            raise SystemExit(f"{tuner.state.finished} trials and {tuner.state.reports} reports came through")
        return cpu_s


def syne_tune(trials: int, reports: int) -> float:
    """Run Syne Tune's loop in this process; return its processor seconds."""
    from _syne_tune import ZeroTimeBackend, make_tuner

    tuner = make_tuner(ZeroTimeBackend(reports), trials, 4, 0.0)
    cpu_s = time.process_time()
    tuner.run()
    cpu_s = time.process_time() - cpu_s
    if tuner.tuning_status.num_trials_finished < trials:
        raise SystemExit(f"{tuner.tuning_status.num_trials_finished} trials came through")
    return cpu_s


def measure(side: str, sizes: list[tuple[int, int]]) -> list[float]:
    """Return the processor seconds of each size, measured in one process."""
    if side != "Syne Tune":
        ours(50, 1)
        return [ours(trials, reports, side == "ours, commits") for trials, reports in sizes]
    with temporary_folder() as folder:
        os.environ["PERFORMANCE_FOLDER"] = str(folder)
        syne_tune(50, 1)
        return [syne_tune(trials, reports) for trials, reports in sizes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="profile one experiment of 3,000 trials and 30,000 reports and stop")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        given.out.write_text(json.dumps(measure(given.side, given.sizes)))
        return
    if given.profile:
        ours(3000, 10, profile=True)
        return
    sizes = {"ours": SIZES, "ours, commits": PEER_SIZES[:2], "Syne Tune": PEER_SIZES}
    sides = {name: partial(run_side, __file__, "--side", name, "--sizes", json.dumps(sizes[name])) for name in sizes}
    found = in_turn(given.rounds, sides)
    cpu_s: dict[tuple[str, int, int], float] = {}
    for name, of in sizes.items():
        for size, values in zip(of, zip(*found[name], strict=True), strict=True):
            cpu_s[name, *size] = median(values)
    fits: dict[str, list[float]] = {}
    rows: list[list[Any]] = []
    for name, of in sizes.items():
        design = [(trials, trials * reports) for trials, reports in of]
        fits[name] = least_squares(design, [cpu_s[name, *size] for size in of])
        for (trials, all_reports), size in zip(design, of, strict=True):
            seconds, peer_s = cpu_s[name, *size], cpu_s.get(("Syne Tune", *size))
            fitted_s = fits[name][0] * trials + fits[name][1] * all_reports
            ratio = None if peer_s is None or name == "Syne Tune" else seconds / peer_s
            rows.append([name, trials, all_reports, seconds, 1000 * seconds / trials, seconds / fitted_s, ratio])
    header = ["", "trials", "reports", "cpu s", "cpu ms a trial and its reports", "measured / fitted", "ours / Syne Tune"]
    show(f"loop and journal, simulated back-end, RS ({load_line()})", header, rows)
    fitted = [[name, 1000 * fit[0], 1000 * fit[1]] for name, fit in fits.items()]
    show("fitted (a good description only where measured / fitted is near 1)", ["", "cpu ms a trial", "cpu ms a report"], fitted)
    growth = {
        name: [cpu_s[name, 10_000, reports] / cpu_s[name, 1000, reports] / 10 for reports in (1, 10)] for name in ("ours", "Syne Tune")
    }
    rows = [[name, *values] for name, values in growth.items()]
    show("cpu a trial at 10,000 trials over that at 1,000 (1 is linear)", ["", "1 report each", "10 reports each"], rows)
    print(f"\ntarget: 0.5 ms a trial, 0.1 ms a report; ours {1000 * fits['ours'][0]:.2f} ms and {1000 * fits['ours'][1]:.3f} ms of cpu")
    ratios = [f"{cpu_s['ours', *size] / cpu_s['Syne Tune', *size]:.2f} at {size[0]} x {size[1]} reports" for size in PEER_SIZES]
    print("ratio ours / Syne Tune: " + ", ".join(ratios))


if __name__ == "__main__":
    main()
