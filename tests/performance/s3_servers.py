"""S3 servers on loopback, each in a process of its own: the one that local experiments read from, localbucket, moto.

put, get   latency of boto3 for small objects, one after the other, by median
cpu        processor time of the server for each object of 100 kB that it hands out
readers    objects a second that so many processes get at once, as the workers of a data loader do, through s3torchconnector
large      seconds to write and to read one object of so many MB through s3torchconnector, which uses parts and ranges
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from _common import ROOT

from benchmarking.datasets import EmbeddedS3, S3Target

KEY = "measured"
LOCALBUCKET = """
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path
from localbucket import S3Handler
S3Handler.data_root, S3Handler.disable_nagle_algorithm = Path(sys.argv[1]).resolve(), True
ThreadingHTTPServer.request_queue_size, ThreadingHTTPServer.daemon_threads = 128, True
server = ThreadingHTTPServer(("127.0.0.1", 0), S3Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
MOTO = """
import logging, time
logging.getLogger("werkzeug").disabled = True
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
time.sleep(3600)
"""


@contextlib.contextmanager
def ours(folder: Path) -> Iterator[tuple[S3Target, int]]:
    with EmbeddedS3(folder) as server:
        yield server.target, server.pid


@contextlib.contextmanager
def other(folder: Path, code: str) -> Iterator[tuple[S3Target, int]]:
    (folder / "outrider").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{process.stdout.readline().strip()}"
        target = S3Target("outrider", endpoint_url=url, access_key="x", secret_key="x", region="us-east-1")
        if "moto" in code:
            target.client().create_bucket(Bucket="outrider")
        yield target, process.pid
        process.kill()


def cpu_s(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def median_ms(calls: int, call: Callable[[int], object]) -> float:
    took = []
    for number in range(calls):
        began = time.perf_counter()
        call(number)
        took.append(time.perf_counter() - began)
    return 1e3 * statistics.median(took)


def connector(target: S3Target):  # type: ignore[no-untyped-def]
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    os.environ.update(AWS_ACCESS_KEY_ID=target.access_key or "", AWS_SECRET_ACCESS_KEY=target.secret_key or "")
    return S3Client("us-east-1", endpoint=target.endpoint_url, s3client_config=S3ClientConfig(force_path_style=True))


def read_all(target: S3Target, objects: int, together: Any) -> None:
    client = connector(target)
    client.get_object("outrider", f"{KEY}/0").read()
    together.wait()
    for number in range(objects):
        assert len(client.get_object("outrider", f"{KEY}/{number}").read()) == 100_000


def measure(name: str, target: S3Target, pid: int, readers: int, objects: int, large_mb: int) -> None:
    client = target.client()
    small, medium = os.urandom(20_000), os.urandom(100_000)
    put_ms = median_ms(objects, lambda number: client.put_object(Bucket="outrider", Key=f"small/{number}", Body=small))
    get_ms = median_ms(objects, lambda number: client.get_object(Bucket="outrider", Key=f"small/{number}")["Body"].read())
    for number in range(objects):
        client.put_object(Bucket="outrider", Key=f"{KEY}/{number}", Body=medium)
    spent_s = cpu_s(pid)
    for _ in range(5):
        for number in range(objects):
            client.get_object(Bucket="outrider", Key=f"{KEY}/{number}")["Body"].read()
    each_ms = 1e3 * (cpu_s(pid) - spent_s) / (5 * objects)
    context = get_context("spawn")
    together = context.Barrier(readers + 1)
    processes = [context.Process(target=read_all, args=(target, objects, together)) for _ in range(readers)]
    for process in processes:
        process.start()
    together.wait()
    began, spent_s = time.perf_counter(), cpu_s(pid)
    for process in processes:
        process.join()
    rate, loaded_ms = readers * objects / (time.perf_counter() - began), 1e3 * (cpu_s(pid) - spent_s) / (readers * objects)
    failed = sum(process.exitcode != 0 for process in processes)
    print(f"{name:<12} put {put_ms:5.2f} ms  get {get_ms:5.2f} ms  cpu {each_ms:5.3f} ms an object of 100 kB")
    print(f"{'':<12} {readers} readers: {rate:6.0f} objects/s, cpu {loaded_ms:5.3f} ms each, {failed} failed")
    crt, content = connector(target), os.urandom(large_mb << 20)
    try:
        began = time.perf_counter()
        writer = crt.put_object("outrider", "large")
        writer.write(content)
        writer.close()
        written_s, began = time.perf_counter() - began, time.perf_counter()
        back = crt.get_object("outrider", "large").read()
        print(
            f"{'':<12} {large_mb} MB: written in {written_s:.2f} s, read in {time.perf_counter() - began:.2f} s, equal: {back == content}"
        )
    except Exception as error:  # noqa: BLE001 (a server that cannot is part of the result)
        print(f"{'':<12} {large_mb} MB: {type(error).__name__}: {str(error)[:150]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=300)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--large_mb", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2, help="how often all are measured, one after the other")
    given = parser.parse_args()
    for _ in range(given.rounds):
        for name, package in (("ours", ""), ("localbucket", "localbucket"), ("moto", "moto")):
            if package and importlib.util.find_spec(package) is None:
                print(f"{name}: not installed")
                continue
            with tempfile.TemporaryDirectory() as folder:
                code = {"localbucket": LOCALBUCKET, "moto": MOTO}.get(package, "")
                with other(Path(folder), code) if package else ours(Path(folder)) as (target, pid):
                    measure(name, target, pid, given.readers, given.objects, given.large_mb)


if __name__ == "__main__":
    main()
