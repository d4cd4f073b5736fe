"""A study in a controller beside the same study run next to the emulator, and beside one controller for each experiment.

makespan      from the first trial's creation to the last one's end; and the whole, from the command to its end, for the size of what a
              start adds once. The peer is `hpo_main.py` on this machine with the same flags.
controllers   what the emulator bills for controllers: one for the whole study, against `--controllers N`, one experiment at a time each.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

from _common import in_turn, load_line, median, show, temporary_folder
from _launched import defined, described, emulator_at, outrider, study_words

OVER = ("Completed", "Failed", "Stopped")


@dataclass(frozen=True)
class Passed:
    """How one study passed: seconds from its first trial's creation to the last one's end, seconds in all, controllers' billed seconds."""

    makespan_s: float
    whole_s: float
    controllers_s: float


def passed(experiments: int, trials: int, seconds: float, *, controllers: int) -> Passed:
    """Run the study, launched with so many controllers; 0: on this machine."""
    with temporary_folder() as folder, emulator_at(folder) as (emulator, environ):
        words = study_words(defined(folder, seconds, trials), experiments, 1 if controllers > 1 else experiments)
        began = time.perf_counter()
        if controllers:
            outrider(folder, environ, "launch", *words, "--controllers", str(controllers))
        else:
            outrider(folder, environ, *words)
        while not all(one["TrainingJobStatus"] in OVER for one in described(emulator).values()):
            time.sleep(0.5)
        whole_s, jobs = time.perf_counter() - began, described(emulator)
        own = [one for name, one in jobs.items() if not name.startswith("ctl-")]
        if len(own) != experiments * trials or any(one["TrainingJobStatus"] != "Completed" for one in own):
            raise SystemExit(f"{len(own)} trials, not all of them completed")
        makespan_s = max(one["TrainingEndTime"] for one in own) - min(one["CreationTime"] for one in own)
        billed_s = sum(one["BillableTimeInSeconds"] for name, one in jobs.items() if name.startswith("ctl-"))
        return Passed(makespan_s.total_seconds(), whole_s, float(billed_s))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=4)
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=15.0, help="that a trial sleeps")
    parser.add_argument("--many", type=int, default=20, help="experiments of the second part; 0 to leave it out")
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    shape = (given.experiments, given.trials, given.seconds)
    found = in_turn(given.rounds, {"launched": lambda: passed(*shape, controllers=1), "beside": lambda: passed(*shape, controllers=0)})
    rows = []
    for name, what in (("makespan_s", "makespan, s"), ("whole_s", "the whole, s")):
        ours, peer = (median([getattr(one, name) for one in found[side]]) for side in ("launched", "beside"))
        rows.append([f"{given.experiments} experiments: {what}", f"{ours:.1f}", f"{peer:.1f}", f"{ours / peer:.3f}"])
    if given.many:
        one = passed(given.many, 2, given.seconds, controllers=1)
        each = passed(given.many, 2, given.seconds, controllers=given.many)
        ratio = one.controllers_s / each.controllers_s
        rows.append(
            [f"{given.many} experiments: controllers, billed s", f"{one.controllers_s:.0f}", f"{each.controllers_s:.0f}", f"{ratio:.3f}"]
        )
    show("a launched study", ["", "ours", "peer", "ratio"], rows)
    print(load_line())


if __name__ == "__main__":
    main()
