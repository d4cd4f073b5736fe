"""Resume: how long it takes from opening the journal of 10,000 trials with 100,000 reports to the loop's first own step.

  ours           `Tuner.run` of a finished experiment: reads the journal, folds its state, replays the method, finds nothing left to do
  plain reading  the same file with bare sqlite3 and json.loads, and nothing made of it: a lower bound
  Syne Tune      `Tuner.load` of a dill of as many trials (its own, made by its loop on a back-end that takes no time); it restores what
                 was saved last, up to 10 s old, where the journal has every event
`--profile` prints where the time goes.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _common import cpu_now_s, in_turn, load_line, median, run_side, show, temporary_folder


def make_journal(folder: Path, trials: int, reports: int) -> None:
    """Run a simulated experiment and leave its journal."""
    from _ours import simulated_tuner

    from benchmarking.controller.sqlite_journal import SqliteJournal

    journal = SqliteJournal(folder / "journal.sqlite")
    simulated_tuner(folder, journal, trials, reports).run()
    journal.close()


def ours(folder: Path, trials: int, reports: int, profile: bool = False) -> tuple[float, float]:
    """Return wall and processor seconds of a resume."""
    from _ours import simulated_tuner

    from benchmarking.controller.sqlite_journal import SqliteJournal

    made: list[Any] = []

    def resume() -> None:
        journal = SqliteJournal(folder / "journal.sqlite")
        made.append(simulated_tuner(folder, journal, trials, reports))
        made[0].run()
        journal.close()

    if profile:
        import cProfile
        import pstats

        profiler = cProfile.Profile(time.process_time)
        profiler.runcall(resume)
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30)
        return 0.0, 0.0
    cost = _timed(resume)
    if made[0].state.finished != trials or made[0].state.reports != trials * reports:
        raise SystemExit("the resumed state is not that of the journal")
    return cost


def plain(folder: Path, trials: int, reports: int) -> tuple[float, float]:
    """Return wall and processor seconds of reading the journal's rows."""

    def read() -> None:
        rows = sqlite3.connect(folder / "journal.sqlite").execute("SELECT sequence, at, kind, body FROM records ORDER BY sequence")
        if sum(1 for *_, body in rows if json.loads(body) is not None) < trials * reports:
            raise SystemExit("rows are missing")

    return _timed(read)


def save_syne_tune(folder: Path, trials: int, reports: int) -> None:
    """Run Syne Tune's loop and save it."""
    from _syne_tune import ZeroTimeBackend, make_tuner

    tuner = make_tuner(ZeroTimeBackend(reports), trials, 4, 0.0)
    tuner.run()
    tuner.save(str(folder))


def load_syne_tune(folder: Path, trials: int, reports: int) -> tuple[float, float]:
    """Return wall and processor seconds of loading it; the import of Syne Tune is not counted."""
    import _syne_tune  # noqa: F401 (imported ahead, as its import takes seconds)
    from syne_tune import Tuner

    loaded: list[Any] = []
    cost = _timed(lambda: loaded.append(Tuner.load(str(folder))))
    if loaded[0].tuning_status.num_trials_finished < trials:
        raise SystemExit("trials are missing")
    return cost


def _timed(call: Callable[[], None]) -> tuple[float, float]:
    wall_s, cpu_s = time.perf_counter(), cpu_now_s()
    call()
    return time.perf_counter() - wall_s, cpu_now_s() - cpu_s


SIDES: dict[str, Callable[[Path, int, int], Any]] = {
    "ours": ours,
    "plain reading": plain,
    "Syne Tune": load_syne_tune,
    "make journal": make_journal,
    "save Syne Tune": save_syne_tune,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--reports", type=int, default=10, help="reports a trial (default 10)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="profile one resume and stop")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    size = (given.trials, given.reports)
    if given.side:
        given.out.write_text(json.dumps(SIDES[given.side](given.folder, *size)))
        return
    with temporary_folder() as folder:
        os.environ["PERFORMANCE_FOLDER"] = str(folder / "syne-tune")
        if given.profile:
            make_journal(folder, *size)
            ours(folder, *size, profile=True)
            return

        def side(name: str) -> Any:
            return run_side(__file__, "--side", name, "--folder", str(folder), "--trials", str(size[0]), "--reports", str(size[1]))

        side("make journal")
        side("save Syne Tune")
        found = in_turn(given.rounds, {name: partial(side, name) for name in ("ours", "plain reading", "Syne Tune")})
        megabytes = {"Syne Tune": (folder / "tuner.dill").stat().st_size / 1e6}
        megabytes |= dict.fromkeys(("ours", "plain reading"), (folder / "journal.sqlite").stat().st_size / 1e6)
    wall = {name: median([cost[0] for cost in costs]) for name, costs in found.items()}
    cpu = {name: median([cost[1] for cost in costs]) for name, costs in found.items()}
    rows = [[name, wall[name], cpu[name], megabytes[name], cpu["ours"] / cpu[name]] for name in found]
    show(
        f"resume of {size[0]} trials with {size[0] * size[1]} reports ({load_line()})",
        ["", "wall s", "cpu s", "file MB", "ours / this, cpu"],
        rows,
    )
    print(f"\ntarget: 5 s; ours {wall['ours']:.2f} s ({cpu['ours']:.2f} s of cpu)")
    ratios = [f"{name} {wall['ours'] / wall[name]:.2f} (cpu {cpu['ours'] / cpu[name]:.2f})" for name in ("plain reading", "Syne Tune")]
    print("ratio ours / " + ", ours / ".join(ratios))


if __name__ == "__main__":
    main()
