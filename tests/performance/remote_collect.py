"""Bringing a launched run from S3, 100 experiments of 100 trials, with 100,000 reports, the first time and again; and its status.

Each start of a trial is in a segment of its own, as it is when trials are jobs elsewhere. The server is the emulator's S3, in a process of
its own on this machine. The peer brings the same objects with boto3 alone: one listing, then each object with 16 threads into a file.
Of the status it makes the same listing, and reads each last word.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from _common import cost_of, load_line, temporary_folder

from backends.emulator.alone.process import command
from backends.emulator.core.credentials import Credentials
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.simulated.backend import SimulatedBackend
from benchmarking.experiment import run_experiment
from benchmarking.live_status import live_status
from benchmarking.methods.registry import experiment_spec
from benchmarking.remote.files import IDENTITY
from benchmarking.remote.keeping import StoreKeeper
from benchmarking.remote.layout import shared_root
from benchmarking.remote.live import LiveWords
from benchmarking.remote.marked import MarkedEnds
from benchmarking.remote.segments import Writer
from benchmarking.remote.shipping import ShippingPace
from benchmarking.remote.standing import SeenJob, look_at
from benchmarking.surroundings import Surroundings
from definitions import strict_json
from definitions.resolve import Resolved
from definitions.schema import Budget
from launch.collecting import collect
from tests.benchmarking.experiments import FakeTable, definition

REGION, BUCKET = "us-east-1", "bench"
URI = f"s3://{BUCKET}/outrider/runs/t"


class Elsewhere(SimulatedBackend):
    """One on whose clock nothing is repeated for nothing, so that each start is made safe."""

    def __init__(self, reports: int) -> None:
        super().__init__(FakeTable(reports))
        self.capabilities = dataclasses.replace(self.capabilities, virtual_time=False)


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Serve S3 in a process of its own; give the environment that finds it."""
    import os

    credentials = Credentials.drawn()
    process = subprocess.Popen(command(folder, BUCKET, REGION, os.getpid()), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{credentials.access_key}\n{credentials.secret_key}\n{json.dumps([])}\n")
    process.stdin.flush()
    url = process.stdout.readline().strip()
    try:
        yield {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": credentials.access_key,
            "AWS_SECRET_ACCESS_KEY": credentials.secret_key,
            "AWS_DEFAULT_REGION": REGION,
        }
    finally:
        process.kill()
        process.wait()


def put_runs(folder: Path, store: S3ObjectStore, experiments: int, trials: int, reports: int) -> None:
    """Run one experiment whose state is in the store, and put there as many more that differ in their seed's number."""
    (folder / "fake.py").write_text("")
    budget = Budget(max_num_trials=trials)
    fake = definition(budget=budget, source_dir=str(folder), simulated={"table": "none.csv"}, space={"x": {"randint": [0, 10**6]}})
    writer, pace = Writer("f" * 16), ShippingPace(time.monotonic)
    keeper = StoreKeeper(store, writer, pace, LiveWords(store, writer, live_status(time.time), time.time, pace), MarkedEnds(store, pace))
    surroundings = Surroundings({}, folder / "cache", make_backend=lambda name, context: Elsewhere(reports), keeper=keeper)
    spec = experiment_spec(Resolved(fake, {}, "simulated"), "RS", 0, "t", folder / "results", {})
    run_experiment(spec, surroundings)
    there = {one.key: store.get(one.key) for one in store.list()}

    def put(asked: tuple[int, str]) -> None:
        number, key = asked
        body = there[key].body
        if key.endswith(f"/{IDENTITY}"):
            body = strict_json.dumps({**strict_json.loads(body.decode()), "number": number}).encode()
        store.put(key.replace("-simulated-0/", f"-simulated-{number}/"), body)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(put, [(number, key) for number in range(1, experiments) for key in there]))


def bare(client: object, folder: Path) -> int:
    """Bring all objects below the run into files, with as many threads, and return how many there were."""
    keys = [one["Key"] for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET) for one in page["Contents"]]

    def bring(key: str) -> None:
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(client.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(bring, keys))
    return len(keys)


def bare_words(client: object) -> int:
    """List the run and read the last word of each experiment, with as many threads, and return how many there were."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    keys = [one["Key"] for page in pages for one in page["Contents"] if one["Key"].endswith("/live.json")]
    with ThreadPoolExecutor(16) as pool:
        return len([*pool.map(lambda key: client.get_object(Bucket=BUCKET, Key=key)["Body"].read(), keys)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=100)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--reports", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with temporary_folder() as folder, s3_server(folder / "s3") as environ:
        clients = Clients(REGION, environ)
        store = S3ObjectStore(URI, clients)
        shared = S3ObjectStore(shared_root(URI), clients)
        put_runs(folder, store, given.experiments, given.trials, given.reports)
        counts: list[int] = []
        rows = []
        for number in range(given.rounds):
            place = folder / f"laptop-{number}" / "t"
            peer = cost_of(lambda: counts.append(bare(clients.get("s3"), folder / "bare")))
            first = cost_of(lambda: collect(store, shared, place, print))  # noqa: B023
            again = cost_of(lambda: collect(store, shared, place, print))  # noqa: B023
            peer_words = cost_of(lambda: counts.append(bare_words(clients.get("s3"))))
            status = cost_of(lambda: look_at(store, time.time(), lambda job: SeenJob()))
            rows.append((peer, first, again, peer_words, status))
            shutil.rmtree(folder / "bare")
            shutil.rmtree(place.parent)
        print(f"{given.experiments} experiments, {given.experiments * given.trials * given.reports} reports, {counts[0]} objects")
        for peer, first, again, peer_words, status in rows:
            print(
                f"collect {first.wall_s:.1f} s (processor {first.cpu_s:.1f} s), again {again.wall_s:.2f} s ({again.cpu_s:.2f} s); "
                f"boto3 alone {peer.wall_s:.1f} s ({peer.cpu_s:.1f} s): {first.wall_s / peer.wall_s:.2f} times, "
                f"again {again.wall_s / peer.wall_s:.3f} times"
            )
            print(
                f"status {status.wall_s:.2f} s (processor {status.cpu_s:.2f} s), "
                f"boto3 alone {peer_words.wall_s:.2f} s ({peer_words.cpu_s:.2f} s): {status.wall_s / peer_words.wall_s:.2f} times"
            )
        print(load_line())


if __name__ == "__main__":
    main()
