"""How many HTTP requests 20 runs take to get to MLflow, counted before a real `mlflow server` on 127.0.0.1.

ours, live      `outrider run --track mlflow`: 20 trials of 10 reports, two at a time, told while they run
ours, after     `outrider export --to mlflow` of a run of the same size
fluent          the same through `mlflow.start_run(nested=True)`, `log_params` once a run, `log_metrics` once a report
fluent, async   the same with MLflow's asynchronous logging, told to gather for a second what it puts into one request
"""

from __future__ import annotations

import argparse
import http.client
import logging
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from _common import ROOT, in_turn, load_line, median, show, temporary_folder

from tests.benchmarking.tracking.mlflow.server import QUIET, MlflowServer

RUNS, REPORTS = 20, 10
SCRIPT = """
import argparse, time
from outrider_report import report
parser = argparse.ArgumentParser()
for name in ("x", "y", "z"):
    parser.add_argument(f"--{name}", type=float)
given = parser.parse_args()
for epoch in range(1, %d + 1):
    time.sleep(%s)
    report(epoch=epoch, loss=given.x / epoch, accuracy=1 - given.y / epoch)
"""
DEFINITION = """
name: tracked
script: tracked.py
space: {x: {uniform: [0, 1]}, y: {uniform: [0, 1]}, z: {uniform: [0, 1]}}
objectives: {loss: min}
n_workers: 2
budget: {max_num_trials: %d}
"""
FLUENT = """
import sys, time
import mlflow
runs, reports, pause_s, is_async = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4] == "async"
if is_async:
    mlflow.config.enable_async_logging()
mlflow.set_experiment(sys.argv[5])
with mlflow.start_run(run_name="study"):
    for number in range(runs):
        with mlflow.start_run(run_name=f"trial-{number}", nested=True):
            mlflow.log_params({"x": number, "y": number / 2, "z": number / 3})
            for epoch in range(1, reports + 1):
                time.sleep(pause_s)
                mlflow.log_metrics({"loss": number / epoch, "accuracy": 1 - number / epoch}, step=epoch)
"""


class Counted(ThreadingHTTPServer):
    """Passes requests on to a server, and counts them by method and path."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        self.behind, self.counts = port, Counter[str]()
        super().__init__(("127.0.0.1", 0), _Passing)
        self.uri = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()


class _Passing(BaseHTTPRequestHandler):
    server: Counted
    protocol_version = "HTTP/1.1"

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.counts[f"{self.command} {self.path.partition('?')[0].rpartition('/mlflow/')[2]}"] += 1
        connection = http.client.HTTPConnection("127.0.0.1", self.server.behind)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        connection.request(self.command, self.path, body, {**headers, "Connection": "close"})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = _pass  # noqa: N815 (names of http.server)

    def log_message(self, *_: Any) -> None: ...


def run(words: list[str], folder: Path, uri: str) -> None:
    environ = {**os.environ, **QUIET, "MLFLOW_TRACKING_URI": uri, "MLFLOW_ASYNC_LOGGING_BUFFERING_SECONDS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed ({done.returncode}):\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")


def sides(server: MlflowServer, pause_s: float) -> Mapping[str, Callable[[], Counter[str]]]:
    """Return what brings the runs there, each as a call that returns its requests."""
    number = iter(range(1_000_000))

    def counted(bring: Callable[[Path, str, str], None]) -> Counter[str]:
        proxy = Counted(server.port)
        with temporary_folder() as folder:
            tag = f"t{os.getpid()}-{next(number)}"
            bring(folder, tag, proxy.uri)
        proxy.shutdown()
        proxy.server_close()
        check(server, f"{tag}/tracked")
        return proxy.counts

    def ours(folder: Path, tag: str, uri: str, *, live: bool) -> None:
        (folder / "tracked.py").write_text(SCRIPT % (REPORTS, pause_s if live else 0.0))
        (folder / "tracked.yaml").write_text(DEFINITION % RUNS)
        words = [str(ROOT / "hpo_main.py"), "--benchmark", "tracked.yaml", "--experiment_tag", tag]
        run([*words, *(["--track", "mlflow"] if live else [])], folder, uri)
        if not live:
            run(["-m", "launch", "export", tag, "--to", "mlflow"], folder, uri)

    def fluent(folder: Path, tag: str, uri: str, *, mode: str) -> None:
        run(["-c", FLUENT, str(RUNS), str(REPORTS), str(pause_s), mode, f"{tag}/tracked"], folder, uri)

    return {
        "ours, live": lambda: counted(lambda *given: ours(*given, live=True)),
        "ours, after": lambda: counted(lambda *given: ours(*given, live=False)),
        "fluent": lambda: counted(lambda *given: fluent(*given, mode="sync")),
        "fluent, async": lambda: counted(lambda *given: fluent(*given, mode="async")),
    }


def check(server: MlflowServer, experiment: str) -> None:
    """Stop unless all is there: what is not brought costs no request."""
    runs = server.runs(experiment)
    trials = [run for name, run in runs.items() if name.startswith("trial-")]
    found = {len(server.history(run, name)) for run in trials for name in ("loss", "accuracy")}
    parameters = {len({"x", "y", "z"} & set(run.data.params)) for run in trials}
    if (len(runs), len(trials), found, parameters) != (RUNS + 1, RUNS, {REPORTS}, {3}):
        raise SystemExit(f"{experiment}: {len(runs)} runs, {found} values a metric, {parameters} parameters")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pause_s", type=float, default=0.2, help="seconds between two reports of a run (default 0.2)")
    given = parser.parse_args()
    os.environ.update(QUIET)
    # The plug-in of SageMaker's, where it is installed, says of each request that this server is none of its own.
    logging.getLogger("mlflow.tracking.request_header.registry").setLevel(logging.ERROR)
    with temporary_folder() as folder:
        server = MlflowServer(folder)
        server.start()
        try:
            found = in_turn(given.rounds, sides(server, given.pause_s))
        finally:
            server.kill()
    total = {name: median([sum(counts.values()) for counts in rounds]) for name, rounds in found.items()}
    best = min(total["fluent"], total["fluent, async"])
    rows = [
        [name, total[name], total[name] / (RUNS + 1), total[name] / total["fluent"], total[name] / total["fluent, async"]] for name in total
    ]
    header = ["", "requests", "a run", "/ fluent", "/ fluent, async"]
    show(f"{RUNS} runs of {REPORTS} reports of 2 metrics, and the one that they are in ({load_line()})", header, rows)
    for name, rounds in found.items():
        print(f"{name}: " + ", ".join(f"{count} {path}" for path, count in rounds[-1].most_common()))
    print(
        f"\ntarget: fewer requests than the fluent API; ours live {total['ours, live'] / best:.2f}, after {total['ours, after'] / best:.2f}"
    )


if __name__ == "__main__":
    main()
