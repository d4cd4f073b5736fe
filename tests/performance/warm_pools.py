"""What warm pools are worth, on an emulator whose cold starts take 8 s and whose warm starts take 1 s.

pools      ASHA on one instance type: trials per hour without pools and with them, hit rate after the first wave, kept seconds
order      random search over two instance types, with pools: trials in the order of their suggestion, and those first that find one warm

Trials per hour count from the first start to the last end, polling, uploads and downloads included.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from _common import load_line, median, show, temporary_folder

SCRIPT = """
import sys, time
from outrider_report import report
given = dict(word.split("=", 1) for word in sys.argv[1:])
for epoch in range(1, int(given["--epochs"]) + 1):
    time.sleep(0.3)
    report(epoch=epoch, loss=(float(given["--x"]) - 0.3) ** 2 + 1 / epoch)
"""
COLD_S, WARM_S = 8.0, 1.0
TYPES = ("ml.m5.large", "ml.m5.xlarge")


@contextmanager
def emulated() -> Iterator[None]:
    """Have this process talk to an emulator with room for pools."""
    from backends.emulator import Emulator, Settings
    from backends.emulator.core.settings import Delays

    settings = Settings(delays=Delays(cold_start_s=COLD_S, warm_start_s=WARM_S), quotas={"*": 100})
    with Emulator(settings=settings) as emulator, patch.dict(os.environ, emulator.environment):
        emulator.create_bucket("bench")
        yield


def run(folder: Path, backend: str, types: tuple[str, ...], method: str, trials: int, workers: int) -> dict[str, Any]:
    """Run one experiment and return its figures."""
    import outrider
    from definitions.schema import BenchmarkDefinition

    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "train.py").write_text(SCRIPT)
    definition = BenchmarkDefinition.model_validate(
        {
            "name": "warm",
            "script": "train.py",
            "source_dir": str(source),
            "space": {"x": {"uniform": [0, 1]}, "instance_type": {"choice": list(types)}},
            "objectives": {"loss": "min"},
            "fidelity": {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 9},
            "n_workers": workers,
            "budget": {"max_num_trials": trials, "max_run": 120},
            "sagemaker": {"image": "image:1", "bucket": "bench", "log_settle_s": 4},
        }
    )
    result = outrider.run(definition, backend=backend, method=method, results_dir=folder / "results")
    state = result.state
    assert len(state.trials) == trials, result.ended
    last_at = max(trial.ended_at or 0.0 for trial in state.trials.values())
    figures = state.warm.figures()
    configurations = sorted((trial.configuration["x"], trial.configuration["instance_type"]) for trial in state.trials.values())
    return {
        "per_hour": 3600.0 * trials / (last_at - (state.first_at or 0.0)),
        "hit_rate": figures.hit_rate,
        "cold_s": figures.cold_s,
        "warm_s": figures.warm_s,
        "kept_s": state.money.retained_s,
        "kept_usd": state.money.retained_usd,
        "spent_usd": state.money.spent_usd,
        "configurations": configurations,
        "summary": result.summary.warm,
    }


def rows(found: dict[str, list[dict[str, Any]]]) -> list[list[Any]]:
    keys = ("per_hour", "hit_rate", "cold_s", "warm_s", "kept_s", "kept_usd", "spent_usd")
    return [[name, *(_median([one[key] for one in runs]) for key in keys)] for name, runs in found.items()]


def _median(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return median(there) if there else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--trials", type=int, default=32, help="of each experiment")
    parser.add_argument("--workers", type=int, default=4, help="of `pools`")
    parser.add_argument("--order_workers", type=int, default=2, help="of `order`")
    parser.add_argument("--only", choices=("pools", "order"))
    given = parser.parse_args()

    from _common import in_turn

    from backends.sagemaker.warm_pool import WarmPoolBackend

    def cold_or_warm(backend: str) -> dict[str, Any]:
        with temporary_folder() as folder, emulated():
            return run(folder, backend, TYPES[:1], "ASHA", given.trials, given.workers)

    def aware() -> dict[str, Any]:
        with temporary_folder() as folder, emulated():
            return run(folder, "warm_pool", TYPES, "RS", given.trials, given.order_workers)

    def by_arrival() -> dict[str, Any]:
        with patch.object(WarmPoolBackend, "idle", return_value=0):
            return aware()

    header = ["", "trials/h", "hit rate", "cold start s", "warm start s", "kept s", "kept $", "spent $"]
    if given.only != "order":
        found = in_turn(given.rounds, {"without": lambda: cold_or_warm("sagemaker"), "with pools": lambda: cold_or_warm("warm_pool")})
        show(f"ASHA, one instance type, {given.trials} trials, {given.workers} workers ({load_line()})", header, rows(found))
        factor = median(one["per_hour"] for one in found["with pools"]) / median(one["per_hour"] for one in found["without"])
        rate = median(one["hit_rate"] for one in found["with pools"])
        print(f"\n{found['with pools'][-1]['summary']}\ntargets: 2 times and 0.8; ratio {factor:.2f}, hit rate {rate:.2f}")
    if given.only != "pools":
        found = in_turn(given.rounds, {"by arrival": by_arrival, "warm first": aware})
        show(f"RS, two instance types, {given.trials} trials, {given.order_workers} workers ({load_line()})", header, rows(found))
        same = found["by arrival"][0]["configurations"] == found["warm first"][0]["configurations"]
        factor = median(one["per_hour"] for one in found["warm first"]) / median(one["per_hour"] for one in found["by arrival"])
        print(f"\nthe same configurations were evaluated: {same}\nratio {factor:.2f}")


if __name__ == "__main__":
    main()
