"""Servers of models behind the front: ready, cold load, memory over load and unload, and what the front adds to an answer.

Ready: from the front's start to its line, against an interpreter that imports onnxruntime. Cold: the time that the front says a first call
waited for, against an ONNX Runtime session made of the same file in this process. Cycles: memory of the server after the second (of
mms the fifth) and last unload. Front: requests at a fixed rate through the front and straight to the server behind it, in turn, on the
same model, from the intended start of each; the processor seconds are the front's own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from _common import ROOT  # noqa: F401 (puts the repository on the path)

from backends.serving.servers import server_class
from backends.serving.wire.client import LoopbackClient, status_of
from tests.backends.serving.front_bench import FrontBench, request_body
from tests.backends.serving.onnx_packages import archive, config, linear_model

TARGET = "X-Amzn-SageMaker-Target-Model"
PORT = re.compile(rb'^\{"port": (\d+)\}|Started HTTPService at 127\.0\.0\.1:(\d+)', re.MULTILINE)


def bench_of(folder: Path, server: str, columns: int, targets: int) -> FrontBench:
    """Start a front with models that scale rows of so many numbers."""
    files = {"m/config.pbtxt": config(columns=columns), "m/1/model.onnx": linear_model(columns=columns)}
    one = archive(folder / "model.tar.gz", files)
    (folder / "targets").mkdir(exist_ok=True)
    for number in range(targets):
        (folder / "targets" / f"m{number}.tar.gz").hardlink_to(one)
    return FrontBench(folder, server=server, folder=str(folder / "targets"))


def ready_s(server: str) -> float:
    """Return the seconds from a front's start to its line."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        bench = FrontBench(Path(folder), server=server)
        took_s = time.perf_counter() - begun
        assert bench.said["ready"], bench.said
        bench.close()
    return took_s


def importing_s() -> float:
    """Return the seconds of an interpreter that imports onnxruntime."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import onnxruntime"], check=True)
    return time.perf_counter() - begun


def cold_ms(server: str, columns: int, count: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds that first calls waited for, and those of a session made in this process."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = bench_of(folder, server, columns, count)
        found, bare = [], []
        for number in range(count):
            answer = bench.invoke(f"m{number}.tar.gz", [[1.0] * columns])
            assert (answer.status, answer.headers["x-outrider-cold"]) == (200, "1"), answer
            found.append(float(answer.headers["x-outrider-load-ms"]))
            begun = time.perf_counter()
            with tarfile.open(folder / "model.tar.gz") as tar:
                onnxruntime.InferenceSession(tar.extractfile("m/1/model.onnx").read(), providers=["CPUExecutionProvider"])
            bare.append(1000.0 * (time.perf_counter() - begun))
        bench.close()
    return found, bare


def cycles(server: str, columns: int, count: int) -> list[int]:
    """Return the server's memory after each unload, in bytes."""
    with tempfile.TemporaryDirectory() as name:
        bench = bench_of(Path(name), server, columns, 1)
        found = []
        for _ in range(count):
            assert bench.invoke("m0.tar.gz", [[1.0] * columns]).status == 200
            bench.ask("POST", "/unload", b'{"target": "m0.tar.gz"}')
            found.append(bench.status()["memory_bytes"])
        bench.close()
    return found


async def at_rate(client: LoopbackClient, path: str, body: bytes, headers: dict[str, str], rate: float, seconds: float) -> list[float]:
    """Return the milliseconds from the intended start of each of the requests to its answer."""
    loop = asyncio.get_running_loop()
    begun = loop.time() + 0.05
    found: list[float] = []

    async def one(at: float) -> None:
        await asyncio.sleep(max(0.0, at - loop.time()))
        answer = await client.ask("POST", path, body, headers)
        assert status_of(answer) == 200, answer
        found.append(1000.0 * (loop.time() - at))

    await asyncio.gather(*(one(begun + number / rate) for number in range(int(rate * seconds))))
    return found


async def front_and_direct(bench: FrontBench, body: bytes, rate: float, seconds: float, rounds: int) -> dict[str, list[float]]:
    """Return the medians of rounds through the front and straight to the server, in turn."""
    match = PORT.findall(bench.log.read_bytes())[-1]
    server = LoopbackClient(int(match[0] or match[1]))
    front = LoopbackClient(bench.said["port"])
    _, index = await server.ask_json("POST", "/v2/repository/index", {})
    (name,) = [row["name"] for row in index if row.get("state") == "READY"]
    kind = {"Content-Type": "application/json"}
    sides = {
        "front": (front, "/endpoints/endpoint/invocations", {**kind, TARGET: "m0.tar.gz"}),
        "direct": (server, f"/v2/models/{name}/infer", kind),
    }
    found: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(rounds):
        for side in list(sides)[:: 1 if number % 2 == 0 else -1]:
            client, path, headers = sides[side]
            found[side].append(statistics.median(await at_rate(client, path, body, headers, rate, seconds)))
    server.close()
    front.close()
    return found


def compare_front(server: str, columns: int, arguments: argparse.Namespace) -> None:
    """Print what the front adds at one size of body."""
    with tempfile.TemporaryDirectory() as name:
        bench = bench_of(Path(name), server, columns, 1)
        bench.invoke("m0.tar.gz", [[1.0] * columns])
        body = request_body([[0.123456] * columns])
        before_s = bench.status()["front_cpu_s"]
        found = asyncio.run(front_and_direct(bench, body, arguments.rate, arguments.seconds, arguments.rounds))
        cpu_ms = 1000.0 * (bench.status()["front_cpu_s"] - before_s) / (arguments.rate * arguments.seconds * arguments.rounds)
        bench.close()
    ours, peer = (statistics.median(found[side]) for side in ("front", "direct"))
    best = min(found["front"]) / min(found["direct"])
    print(
        f"{server:7} {len(body) / 1000:.1f} kB, {arguments.rate:g}/s: p50 front {ours:.2f}, direct {peer:.2f} ms, ratio {ours / peer:.2f}"
    )
    print(f"{'':7} best rounds {best:.2f}; the front took {cpu_ms:.2f} ms of a processor a request")


def main() -> None:
    """Measure the servers that are here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", default="ort,triton,mms")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round of requests")
    arguments = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for server in arguments.servers.split(","):
        missing = server_class(server).missing()
        if missing:
            print(f"{server}: not measured: {missing}")
            continue
        ready, bare = [ready_s(server) for _ in range(arguments.rounds)], [importing_s() for _ in range(arguments.rounds)]
        ours, peer = statistics.median(ready), statistics.median(bare)
        print(f"{server:7} ready: {ours:.2f} s (best {min(ready):.2f}); an import of onnxruntime {peer:.2f} s (best {min(bare):.2f})")
        cold, session = cold_ms(server, 64, 10)
        ours, peer = statistics.median(cold), statistics.median(session)
        print(f"{server:7} cold: {ours:.0f} ms (best {min(cold):.0f}); a bare session {peer:.1f} ms (best {min(session):.1f})")
        after = cycles(server, 64, arguments.cycles)
        # A virtual machine loads classes for longer than others take to settle.
        settled = 5 if server == "mms" else 2
        first, last = after[settled - 1] / 2**20, after[-1] / 2**20
        more = f"{100 * (last / first - 1):+.1f} %"
        print(f"{server:7} memory: {first:.1f} MiB after {settled} cycles, {last:.1f} after {len(after)}: {more}")
        if server != "mms":
            for columns in (64, 12_000):
                compare_front(server, columns, arguments)


if __name__ == "__main__":
    main()
