"""ASHA, stopping type: what a report costs, ours against Syne Tune's, on one stream; and whether both decide alike.

The rate is that at the end, with nine tenths of the trials known, as theirs grows with their number.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from _common import in_turn, load_line, median, run_side, show
from _streams import drive

FULL = 9


def ours(trials: int) -> dict[str, Any]:
    from benchmarking.controller.method import Decision, Evaluation
    from benchmarking.methods.registry import build_method
    from definitions.schema import BenchmarkDefinition

    fidelity = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": FULL}
    definition = BenchmarkDefinition(
        name="x", script="x.py", space={"x": {"uniform": [0, 1]}}, objectives={"loss": "min"}, fidelity=fidelity
    )
    method = build_method("ASHA", definition, 0, {}, region="us-east-1")

    def add(trial: int) -> None:
        method.on_trial_add(Evaluation(trial, {"x": 0.5}))

    def tell(trial: int, level: int, values: list[float]) -> bool:
        return method.on_trial_result(Evaluation(trial, {"x": 0.5}), {"loss": values[0], "epoch": level}) is Decision.STOP

    return drive(add, tell, trials, FULL)


def syne_tune(trials: int) -> dict[str, Any]:
    from syne_tune.backend.trial_status import Trial
    from syne_tune.config_space import uniform
    from syne_tune.optimizer.baselines import ASHA

    scheduler = ASHA({"x": uniform(0, 1)}, metric="loss", time_attr="epoch", max_t=FULL, random_seed=0)

    def tell(trial: int, level: int, values: list[float]) -> bool:
        return scheduler.on_trial_result(Trial(trial, {"x": 0.5}, None), {"loss": values[0], "epoch": level}) == "STOP"

    return drive(lambda trial: scheduler.on_trial_add(Trial(trial, {"x": 0.5}, None)), tell, trials, FULL)


SIDES = {"ours": ours, "Syne Tune": syne_tune}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=1, help="the peer takes minutes of each (default 1)")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        given.out.write_text(json.dumps(SIDES[given.side](given.trials)))
        return
    found = in_turn(
        given.rounds, {name: lambda name=name: run_side(__file__, "--side", name, "--trials", str(given.trials)) for name in SIDES}
    )
    late = {name: median([one["late_us"] for one in ones]) for name, ones in found.items()}
    rows = [
        [name, ones[0]["reports"], ones[0]["stopped"], median([one["mean_us"] for one in ones]), late[name], 1e6 / late[name]]
        for name, ones in found.items()
    ]
    header = ["", "reports", "stopped", "cpu us a report, all", "cpu us a report, at the end", "reports/s at the end"]
    show(f"on_trial_result of ASHA, {given.trials} trials ({load_line()})", header, rows)
    alike = len({one["decisions"] for ones in found.values() for one in ones}) == 1
    print(f"\ndecisions: {'the same' if alike else 'THEY DIFFER'}")
    print(f"target: 50 times; ratio {late['Syne Tune'] / late['ours']:.0f}")


if __name__ == "__main__":
    main()
