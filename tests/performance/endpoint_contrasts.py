"""What changes the answer of a load test: binary tensors or JSON, users who wait or an open loop, room for two of four models or for all.

Each is measured on a real server (ONNX Runtime) behind the front, by the load script, one after the other in each round. Where the machine
does other things too, go by the ratios.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from _common import in_turn, load_line
from _served import LoadedFront, chain_of
from load_generators import package_of

from tests.backends.serving.onnx_packages import config, linear_model

COLUMNS = 12_288
"""Numbers of a row: an image of 3 x 64 x 64."""
_LAYERS, _MEAN_THINK_S, _ASKED, _LEAST_S = 400, 0.275, 1.05, 12.0


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
    """Latency by kind of loop on a server that is nearly saturated: as many users as would ask a little more than it answers.

    The open loops have the rate that the users come to, and the one that they would have if nobody waited for the server.
    """
    seconds = max(seconds, _LEAST_S)
    with tempfile.TemporaryDirectory() as name:
        front = LoadedFront(Path(name), chain_of(_LAYERS), 512)
        common = ("--payload", "binary", "--timeout_s", 60)
        most = front.load("--load", "users", "--ramp", "200@8@200", *common)["achieved_per_s"]
        count = max(2, round(_ASKED * most * _MEAN_THINK_S))
        users = front.load("--load", "users", "--ramp", f"{count}@{seconds}@{count}", *common)
        found = {"most": most, "count": count, "rate": users["achieved_per_s"], "users": users["latency_p95_ms"]}
        for which, rate in (("open", found["rate"]), ("asked", count / _MEAN_THINK_S)):
            found[which] = front.load("--load", "open", "--rate", rate, "--duration_s", seconds, *common)["latency_p95_ms"]
        front.bench.close()
    return found


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
    names = ("most", "count", "rate", "users", "open", "asked")
    most, count, rate, users, opened, asked_p95 = (statistics.median(one[name] for one in found["loops"]) for name in names)
    print(
        f"a server of at most {most:.0f}/s: {count:.0f} users who wait come to {rate:.0f}/s at p95 {users:.0f} ms; open loop at that rate "
        f"{opened:.0f} ms, at the {count / _MEAN_THINK_S:.0f}/s that they would ask for if nobody waited {asked_p95:.0f} ms"
    )
    for one in found["rooms"][-1].values():
        cold = f", cold p50 {one['cold_p50_ms']:.0f} ms" if one["cold_p50_ms"] else ""
        print(f"room for {one['resident']} of four models: warm p50 {one['warm_p50_ms']:.1f} ms{cold}, cold share {one['cold_share']:.2f}")


if __name__ == "__main__":
    main()
