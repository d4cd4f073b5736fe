"""A real `mlflow server` on a free port of 127.0.0.1, with SQLite, which can be killed and started again; and fakes that answer badly."""

from __future__ import annotations

import contextlib
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}


class MlflowServer:
    """The server; its data outlive its process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["server", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        stores = ["--backend-store-uri", f"sqlite:///{self.folder}/mlflow.db", "--artifacts-destination", str(self.folder / "artifacts")]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mlflow", *words, *stores],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **QUIET},
                start_new_session=True,
            )
        until = time.monotonic() + 300
        while True:
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=5) as answer:
                    assert answer.status == 200
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self.folder / "server.log").read_text(encoding="utf-8")[-2000:]) from None
                time.sleep(0.1)

    def kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def client(self) -> Any:
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=self.uri)

    def runs(self, experiment: str) -> dict[str, Any]:
        """Return the runs of an experiment by name; asserts that no name is there twice."""
        client = self.client()
        found = client.get_experiment_by_name(experiment)
        if found is None:
            return {}
        runs = client.search_runs([found.experiment_id])
        by_name = {run.info.run_name: run for run in runs}
        assert len(by_name) == len(runs)
        return by_name

    def history(self, run: Any, metric: str) -> list[tuple[int, float]]:
        return [(one.step, one.value) for one in self.client().get_metric_history(run.info.run_id, metric)]


class Fake(http.server.ThreadingHTTPServer):
    """Answers every request with one status and body, or not at all where the status is 0; counts them."""

    daemon_threads = True

    def __init__(self, status: int, body: bytes = b"", kind: str = "application/json") -> None:
        self.status, self.body, self.kind, self.count = status, body, kind, 0
        self.headers: list[Mapping[str, str]] = []
        self.released = threading.Event()
        super().__init__(("127.0.0.1", 0), _Answer)
        self.uri = f"http://127.0.0.1:{self.server_port}"


class _Answer(http.server.BaseHTTPRequestHandler):
    server: Fake

    def _answer(self) -> None:
        self.server.count += 1
        self.server.headers.append(dict(self.headers))
        if self.server.status == 0:
            self.server.released.wait(60)
            return
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.kind)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815 (names of http.server)

    def log_message(self, *_: Any) -> None: ...


@contextlib.contextmanager
def fake(status: int, body: bytes = b"", kind: str = "application/json") -> Iterator[Fake]:
    """Serve badly while the block lasts."""
    server = Fake(status, body, kind)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
