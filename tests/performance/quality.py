"""Quality: methods on simulated tables with 20 seeds at equal budget of virtual time; paired differences with 95 % intervals.

Each experiment runs four workers for as long as ten full runs take, or forty for searchers that run everything in full: their first eight
configurations are drawn at random, and of ten full runs none that a model proposed would finish. Its regret is the final loss of the
configuration that looks best in what was measured (the lowest last loss at the highest level that any trial reached), less the lowest final
loss of the table. For MOASHA: the area that the measured (loss, size) pairs leave undominated. Syne Tune's schedulers run in our loop, so
that nothing else differs.
Tables: `clean`; `crossing`, where fast starters lose in the end; `noisy`. A method's place of the optimum changes with the seed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from _common import ROOT, run_side, show, temporary_folder

KINDS = ("clean", "crossing", "noisy")
OURS: dict[str, dict[str, Any]] = {
    "RS": {}, "ASHA": {}, "ASHA promoting": {"type": "promotion"}, "MSR": {}, "ASHA_TPE": {}, "MOBSTER": {}, "BO": {}, "MOASHA": {},
}  # fmt: skip
SLOW = {"CQR": {}, "ASHA_BORE": {"feval_acq": 100}}
REPLACED = {"ASHA": "ASHA", "ASHA promoting": "ASHA", "MSR": "MSR", "MOASHA": "MOASHA", "CQR": "CQR"}
MULTI_FIDELITY = ("ASHA", "ASHA promoting", "MSR", "ASHA_TPE", "ASHA_BORE", "MOBSTER", "MOASHA")
IN_FULL = ("BO", "CQR")
FULL = 27
LOSS = {"loss": "min"}
BOTH = {"loss": "min", "size": "min"}


def regret(tuner: Any, table: Any) -> float:
    """Return how much worse than the best of the table the configuration is that looks best."""
    trials = [trial for trial in tuner.state.trials.values() if trial.last.get("epoch")]
    top = max(trial.last["epoch"] for trial in trials)
    chosen = min((trial for trial in trials if trial.last["epoch"] == top), key=lambda trial: trial.last["loss"])
    return table.final(chosen.configuration) - min(row[-1][1] for row in table.rows.values())


def undominated_area(tuner: Any, table: Any) -> float:
    """Return the area within [0, 4] x [0, 1.2] that no measured pair of loss and size dominates; less is better."""
    points = sorted((trial.best["loss"], trial.best["size"]) for trial in tuner.state.trials.values() if "size" in trial.best)
    area, ceiling = 4.0 * 1.2, 1.2
    for loss, size in points:
        if size < ceiling:
            area -= max(0.0, 4.0 - loss) * (ceiling - size)
            ceiling = size
    return area


def measure(side: str, name: str, kind: str, seeds: int, full_runs: int) -> list[float]:
    """Return the outcome of each seed."""
    from _simulations import Theirs, definition, ours, simulate
    from _tables import Curves

    two = name == "MOASHA" or side.endswith("two")
    found = []
    with temporary_folder() as folder:
        for seed in range(seeds):
            table = Curves(FULL, kind, seed)
            budget_s = full_runs * mean(row[-1][0] for row in table.rows.values()) / 4
            made = definition(FULL, BOTH if two else LOSS, max_wallclock_time=budget_s)
            arguments = {**OURS, **SLOW}.get(name, {})
            method = ours(name.split()[0], made, seed, **arguments) if side.startswith("ours") else Theirs(name, made, seed)
            tuner = simulate(method, made, table, seed, folder / f"{seed}.sqlite")
            found.append((undominated_area if two else regret)(tuner, table))
    return found


def difference(ones: list[float], others: list[float]) -> tuple[float, float, float]:
    """Return the mean of the paired differences and its 95 % interval (Student's t)."""
    from scipy.stats import t

    differences = [one - other for one, other in zip(ones, others, strict=True)]
    middle = mean(differences)
    half = float(t.ppf(0.975, len(differences) - 1)) * stdev(differences) / math.sqrt(len(differences))
    return middle, middle - half, middle + half


def words(found: tuple[float, float, float]) -> str:
    verdict = "better" if found[2] < 0 else ("WORSE" if found[1] > 0 else "tied")
    return f"{found[0]:+.3f} [{found[1]:+.3f}, {found[2]:+.3f}] {verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tables", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--methods", nargs="+", default=list(OURS), choices=[*OURS, *SLOW], help="CQR and ASHA_BORE take minutes each")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("--full_runs", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        given.out.write_text(json.dumps(measure(given.side, given.name, given.kind, given.seeds, given.full_runs)))
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("PYTHONPATH", str(ROOT))

    known: dict[tuple[str, str, str, int], list[float]] = {}

    def outcome(side: str, name: str, kind: str, full_runs: int) -> list[float]:
        key = side, name, kind, full_runs
        if key not in known:
            words = ["--side", side, "--name", name, "--kind", kind, "--seeds", str(given.seeds), "--full_runs", str(full_runs)]
            known[key] = run_side(__file__, *words)
        return known[key]

    complaints = []
    for kind in given.tables:
        rows = []
        for name in given.methods:
            if name == "RS":
                continue
            runs = 40 if name in IN_FULL else 10
            mine = outcome("ours", name, kind, runs)
            random_search = outcome("ours two" if name == "MOASHA" else "ours", "RS", kind, runs)
            against = difference(mine, random_search)
            row = [name, mean(mine), words(against), "-", "-"]
            if name in REPLACED:
                theirs = outcome("theirs", REPLACED[name], kind, runs)
                they = difference(theirs, random_search)
                versus = difference(mine, theirs)
                row[3:] = [words(they), words(versus)]
                if versus[1] > 0:
                    complaints.append(f"{name} is worse than Syne Tune's on {kind}")
                if name in MULTI_FIDELITY and they[2] < 0 <= against[2]:
                    complaints.append(f"{name} does not beat RS on {kind}, where Syne Tune's does")
            rows.append(row)
        header = ["", "mean", "less RS", "Syne Tune's less RS", "ours less Syne Tune's"]
        show(f"table {kind}, {given.seeds} seeds: regret (MOASHA: undominated area); less is better", header, rows)
    print("\n" + ("; ".join(complaints) or "ours is nowhere significantly worse, and beats RS wherever Syne Tune's does"))


if __name__ == "__main__":
    main()
