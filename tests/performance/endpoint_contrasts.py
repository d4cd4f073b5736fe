"""What changes the answer of a load test: binary tensors or JSON, users who wait or an open loop, room for two of four models or for all.

Each is measured on a real server (ONNX Runtime) behind the front, by the load script, one after the other in each round. Where the machine
does other things too, go by the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _common import ROOT, in_turn, load_line
from load_generators import package_of, targets_file

from tests.backends.serving.front_bench import FrontBench
from tests.backends.serving.onnx_packages import archive, config, linear_model

COLUMNS = 12_288
"""Numbers of a row: an image of 3 x 64 x 64."""


class LoadedFront:
    """A front with copies of one model, and loads on it."""

    def __init__(self, folder, files, columns, copies=1, answers=0, **settings):
        self.folder, self.copies = folder, copies
        one = archive(folder / "model.tar.gz", files)
        (folder / "targets").mkdir()
        for number in range(copies):
            (folder / "targets" / f"m-v{number}.tar.gz").hardlink_to(one)
        self.bench = FrontBench(folder, server="ort", folder=str(folder / "targets"), threads=1, **settings)
        assert self.bench.said["ready"], self.bench.said
        told = json.loads(targets_file(folder, columns).read_text())
        told["targets"] = [{"target": f"m-v{number}.tar.gz", "package": "m"} for number in range(copies)]
        if answers:
            told["packages"]["m"] |= {"outputs": [{"name": "y", "datatype": "FP32", "shape": [answers]}], "reference": None}
        self.targets = folder / "told.json"
        self.targets.write_text(json.dumps(told))

    def load(self, *words):
        """The last report of a load."""
        port = self.bench.said["port"]
        environ = {
            **os.environ, "OUTRIDER_ENDPOINT_URL": f"http://127.0.0.1:{port}/endpoints/endpoint/invocations", "OUTRIDER_SAMPLING": "0",
            "OUTRIDER_ENDPOINT_TARGETS": str(self.targets), "PYTHONPATH": str(ROOT / "backends" / "reporter"),
        }  # fmt: skip
        command = [sys.executable, str(ROOT / "benchmarking" / "workloads" / "endpoint_load.py"), *map(str, words)]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        said = [json.loads(line) for line in re.findall(r"^\[tune-metric\]: (.*)$", done.stdout, re.MULTILINE)]
        said = [one for one in said if "probe_rate_per_s" not in one]
        assert said, done.stdout + done.stderr
        return said[-1]


def payloads(seconds):
    """Largest rate by form of the payload."""
    found = {}
    for payload in ("json", "binary"):
        with tempfile.TemporaryDirectory() as name:
            front = LoadedFront(Path(name), package_of(COLUMNS), COLUMNS)
            words = (
                "--payload",
                payload,
                "--slo_ms",
                50,
                "--percentile",
                99,
                "--probe_s",
                seconds,
                "--rungs",
                2,
                "--search_s",
                6 * seconds,
            )
            found[payload] = front.load(*words)["max_rate_per_s"]
            front.bench.close()
    return found


def loops(seconds):
    """Latency by kind of loop, the open one at the rate that the users come to."""
    with tempfile.TemporaryDirectory() as name:
        front = LoadedFront(Path(name), package_of(COLUMNS), COLUMNS)
        users = front.load("--load", "users", "--ramp", f"200@{seconds}@200", "--payload", "json")
        opened = front.load("--load", "open", "--rate", users["achieved_per_s"], "--duration_s", seconds, "--payload", "json")
        front.bench.close()
    return {"rate": users["achieved_per_s"], "users": users["latency_p95_ms"], "open": opened["latency_p95_ms"]}


def rooms(seconds):
    """Median latency of all answers, by room; a copy has 20 MB."""
    found = {}
    files = {"m/config.pbtxt": config(columns=64), "m/1/model.onnx": linear_model(columns=64, weights=20_000_000)}
    limits = {"all": None, "two": None}
    for room in limits:
        with tempfile.TemporaryDirectory() as name:
            front = LoadedFront(Path(name), files, 64, copies=4, answers=64, limit_bytes=limits[room])
            said = front.load("--load", "open", "--rate", 20, "--duration_s", seconds, "--cold", "none")
            status = front.bench.status()
            each = (status["memory_bytes"] - status["base_bytes"]) / max(1, len(status["resident"]))
            limits["two"] = int(status["base_bytes"] + 2.9 * each) if room == "all" else limits["two"]
            cold = said["cold_share"]
            found[room] = {
                "warm_p50_ms": said["latency_p50_ms"],
                "cold_p50_ms": said.get("cold_p50_ms"),
                "cold_share": cold,
                "resident": len(status["resident"]),
            }
            front.bench.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0)
    asked = parser.parse_args()
    found = in_turn(
        asked.rounds,
        {name: lambda call=call: call(asked.seconds) for name, call in (("payloads", payloads), ("loops", loops), ("rooms", rooms))},
    )
    print(load_line())
    rates = {form: statistics.median(one[form] for one in found["payloads"]) for form in ("json", "binary")}
    json_rate, binary_rate = rates["json"], rates["binary"]
    print(f"largest rate at p99 50 ms: JSON {json_rate:.0f}/s, binary {binary_rate:.0f}/s, ratio {binary_rate / max(json_rate, 1e-9):.1f}")
    rate, users, opened = (statistics.median(one[name] for one in found["loops"]) for name in ("rate", "users", "open"))
    print(f"p95 at {rate:.0f}/s: 200 users who wait {users:.0f} ms, open loop {opened:.0f} ms")
    for one in found["rooms"][-1].values():
        cold = f", cold p50 {one['cold_p50_ms']:.0f} ms" if one["cold_p50_ms"] else ""
        print(f"room for {one['resident']} of four models: warm p50 {one['warm_p50_ms']:.1f} ms{cold}, cold share {one['cold_share']:.2f}")


if __name__ == "__main__":
    main()
