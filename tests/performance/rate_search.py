"""Searches for the largest rate on queues whose truth is known, beside the notebooks' ramp and a bisection without test.

All is on a virtual clock: nothing is timed. Each draw is a queue of a capacity between 100 and 600 requests a second and a limit of 8 to 48
service times (a server of batches: 20 to 60), and is searched once by each. `--share_passing` counts how often a probe passes at exactly
the true rate, and 5 % above it, which it should in no more than one of twenty.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import load_line
from _queues import Queue, QueueClient, plain_bisection, users_ramp
from _served import LoadedFront, chain_of

from benchmarking.workloads.load.calls import CallEnd
from benchmarking.workloads.load.endpoint import CalledEndpoint, LoadTarget
from benchmarking.workloads.load.load_files import LoadFiles
from benchmarking.workloads.load.options import parse_options
from benchmarking.workloads.load.probe import probe
from benchmarking.workloads.load.searching import KeptSearch, RunningSearch
from benchmarking.workloads.load.serving_status import ServingStatus

KINDS = ("mm1", "md1", "batch")
ENDPOINT = CalledEndpoint("http://127.0.0.1/e", (LoadTarget(None, "m"),), {})


def drawn_queue(kind, number):
    """A queue of a kind, and its true rate; batches come in eight sizes, as their truth is simulated."""
    rng = np.random.default_rng(10_000 + (number % 8 if kind == "batch" else number))
    low, high = (20, 60) if kind == "batch" else (8, 48)
    mu, services = 100 * 6 ** rng.random(), low * (high / low) ** rng.random()
    return Queue(kind, mu, services / mu)


def options_for(queue, percentile, probe_s):
    words = [
        "--slo_ms",
        repr(1000 * queue.limit_s),
        "--percentile",
        str(percentile),
        "--probe_s",
        str(probe_s),
        "--rate",
        repr(queue.mu / 10),
    ]
    return parse_options(words)


def searched(queue, percentile, probe_s, rng):
    """The last report of a search, and what it took."""
    client, reports = QueueClient(queue, rng), []
    options = options_for(queue, percentile, probe_s)
    kept = KeptSearch(None, ENDPOINT, options)
    running = RunningSearch(
        client, options, kept, LoadFiles(None, {}), ServingStatus("", ""), lambda **told: reports.append(told), lambda line: None
    )
    record = running.begin([(CallEnd("", 0.0), 1e-6)])
    asyncio.run(running.run(record))
    return reports[-1], client


def errors_text(name, errors):
    errors = np.array(errors)
    return (
        f"  {name:28} median error {100 * np.median(np.abs(errors)):5.1f} %, p90 {100 * np.quantile(np.abs(errors), 0.9):5.1f} %, "
        f"bias {100 * np.median(errors):+5.1f} %, too high {100 * np.mean(errors > 0):3.0f} %"
    )


def compare(kind, draws, percentile, probe_s):
    share = 1 - percentile / 100
    found = {name: [] for name in ("largest rate that passed", "estimate", "bisection without test", "200 users, as the notebooks")}
    covered, widths, requests, truths = [], [], [], {}
    for number in range(draws):
        queue = drawn_queue(kind, number)
        key = (queue.mu, queue.limit_s)
        truth = truths[key] = truths.get(key) or queue.truth(share)
        report, client = searched(queue, percentile, probe_s, np.random.default_rng(number))
        low = report.get("rate_low_per_s", report["max_rate_per_s"])
        high = report.get("rate_high_per_s", report.get("not_passed_per_s", np.inf))
        found["largest rate that passed"].append(report["max_rate_per_s"] / truth - 1)
        found["estimate"].append(report.get("rate_estimate_per_s", (low + high) / 2) / truth - 1)
        covered.append(low <= truth <= high)
        widths.append((high - low) / truth)
        requests.append(client.requests)
        rng = np.random.default_rng(number + 1)
        found["bisection without test"].append(plain_bisection(queue, share, queue.mu / 10, 20.0, rng) / truth - 1)
        found["200 users, as the notebooks"].append(users_ramp(queue, rng) / truth - 1)
    said = f"{kind}: {draws} draws, p{percentile:g}, probes of {probe_s:g} s and up to three times as long"
    print(f"{said}; {np.median(requests):,.0f} requests a search")
    for name, errors in found.items():
        print(errors_text(name, errors))
    print(f"  90 % interval covers {100 * np.mean(covered):.1f} %, median width {100 * np.median(widths):.1f} %", flush=True)


def passing(kind, draws, percentile, probe_s):
    for factor in (1.0, 1.05):
        verdicts = []
        for number in range(draws):
            queue = drawn_queue(kind, number)
            client = QueueClient(queue, np.random.default_rng(number))
            rate = factor * queue.truth(1 - percentile / 100)
            verdicts.append(asyncio.run(probe(client, rate, options_for(queue, percentile, probe_s))).verdict)
        shares = {verdict: f"{100 * verdicts.count(verdict) / draws:.0f} %" for verdict in sorted(set(verdicts))}
        print(f"{kind}: at {factor:g} times the true rate {shares}", flush=True)


def real(draws, percentile, layers):
    """Searches on a real server that serves one row after the other in one time: M/D/1 with the capacity that 200 users come to."""
    for _ in range(draws):
        with tempfile.TemporaryDirectory() as name:
            front = LoadedFront(Path(name), chain_of(layers), 512)
            common = ("--payload", "binary", "--batch", 1)
            mu = front.load("--load", "users", "--ramp", "200@12@200", "--timeout_s", 60, *common)["achieved_per_s"]
            queue = Queue("md1", mu, 15 / mu)
            # A probe at a tenth of the capacity needs 299 requests to pass at p99: at 100/s that is half a minute.
            words = ("--slo_ms", 1000 * queue.limit_s, "--percentile", percentile, "--probe_s", 120, "--search_s", 900, "--rate", mu / 4)
            said = front.load(*words, *common)
            front.bench.close()
        truth = queue.truth(1 - percentile / 100)
        estimate = said.get("rate_estimate_per_s")
        print(
            f"ort, {1000 / mu:.2f} ms a row, p{percentile:g} {1000 * queue.limit_s:.1f} ms: M/D/1 carries {truth:.0f}/s; found "
            f"{said['max_rate_per_s']:.0f} ({100 * (said['max_rate_per_s'] / truth - 1):+.1f} %), estimate "
            + (f"{estimate:.0f} ({100 * (estimate / truth - 1):+.1f} %)" if estimate else "none")
            + (f"; {said['why']}" if said.get("at_least") else ""),
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--percentile", type=float, default=99.0)
    parser.add_argument("--probe_s", type=float, default=800.0)
    parser.add_argument("--share_passing", action="store_true")
    parser.add_argument("--real", type=int, default=0, metavar="N", help="N searches on a real ONNX Runtime behind the front instead")
    parser.add_argument("--layers", type=int, default=400, help="of its model, each a product with a matrix of 512 x 512")
    asked = parser.parse_args()
    began_s = time.process_time()
    print(load_line())
    if asked.real:
        real(asked.real, asked.percentile, asked.layers)
        return
    for kind in asked.kinds:
        (passing if asked.share_passing else compare)(kind, asked.draws, asked.percentile, asked.probe_s)
    print(f"{time.process_time() - began_s:.0f} s of a processor")


if __name__ == "__main__":
    main()
