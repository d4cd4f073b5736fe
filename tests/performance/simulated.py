"""Simulated experiments: trials a second, ours against Syne Tune's simulator, same methods, same table of 200 configurations x 9 levels.

Ours: loop, journal in a file, simulated back-end. Theirs: `Tuner` with `UserBlackboxBackend` and no sleep, once with nothing saved and
once as it comes, with results and state in files as ours has them; it needs huggingface_hub, which it does not declare, and a surrogate
(nearest neighbour), as its plain table look-up fails under pandas 3.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from _common import in_turn, load_line, median, run_side, show, temporary_folder

SIZES = (("RS", 200), ("ASHA", 200), ("ASHA", 1000))


def ours(method: str, trials: int) -> dict[str, Any]:
    from _simulations import definition, ours, simulate
    from _tables import Curves

    from definitions.schema import Budget

    # A space as large as the table holds no 1,000 configurations without repetition, so that ours has finer rates (same runs).
    table = Finer(Curves())
    made = definition(9, {"loss": "min"}, max_num_trials=trials).model_copy(update={"space": FINE_SPACE})
    with temporary_folder() as folder:
        # The method's modules are imported before the clock, as the peer's are.
        few = made.model_copy(update={"budget": Budget(max_num_trials=20)})
        simulate(ours(method, few, 1), few, table, 1, folder / "warm.sqlite")
        begun_s, wall_s = time.process_time(), time.perf_counter()
        tuner = simulate(ours(method, made, 0), made, table, 0, folder / "journal.sqlite")
        return {
            "cpu_s": time.process_time() - begun_s,
            "wall_s": time.perf_counter() - wall_s,
            "trials": len(tuner.state.trials),
            "reports": tuner.state.reports,
        }


FINE_SPACE = {"rate": {"loguniform": [1e-4, 1.0]}, "width": {"randint": [8, 80]}}


class Finer:
    """The nearest row of a table for any configuration."""

    def __init__(self, table: Any) -> None:
        import math

        from _tables import RATES, WIDTHS

        self.table, self.full = table, table.full
        self._log, self._rates, self._widths = math.log, RATES, WIDTHS

    def run(self, configuration: Any, level: float | None, repeat: int) -> Any:
        position = round((self._log(configuration["rate"], 10) + 4) / 4 * 19)
        rate = self._rates[min(max(position, 0), 19)]
        width = self._widths[min(max(round(configuration["width"] / 8), 1), 10) - 1]
        return self.table.run({"rate": rate, "width": width}, level, repeat)


def syne_tune(method: str, trials: int, *, as_it_comes: bool = False) -> dict[str, Any]:
    with temporary_folder() as folder:
        os.environ["SYNETUNE_FOLDER"] = str(folder)
        import numpy as np
        import pandas as pd
        from _tables import Curves
        from sklearn.neighbors import KNeighborsRegressor
        from syne_tune import StoppingCriterion, Tuner
        from syne_tune.backend.simulator_backend.simulator_callback import SimulatorCallback
        from syne_tune.blackbox_repository import UserBlackboxBackend, add_surrogate
        from syne_tune.blackbox_repository.blackbox_tabular import BlackboxTabular
        from syne_tune.config_space import loguniform, randint
        from syne_tune.optimizer.baselines import ASHA, RandomSearch

        table = Curves()
        space = {"rate": loguniform(1e-4, 1.0), "width": randint(8, 80)}
        rows = list(table.rows)
        values = np.array([[[[at, loss] for at, loss, _ in table.rows[row]]] for row in rows])
        tabular = BlackboxTabular(
            hyperparameters=pd.DataFrame(rows, columns=["rate", "width"]),
            configuration_space=space,
            fidelity_space={"epoch": randint(1, 9)},
            objectives_evaluations=values,
            fidelity_values=np.arange(1, 10),
            objectives_names=["elapsed", "loss"],
        )
        backend = UserBlackboxBackend(
            blackbox=add_surrogate(tabular, surrogate=KNeighborsRegressor(n_neighbors=1)), elapsed_time_attr="elapsed"
        )
        backend.set_path(str(folder))
        if method == "RS":
            scheduler: Any = RandomSearch(space, metrics=["loss"], random_seed=0)
        else:
            scheduler = ASHA(space, metric="loss", time_attr="epoch", max_t=9, random_seed=0)
        tuner = Tuner(
            trial_backend=backend,
            scheduler=scheduler,
            stop_criterion=StoppingCriterion(max_num_trials_started=trials - 1),
            n_workers=4,
            sleep_time=0,
            callbacks=[SimulatorCallback()],
            **({} if as_it_comes else {"save_tuner": False, "print_update_interval": 1e9}),
        )
        begun_s, wall_s = time.process_time(), time.perf_counter()
        tuner.run()
        count = len(backend.trial_ids)
        return {"cpu_s": time.process_time() - begun_s, "wall_s": time.perf_counter() - wall_s, "trials": count, "reports": 0}


def syne_tune_as_it_comes(method: str, trials: int) -> dict[str, Any]:
    return syne_tune(method, trials, as_it_comes=True)


SIDES = {"ours": ours, "Syne Tune, nothing saved": syne_tune, "Syne Tune as it comes": syne_tune_as_it_comes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--method", help=argparse.SUPPRESS)
    parser.add_argument("--trials", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        given.out.write_text(json.dumps(SIDES[given.side](given.method, given.trials)))
        return
    rows, ratios = [], []
    for method, trials in SIZES:
        words = ("--method", method, "--trials", str(trials))
        found = in_turn(given.rounds, {name: lambda name=name, words=words: run_side(__file__, "--side", name, *words) for name in SIDES})
        rate = {name: median([one["trials"] / one["cpu_s"] for one in ones]) for name, ones in found.items()}
        wall = {name: median([one["trials"] / one["wall_s"] for one in ones]) for name, ones in found.items()}
        ratios.append("/".join(f"{rate['ours'] / rate[name]:.0f}" for name in list(SIDES)[1:]) + f" for {method} x {trials}")
        rows += [[f"{method} x {trials}", name, found[name][0]["trials"], rate[name], wall[name]] for name in SIDES]
    show(f"simulated experiments ({load_line()})", ["", "", "trials", "trials per cpu s", "trials per wall s"], rows)
    print("\ntarget: 20 times; ratio (nothing saved/as it comes) " + ", ".join(ratios))


if __name__ == "__main__":
    main()
