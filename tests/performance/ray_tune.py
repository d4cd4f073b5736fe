"""Many no-op scripts on a Ray cluster, two at a time: ours against Ray Tune on the same cluster, and against our local back-end.

Run with the interpreter of `make ray`. The cluster is one node of this machine, started for the measurement; each side is a process of its
own that connects to it.
  ours                the back-end `ray`: loop, journal, processes on the node, exports
  ours, preload       the same, with trials forked from a process that has imported what they need
  Ray Tune            a function that runs the same script as a process and reports what it printed
  Ray Tune, function  the script's body as a function in Ray's worker; with `reuse` workers are kept for the next trial
  local               the same experiment on the back-end `local`, without Ray
`makespan` goes from the first line of the first script to the last report, `call` from the connection to the results, which is what a
program waits for. `gap` is that of gap.py: from a script's stamp after its report to the first line of the script that takes its slot.
Then so many scripts that report once a second run at once, and the controller's processor time is taken while all of them do (`--running 0`
leaves that out).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from _common import NOOP, in_turn, load_line, median, p95, run_side, show, temporary_folder
from gap import WORKERS, gaps_s

OURS, WARM, LOCAL = "ours", "ours, preload", "local"
TUNE = {"Ray Tune": "process", "Ray Tune, function": "function", "Ray Tune, function, reuse": "reuse"}
TICKING = Path(__file__).with_name("ticking_trial.py")
_TOKEN = "a-token-of-measurements-0123456789abcdef"


@contextmanager
def cluster(cpus: int) -> Iterator[str]:
    """Run a cluster of one node inside the block; yield its address."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": _TOKEN, "RAY_worker_niceness": "0"}
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    from ray.cluster_utils import Cluster

    made = Cluster()
    made.add_node(num_cpus=cpus, node_ip_address="127.0.0.1", object_store_memory=128 << 20, include_dashboard=False)
    try:
        yield made.address
    finally:
        made.shutdown()


def measure(side: str, trials: int, address: str) -> dict[str, Any]:
    """Run one side in this process; return its stamps and what the call took."""
    with temporary_folder() as folder:
        stamps = folder / "stamps"
        stamps.mkdir()
        os.environ["PERFORMANCE_STAMPS"] = str(stamps)
        run = partial(_tune, TUNE[side]) if side in TUNE else partial(_ours, LOCAL if side == LOCAL else "ray", preload=side == WARM)
        call_s = run(folder, trials, address)
        pairs = [tuple(float(word) for word in path.read_text().split()) for path in stamps.iterdir()]
    if len(pairs) != trials:
        raise SystemExit(f"{side}: {len(pairs)} of {trials} scripts have run")
    return {"call_s": call_s, "cpu_s": time.process_time(), "first": [one for one, _ in pairs], "reported": [one for _, one in pairs]}


def _ours(backend: str, folder: Path, trials: int, address: str, *, preload: bool = False) -> float:
    from _ours import noop_spec

    from benchmarking.experiment import run_experiment
    from benchmarking.surroundings import Surroundings

    block = f"environment: {{PERFORMANCE_STAMPS: {os.environ['PERFORMANCE_STAMPS']}}}\n"
    block += f"ray: {{address: '{address}'}}" if backend == "ray" else ""
    environ = {**os.environ, "OUTRIDER_LEASES": str(folder / "leases")}
    spec = noop_spec(folder, trials, WORKERS, backend, "[json]" if preload else "[]", block=block)
    begun = time.perf_counter()
    result = run_experiment(spec, Surroundings(environ, folder / "cache"))
    call_s = time.perf_counter() - begun
    if result.state.succeeded != trials:
        raise SystemExit(f"not all trials were completed: {result.ending}")
    return call_s


def _tune(way: str, folder: Path, trials: int, address: str) -> float:
    os.environ |= {"RAY_AIR_NEW_OUTPUT": "0", "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "0"}
    import ray
    from ray import tune

    stamps = os.environ["PERFORMANCE_STAMPS"]

    def process(config: dict[str, Any]) -> None:
        words = [sys.executable, str(NOOP), "--x", str(config["x"])]
        done = subprocess.run(words, env={**os.environ, "PERFORMANCE_STAMPS": stamps}, capture_output=True, text=True, check=True)
        tune.report({"loss": json.loads(done.stdout.partition(":")[2])["loss"]})

    def function(config: dict[str, Any]) -> None:
        started_at = time.time()
        tune.report({"loss": 1.0})
        Path(stamps, f"{os.getpid()}-{config['x']}-{started_at}").write_text(f"{started_at!r} {time.time()!r}")

    begun = time.perf_counter()
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    tuner = tune.Tuner(
        tune.with_resources(process if way == "process" else function, {"cpu": 1}),
        param_space={"x": tune.randint(0, 1_000_000)},
        tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=trials, reuse_actors=way == "reuse"),
        run_config=tune.RunConfig(name="noop", storage_path=str(folder / "tune"), verbose=0),
    )
    found = tuner.fit()
    call_s = time.perf_counter() - begun
    if len(found) != trials or found.errors:
        raise SystemExit(f"{len(found)} trials, {len(found.errors)} failed")
    ray.shutdown()
    return call_s


def share_of_a_core(running: int, seconds: int, address: str) -> dict[str, float]:
    """Return what part of a core the controller takes while so many trials report once a second, and for how long that was looked at."""
    from _ours import noop_spec

    from benchmarking.controller.sqlite_journal import SqliteJournal
    from benchmarking.experiment import run_experiment
    from benchmarking.surroundings import Surroundings

    looks: list[tuple[float, float]] = []
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(0.5):
            looks.append((time.time(), time.process_time()))

    with temporary_folder() as folder:
        block = f"ray: {{address: '{address}'}}\nenvironment: {{PERFORMANCE_SECONDS: {seconds}}}"
        spec = noop_spec(folder, running, running, "ray", block=block, script=TICKING)
        threading.Thread(target=look, daemon=True).start()
        result = run_experiment(spec, Surroundings(dict(os.environ), folder / "cache"))
        is_over.set()
        if result.state.succeeded != running:
            raise SystemExit(f"not all trials were completed: {result.ending}")
        journal = SqliteJournal(result.spec.folder / "journal.sqlite", read_only=True)
        records = [(record.kind, record.at) for record in journal.records()]
        journal.close()
    begin = max(at for kind, at in records if kind == "started")
    end = min(at for kind, at in records if kind == "ended")
    seen = [pair for pair in looks if begin + 1.0 <= pair[0] <= end]
    if len(seen) < 4:
        raise SystemExit(f"all {running} ran together for {end - begin:.1f} s only: more --seconds")
    took_s = seen[-1][0] - seen[0][0]
    reports = sum(1 for kind, at in records if kind == "reported" and seen[0][0] <= at <= seen[-1][0])
    return {"share": (seen[-1][1] - seen[0][1]) / took_s, "seconds": took_s, "reports": reports}


def table(found: dict[str, list[dict[str, Any]]], trials: int) -> None:
    """Print the sides, and the ratios that count."""
    figures: dict[str, tuple[float, float, float]] = {}
    rows = []
    for name, runs in found.items():
        makespan_s = median([max(run["reported"]) - min(run["first"]) for run in runs])
        call_s = median([run["call_s"] for run in runs])
        gaps = [1000 * gap for run in runs for gap in gaps_s(run["reported"], run["first"])]
        figures[name] = makespan_s, call_s, median(gaps)
        rows.append([name, makespan_s, call_s, 1000 * makespan_s / trials, median(gaps), p95(gaps), median([run["cpu_s"] for run in runs])])
    header = ["", "makespan s", "call s", "ms a trial", "gap ms: median", "p95", "controller's cpu s"]
    show(f"{trials} no-op scripts, {WORKERS} at a time ({load_line()})", header, rows)
    print("\ntarget: makespan at most 0.5 of Ray Tune's, gap a third; makespan at most 1.5 of local")
    for mine in [name for name in (OURS, WARM) if name in figures]:
        for name in [name for name in figures if name not in (OURS, WARM)]:
            ratios = _ratios(figures[mine], figures[name])
            print(f"ratio {mine} / {name}: makespan {ratios[0]:.2f}, call {ratios[1]:.2f}, gap {ratios[2]:.2f}")


def _ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", default=",".join([OURS, "process", LOCAL]), help="of ours, preload, process, function, reuse, local")
    parser.add_argument("--running", type=int, default=100, help="trials that report once a second (default 100)")
    parser.add_argument("--seconds", type=int, default=60, help="for so long each (default 60)")
    for name in ("--side", "--address"):
        parser.add_argument(name, default="", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        if given.side == "running":
            found: Any = share_of_a_core(given.running, given.seconds, given.address)
        else:
            found = measure(given.side, given.trials, given.address)
        given.out.write_text(json.dumps(found))
        return
    names = {OURS: OURS, "preload": WARM, LOCAL: LOCAL, **{way: name for name, way in TUNE.items()}}
    if given.trials:
        with cluster(WORKERS) as address:
            words = ("--trials", str(given.trials), "--address", address)
            sides = [names[word] for word in given.sides.split(",")]
            table(in_turn(given.rounds, {name: partial(run_side, __file__, "--side", name, *words) for name in sides}), given.trials)
    if given.running:
        with cluster(given.running) as address:
            words = ("--running", str(given.running), "--seconds", str(given.seconds), "--address", address)
            seen = run_side(__file__, "--side", "running", *words)
        rate = seen["reports"] / seen["seconds"]
        print(f"\n{given.running} trials that report once a second, for {seen['seconds']:.0f} s, {rate:.0f} reports a second:")
        print(f"the controller takes {seen['share']:.1%} of a core (target: 5 %)")


if __name__ == "__main__":
    main()
