"""What forecasts of running jobs cost: processor time of the controller for each second in which 100 jobs run, as a share of a core.

Ten minutes of 100 jobs are replayed as fast as possible: each counts its steps, ten lines a second in its log, and all begin together, so
that the often-told beginning is in it. The whole way is taken: lines are searched, progress becomes events, records of a journal on disk,
and state; jobs are watched for overruns of time and money; the live view draws its eight jobs four times a second, and `outrider status`
looks at all of them every two. The peer does the same without forecasts: same lines, no `progress`, nothing to watch or draw.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
from pathlib import Path
from statistics import median
from typing import Any

import _common

from backends.events import Progressed, Started
from backends.reports import ReportParser
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.recorder import Recorder
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.running.outlook import outlook
from benchmarking.forecasting.running.overrun import OverrunWatch
from benchmarking.forecasting.running.words import running_text
from definitions.metrics import MetricSources
from definitions.progress import progress_sources

STEP_S = 0.1
STEPS = 36_000


class _Loop:
    """What the watch asks of the loop; it stops nothing."""

    def __init__(self, now: list[float]) -> None:
        self.spent_usd, self._now = 0.0, now

    def now(self) -> float:
        return self._now[0]

    def price(self, configuration: Any) -> tuple[float, int]:
        return 1.0, 1

    def book(self, job: str, worst_usd: float) -> None: ...

    def request_stop(self, trial: int | None, cause: Any, message: str) -> None: ...


def replay(jobs: int, seconds: int, folder: Path, *, forecasts: bool) -> None:
    """Replay so many seconds of so many jobs."""
    now = [0.0]
    state = ExperimentState(StateSetup({"loss": "min"}))
    loop = _Loop(now)
    watch = OverrunWatch(
        max_cost=1e6, may_run_s=lambda spec: 86_400.0, worst_usd=lambda spec: 24.0, beside_s=30.0, loop=lambda: loop
    )  # fmt: skip
    sources = MetricSources(expressions=(("loss", r"val_loss: (\S+)"),))
    if forecasts:
        sources = MetricSources(sources.expressions, progress=progress_sources(("step {step}/{steps}",), None))
    with_journal = SqliteJournal(folder / f"journal-{forecasts}.sqlite")
    recorder = Recorder(with_journal, state, loop.now, (watch.observe,) if forecasts else (), virtual=False)
    parsers = {}
    for number in range(jobs):
        recorder.record("suggest", {"evaluation": number, "configuration": {"x": number}, "level": None, "repeat": 0, "block_of": 1})
        started = {"trial": number, "attempt": 1, "job": f"j{number}", "restore_from": None, "worst_usd": 24.0}
        recorder.record("start", started)
        recorder.record(*event_record(Started(f"j{number}", 0.0)))
        parsers[f"j{number}"] = ReportParser(sources=sources)
    done = 0
    for second in range(1, seconds + 1):
        now[0] = float(second)
        lines = "".join(f"INFO train.py: step {done + k}/{STEPS} fetched in {k / 97:.4f} s\n" for k in range(1, 11)).encode()
        done += 10
        for name, parser in parsers.items():
            parser.feed(lines)
            for line in parser.take_progress(float(second)):
                event = Progressed.of(name, now[0], line)
                recorder.record(*event_record(event), event)
        recorder.commit()
        if forecasts:
            _draw(state, now[0], 8, times=4)
            _draw(state, now[0], jobs, times=second % 2)
    with_journal.close()


def _draw(state: ExperimentState, now: float, jobs: int, *, times: int) -> None:
    for _ in range(times):
        for job in list(state.jobs.values())[:jobs]:
            found = outlook(job, None, None, state.loops)
            if found is not None:
                running_text(found, now, (1.0, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    with _common.temporary_folder() as folder:
        if given.profile:
            profile = cProfile.Profile()
            profile.runcall(replay, given.jobs, given.seconds, folder, forecasts=True)
            pstats.Stats(profile).sort_stats("cumulative").print_stats(25)
            return

        def side(*, forecasts: bool) -> float:
            for old in folder.glob("journal*"):
                old.unlink()
            return _common.cost_of(lambda: replay(given.jobs, given.seconds, folder, forecasts=forecasts)).cpu_s / given.seconds

        sides = {"ours": lambda: side(forecasts=True), "without": lambda: side(forecasts=False)}
        found = {name: median(values) for name, values in _common.in_turn(given.rounds, sides).items()}
    extra = found["ours"] - found["without"]
    print(f"{given.jobs} jobs, {given.seconds} s: {found['ours']:.2%} of a core with forecasts, {found['without']:.2%} without")
    print(f"forecasts cost {extra:.2%} of a core (target: under 1 %)")


if __name__ == "__main__":
    main()
