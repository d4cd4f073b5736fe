"""The emulator under load: many short jobs at once, while its control calls are timed.

start      from the first instruction of an interpreter to a listening emulator and back to its exit
calls      create, describe and list of boto3, by median and 95th percentile, while the jobs run; the client's own work is in them
memory     resident memory of emulator and client after each batch: what is left per job is its record
moto       the same calls against a plain moto server in this process, which runs nothing (skipped where moto is not installed)
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from _common import ROOT, cpu_now_s

REQUEST = {
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File", "ContainerEntrypoint": ["sleep", "1"]},
    "RoleArn": "arn:aws:iam::123456789012:role/trainer",
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 600},
}


class Timed:
    """Calls a client and remembers how long each call took."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.took_s: dict[str, list[float]] = {}

    def call(self, operation: str, **arguments: Any) -> Any:
        began = time.perf_counter()
        found = getattr(self.client, operation)(**arguments)
        self.took_s.setdefault(operation, []).append(time.perf_counter() - began)
        return found

    def show(self) -> None:
        for operation, took in self.took_s.items():
            high = statistics.quantiles(took, n=20)[-1] if len(took) > 1 else took[0]
            print(f"  {operation:<24}{len(took):>6} calls  median {1e3 * statistics.median(took):6.1f} ms  95 % {1e3 * high:6.1f} ms")


def resident_mb() -> float:
    words = Path("/proc/self/statm").read_text().split()
    return int(words[1]) * 4096 / 1e6


def batch(timed: Timed, name: str, jobs: int, at_once: int) -> int:
    """Run so many jobs and return the most threads that there were."""
    made = threads = 0
    while True:
        listed = timed.call("list_training_jobs", MaxResults=100, NameContains=name)["TrainingJobSummaries"]
        running = sum(job["TrainingJobStatus"] == "InProgress" for job in listed)
        threads = max(threads, threading.active_count())
        if made == jobs and running == 0:
            return threads
        for _ in range(min(at_once - running, jobs - made, 20)):
            try:
                timed.call("create_training_job", TrainingJobName=f"{name}{made}", **REQUEST)
                made += 1
            except timed.client.exceptions.ResourceLimitExceeded:
                time.sleep(0.02)
                break
        timed.call("describe_training_job", TrainingJobName=f"{name}{max(0, made - 1)}")


def emulated(jobs: int, at_once: int) -> None:
    from backends.emulator import Emulator, Settings

    with Emulator(settings=Settings(quotas={"*": at_once})) as emulator:
        emulator.create_bucket("bucket")
        for number in (1, 2):
            timed = Timed(emulator.client("sagemaker"))
            idle, before_mb, cpu_s, began = threading.active_count(), resident_mb(), cpu_now_s(), time.perf_counter()
            threads = batch(timed, f"b{number}x", jobs, at_once)
            print(
                f"batch {number}: {jobs} jobs of 1 s, {at_once} at once, in {time.perf_counter() - began:.1f} s; "
                f"isolation {emulator.isolation}; processor {cpu_now_s() - cpu_s:.1f} s; "
                f"threads {idle} -> {threads}; memory {before_mb:.0f} -> {resident_mb():.0f} MB"
            )
            timed.show()


def plain_moto(calls: int) -> None:
    import boto3

    logging.getLogger("werkzeug").disabled = True
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "sagemaker", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    timed = Timed(client)
    for number in range(calls):
        timed.call("create_training_job", TrainingJobName=f"m{number}", **REQUEST)
        timed.call("describe_training_job", TrainingJobName=f"m{number}")
        timed.call("list_training_jobs", MaxResults=100)
    server.stop()
    print(f"moto, {calls} jobs that do not run")
    timed.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--at_once", type=int, default=100)
    given = parser.parse_args()
    code = "from backends.emulator import Emulator\nwith Emulator() as emulator: print(emulator.endpoint_url)"
    took = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)
        took.append(time.perf_counter() - began)
    print(f"start and end of a process with an emulator: {statistics.median(took):.2f} s")
    emulated(given.jobs, given.at_once)
    if importlib.util.find_spec("moto") and importlib.util.find_spec("flask"):
        plain_moto(200)


if __name__ == "__main__":
    main()
