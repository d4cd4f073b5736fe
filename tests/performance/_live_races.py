"""RACE on the real jobs of `_race_jobs.py`: the truth from full runs, the races, and how often a decision was wrong.

Every run is an experiment in a folder of its own, which is the cache: what is there is not run again, so that a run can be continued.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from _race_jobs import SPACES

from benchmarking.forecasting.data.results_folder import read_measured

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 0.05
FULL_RUNS = 2
_SAID = re.compile(r"race (decided|tied|narrow enough|not decided|nothing fits): (.*?) \((.*)\)$")


@dataclass(frozen=True)
class LiveRace:
    """How one race ended.

    Args:
        family: of jobs.
        decision: `decided`, `tied`, `not decided`, ...
        excess: by which share the full job of the winner, or of the leader, is dearer than the best, in processor time.
        plain: by which share the second best is dearer than the best.
        spend: processor time of all runs over that of all full jobs; `wall`: the same by the wall's clock.
        why: in words.
    """

    family: str
    decision: str
    excess: float
    plain: float
    spend: float
    wall: float
    why: str

    @property
    def is_decided(self) -> bool:
        return self.decision in ("decided", "tied")

    @property
    def is_wrong(self) -> bool:
        return self.is_decided and self.excess > TOLERANCE


def definition(family: str) -> str:
    space = ", ".join(f"{key}: {{choice: {values}}}" for key, values in SPACES[family].items())
    return f"""name: live-{family}
script: {ROOT / "tests" / "performance" / "_race_jobs.py"}
space: {{{space}}}
arguments: {{family: {family}}}
objectives: {{duration_s: min}}
exclusive: false
fidelity: {{kind: per_job, argument: fraction, ladder: [0.01, 0.03, 0.1]}}
"""


def _run(folder: Path, family: str, tag: str, *more: str) -> None:
    """Run one experiment unless it has been run; its answer is kept beside it."""
    said = folder / f"{tag}.json"
    if said.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{family}.yaml"
    file.write_text(definition(family))
    command = [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", str(file), "--results_dir", str(folder), "--experiment_tag", tag]
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # Each driver has leases of its own, so that two of them on two cores do not wait for each other.
    environment = {**os.environ, **one_thread, "OUTRIDER_LEASES": str(folder / f"leases-{os.getpid()}")}
    command += ["--n_workers", "1", "--format", "json", *more]
    answer = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if answer.returncode not in (0, 4):  # 4: it was not decided
        raise SystemExit(f"{tag}: exit code {answer.returncode}")
    said.write_bytes(answer.stdout)


def measure(folder: Path, families: list[str], count: int) -> None:
    """Run the full jobs of each family twice, and so many races of it, with seeds of their own."""
    for family in families:
        _run(folder, family, f"truth-{family}", "--method", "GRID", "--repeats", str(FULL_RUNS))
        print(f"{family}: truth known", flush=True)
    for number in range(count):
        for family in families:
            _run(folder, family, f"race-{family}-{number}", "--method", "RACE", "--start_seed", str(number))
        print(f"race {number} of {', '.join(families)}: done", flush=True)


def _place(folder: Path, tag: str) -> Path:
    return next(folder.glob(f"{tag}/*/*/experiment.json")).parent


def _name(label: str) -> str:
    """Return a configuration's label with its keys in one order: that of the space, or of the journal."""
    return " ".join(sorted(label.split()))


def truth(folder: Path, family: str) -> dict[str, list[tuple[float, float]]]:
    """Return (processor seconds, wall seconds) of each full run by configuration."""
    found = read_measured(_place(folder, f"truth-{family}"))
    runs: dict[str, list[tuple[float, float]]] = {}
    for one in found.full.canaries if found else ():
        runs.setdefault(_name(one.configuration), []).append((one.cpu_s or 0.0, one.total_s or 0.0))
    return runs


def read(folder: Path, family: str) -> list[LiveRace]:
    """Return how the races of a family ended."""
    if not (folder / f"truth-{family}.json").exists():
        return []
    runs = truth(folder, family)
    cpu_s = {name: statistics.fmean(cpu for cpu, _ in each) for name, each in runs.items()}
    wall_s = sum(statistics.fmean(wall for _, wall in each) for each in runs.values())
    best, second, *_ = sorted(cpu_s.values())
    races = []
    for file in sorted(folder.glob(f"race-{family}-*.json")):
        (said,) = json.loads(file.read_text())["experiments"]
        ended = _SAID.search(said["message"])
        measured = read_measured(_place(folder, file.stem))
        spent = measured.canaries.canaries if measured else ()
        winner = _name(ended[2].split(", ")[0]) if ended else ""
        races.append(
            LiveRace(
                family=family,
                decision=ended[1] if ended else said["message"],
                excess=cpu_s[winner] / best - 1 if winner in cpu_s else float("nan"),
                plain=second / best - 1,
                spend=sum(one.cpu_s or 0.0 for one in spent) / sum(cpu_s.values()),
                wall=sum(one.total_s or 0.0 for one in spent) / wall_s,
                why=ended[3] if ended else "",
            )
        )
    return races


def show(folder: Path, families: list[str], *, details: bool = True) -> None:
    """Print the truth of each family, its races, and the sums."""
    every: list[LiveRace] = []
    for family in families:
        races = read(folder, family)
        if not races:
            continue
        every += races
        full = {name: statistics.fmean(cpu for cpu, _ in each) for name, each in truth(folder, family).items()}
        noise = [abs(each[0][0] / each[1][0] - 1) for each in truth(folder, family).values() if len(each) > 1]
        print(f"\n{family}: {', '.join(f'{name} {cpu:.2f} s' for name, cpu in sorted(full.items(), key=lambda pair: pair[1]))}")
        print(f"  full runs differ by {statistics.median(noise):.1%} at the median; the second best is dearer by {races[0].plain:.0%}")
        for one in races if details else ():
            word = "WRONG" if one.is_wrong else ""
            print(f"  {one.decision:12} {word:6} winner +{one.excess:5.1%}  spend {one.spend:.2f} (wall {one.wall:.2f})  {one.why}")
    if every:
        decided, ends = [one for one in every if one.is_decided], Counter(one.decision for one in every)
        spend = sorted(one.spend for one in every)
        near = [one for one in every if one.excess <= TOLERANCE]
        print(f"\n{len(every)} live races: {dict(ends)}; wrong {sum(one.is_wrong for one in decided)} of {len(decided)} decided;"
              f" leader within {TOLERANCE:.0%} of the best in {len(near)};"
              f" spend median {statistics.median(spend):.2f}, most {spend[-1]:.2f} of all in full")  # fmt: skip
