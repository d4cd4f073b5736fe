"""How soon a launched study is accepted, and how soon its first trial is created.

accepted      `outrider launch` of 20 experiments, from the command to its end, and what it uploads. The peer makes an archive of the same
              files with tarfile, uploads it and creates one job with boto3: the least that any launcher does.
first create  from the command to the first trial's CreateTrainingJob, where instances take `--cold_start` seconds to start (real ones
              take minutes). The peer is a bare job that imports boto3 and creates a job; neither installs anything, as both find all of
              it on the emulator's machine. Processor seconds are those of the whole side, to the end of its jobs.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import ROOT, Cost, cost_of, in_turn, load_line, median, show, temporary_folder
from _launched import BUCKET, TAG, defined, described, emulator_at, outrider, study_words

PEER = """
import os, json, boto3
boto3.client("sagemaker", region_name="us-east-1").create_training_job(**json.loads(os.environ["REQUEST"]))
"""
REQUEST: dict[str, Any] = {
    "RoleArn": "arn:aws:iam::123456789012:role/trainer",
    "OutputDataConfig": {"S3OutputPath": f"s3://{BUCKET}/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}


def accepted(experiments: int) -> tuple[Cost, int]:
    """Launch a study whose jobs do not start meanwhile; return what the command took, and how many packages there are then."""
    with temporary_folder() as folder, emulator_at(folder, cold_start_s=3600.0) as (emulator, environ):
        definition = defined(folder, 1.0, 1)
        took = cost_of(lambda: outrider(folder, environ, "launch", *study_words(definition, experiments, experiments)))
        listed = emulator.client("s3").list_objects_v2(Bucket=BUCKET, Prefix="outrider/code/")["Contents"]
        return took, len({one["Key"].split("/")[2] for one in listed})


def bare() -> tuple[Cost, int]:
    """Upload the project's files and create one job by boto3 in a process of its own; return what that took, and one."""
    with temporary_folder() as folder, emulator_at(folder, cold_start_s=3600.0) as (_, environ):
        code = f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]; import remote_launch; remote_launch.launch_bare()"
        return cost_of(lambda: subprocess.run([sys.executable, "-c", code], env=environ, check=True)), 1


def launch_bare() -> None:
    import boto3

    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=6) as tar:
        for name in ("backends", "benchmarking", "definitions", "launch"):
            for path in sorted((ROOT / name).rglob("*.py")):
                tar.add(path, path.relative_to(ROOT))
    boto3.client("s3", region_name="us-east-1").put_object(Bucket=BUCKET, Key="code/source.tar.gz", Body=content.getvalue())
    _create(boto3.client("sagemaker", region_name="us-east-1"), "bare", ["true"])


def _algorithm(entrypoint: list[str]) -> dict[str, Any]:
    return {"TrainingImage": "image:1", "TrainingInputMode": "File", "ContainerEntrypoint": entrypoint}


def _create(client: Any, name: str, entrypoint: list[str], **more: Any) -> None:
    client.create_training_job(TrainingJobName=name, AlgorithmSpecification=_algorithm(entrypoint), **REQUEST, **more)


def first_create(cold_start_s: float) -> float:
    """Return the seconds from `outrider launch` to the first trial's creation."""
    with temporary_folder() as folder, emulator_at(folder, cold_start_s=cold_start_s) as (emulator, environ):
        definition = defined(folder, 1.0, 1)
        began = time.time()
        outrider(folder, environ, "launch", *study_words(definition, 1, 1))
        found = _first(emulator, lambda name: not name.startswith("ctl-"))
        outrider(folder, environ, "stop", "--tag", TAG, "--bucket", BUCKET)
        return found - began


def bare_create(cold_start_s: float) -> float:
    """Return the seconds from the creation of a bare job to that of the job that it creates."""
    with temporary_folder() as folder, emulator_at(folder, cold_start_s=cold_start_s) as (emulator, _):
        began = time.time()
        request = json.dumps({"TrainingJobName": "first", "AlgorithmSpecification": _algorithm(["true"]), **REQUEST})
        _create(emulator.client("sagemaker"), "bare", [sys.executable, "-c", PEER], Environment={"REQUEST": request})
        return _first(emulator, lambda name: name == "first") - began


def _first(emulator: Any, wanted: Any) -> float:
    until = time.monotonic() + 300.0
    while time.monotonic() < until:
        found = [one["CreationTime"].timestamp() for name, one in described(emulator).items() if wanted(name)]
        if found:
            return float(min(found))
        time.sleep(0.05)
    raise SystemExit("no trial was created in 300 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=20)
    parser.add_argument("--cold_start", type=float, default=60.0, help="seconds that an instance takes to start")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    found = in_turn(given.rounds, {"launch": lambda: accepted(given.experiments), "bare launch": bare})
    starts: dict[str, list[float]] = {"first create": [], "bare create": []}

    def started(name: str, call: Callable[[float], float]) -> Cost:
        return cost_of(lambda: starts[name].append(call(given.cold_start)))

    sides = {"first create": lambda: started("first create", first_create), "bare create": lambda: started("bare create", bare_create)}
    costs = in_turn(given.rounds, sides)
    ours, peer = ([one for one, _ in found[name]] for name in ("launch", "bare launch"))
    wall, peer_wall = (median([one.wall_s for one in side]) for side in (ours, peer))
    cpu, peer_cpu = (median([one.cpu_s for one in side]) for side in (ours, peer))
    rows = [
        [f"{given.experiments} experiments accepted, s", f"{wall:.2f}", f"{peer_wall:.2f}", f"{wall / peer_wall:.2f}"],
        ["processor seconds of that", f"{cpu:.2f}", f"{peer_cpu:.2f}", f"{cpu / peer_cpu:.2f}"],
        ["packages uploaded (Outrider, and the source)", found["launch"][0][1], 1, ""],
    ]
    start, peer_start = (median(starts[name]) for name in ("first create", "bare create"))
    rows.append(["command to the first trial's create, s", f"{start:.2f}", f"{peer_start:.2f}", f"{start / peer_start:.2f}"])
    used, peer_used = (median([one.cpu_s for one in costs[name]]) for name in ("first create", "bare create"))
    rows.append(["processor seconds of that", f"{used:.2f}", f"{peer_used:.2f}", f"{used / peer_used:.2f}"])
    show("launching", ["", "ours", "peer", "ratio"], rows)
    print(load_line())


if __name__ == "__main__":
    main()
