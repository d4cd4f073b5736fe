"""API calls a short training job takes, as the emulator counts them: ours beside Syne Tune 0.13's own SageMaker back-end.

Each is a command of its own with the same script, as many workers and as many trials; the emulator is in this process. `--peer` names an
interpreter that has Syne Tune 0.13 and SageMaker's SDK of version 2: `make clients` prints where it keeps one. Without it, ours alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _common import ROOT, temporary_folder

ROLE = "arn:aws:iam::123456789012:role/trainer"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.5-cpu-py311"
SCRIPT = """
import argparse, json, time
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=float)
parser.add_argument("--seconds", type=float)
given, _ = parser.parse_known_args()
for epoch in range(1, 4):
    time.sleep(given.seconds / 3)
    worker = {"st_worker_timestamp": time.time(), "st_worker_time": 1.0, "st_worker_iter": epoch - 1}
    print("[tune-metric]: " + json.dumps({"loss": given.width / epoch, "epoch": epoch, **worker}), flush=True)
"""
DEFINITION = """
name: calls
script: train.py
arguments: {{instance_type: ml.m5.large, seconds: {seconds}}}
space: {{width: {{uniform: [0.0, 1.0]}}}}
objectives: {{loss: min}}
n_workers: {at_once}
budget: {{max_num_trials: {trials}}}
sagemaker: {{image: "{image}", role: "{role}"}}
"""
PEER = """
import sys
from sagemaker.pytorch import PyTorch
from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend import SageMakerBackend
from syne_tune.backend.sagemaker_backend.sagemaker_utils import default_sagemaker_session
from syne_tune.config_space import uniform
from syne_tune.optimizer.baselines import RandomSearch
image, role, seconds, trials, at_once = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
estimator = PyTorch(entry_point="train.py", role=role, image_uri=image, instance_type="ml.m5.large", instance_count=1,
                    sagemaker_session=default_sagemaker_session(), disable_profiler=True)
scheduler = RandomSearch({"width": uniform(0, 1), "seconds": seconds}, metric="loss", mode="min")
# Its limits are exceeded before they hold, so that as many trials run as ours.
stop = StoppingCriterion(max_num_trials_finished=trials - 1)
Tuner(SageMakerBackend(sm_estimator=estimator, metrics_names=["loss"]), scheduler, stop, n_workers=at_once, save_tuner=False).run()
"""


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count what emulators of this process answer, by operation; what jobs ask for is not told apart, so they should ask for nothing."""
    from backends.emulator.router import Router

    calls: Counter[str] = Counter()
    answer = Router.answer

    def counting(self: Router, request: Any) -> Any:
        place, _, query = request.path.partition("?")
        s3 = f"{request.method} {'object' if place.count('/') > 1 else 'bucket'}{' (list)' if 'list-type' in query else ''}"
        calls[request.headers.get("x-amz-target", "").rpartition(".")[2] or s3] += 1
        return answer(self, request)

    Router.answer = counting  # type: ignore[method-assign]
    try:
        yield calls
    finally:
        Router.answer = answer  # type: ignore[method-assign]


def run(name: str, command: Sequence[str], folder: Path, given: argparse.Namespace) -> float:
    """Run one side against an emulator of its own, print what it took, and return the calls a job."""
    from backends.emulator import Emulator, Settings
    from backends.emulator.core.settings import TRAINING_QUOTA

    python = given.peer if name != "ours" else sys.executable
    settings = Settings(python=python, quotas={TRAINING_QUOTA.format("*"): 2 * given.at_once})
    with counted() as counts, Emulator(settings=settings) as emulator:
        environment = {word: value for word, value in os.environ.items() if not word.startswith(("AWS_", "SAGEMAKER_"))}
        environment |= {**emulator.environment, "HOME": str(folder), "HTTPS_PROXY": "http://127.0.0.1:9", "PYTHONPATH": str(ROOT)}
        began = time.perf_counter()
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, encoding="utf-8", check=False)
        wall_s, calls = time.perf_counter() - began, Counter(counts)
        jobs = emulator.client("sagemaker").list_training_jobs(MaxResults=100)["TrainingJobSummaries"]
    if done.returncode:
        raise SystemExit(f"{name}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    total, completed = sum(calls.values()), sum(job["TrainingJobStatus"] == "Completed" for job in jobs)
    each = "  ".join(f"{word} {count}" for word, count in sorted(calls.items(), key=lambda item: -item[1]) if count)
    print(f"{name:<10} {total / len(jobs):5.2f} calls a job, {len(jobs)} jobs ({completed} completed), {wall_s:.0f} s: {each}", flush=True)
    return total / len(jobs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--at_once", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each job's script")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter with Syne Tune 0.13")
    given = parser.parse_args()
    found: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        with temporary_folder() as folder:
            (folder / "train.py").write_text(SCRIPT)
            (folder / "calls.yaml").write_text(
                DEFINITION.format(seconds=given.seconds, at_once=given.at_once, trials=given.trials, image=IMAGE, role=ROLE)
            )
            (folder / "peer.py").write_text(PEER)
            ours = [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", "calls.yaml", "--backend", "sagemaker", "--yes"]
            found.setdefault("ours", []).append(run("ours", [*ours, "--results_dir", "results"], folder, given))
            if given.peer:
                words = [given.peer, "peer.py", IMAGE, ROLE, *map(str, (given.seconds, given.trials, given.at_once))]
                found.setdefault("Syne Tune", []).append(run("Syne Tune", words, folder, given))
    print(json.dumps({name: [round(one, 2) for one in sorted(values)] for name, values in found.items()}))


if __name__ == "__main__":
    main()
