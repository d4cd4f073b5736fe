"""A front in a process of its own, as back-ends start it, and requests to it."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.serving.front.settings import FrontSettings

ROOT = Path(__file__).resolve().parents[3]
ROW = [1.0, 2.0, 3.0, 4.0]


@dataclass(frozen=True)
class Said:
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def outputs(self) -> list[float]:
        """The numbers of the first output."""
        return self.value["outputs"][0]["data"]


class FrontBench:
    """One front and its server.

    Args:
        place: temporary folder; targets are in `targets/`.
        settings: that differ from the usual ones.
    """

    def __init__(self, place: Path, **settings: Any) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.log = place / "server.log"
        usual = {"folder": str(place / "targets"), "work": str(place / "work"), "log": str(self.log)}
        FrontSettings(**{**usual, **settings}).write(place / "settings.json")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backends.serving.front", "--settings", str(place / "settings.json")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        assert self.process.stdout is not None
        self.said = json.loads(self.process.stdout.readline())
        self.key = settings.get("key", "")

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Said:
        """Return the answer to a request of its own connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.said["port"], timeout=60)
        given = {name.replace("_", "-"): value for name, value in headers.items()} | ({"X-Outrider-Key": self.key} if self.key else {})
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        found = Said(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def invoke(self, target: str = "", rows: list[list[float]] | None = None, body: bytes | None = None, **headers: str) -> Said:
        """Invoke a target with rows."""
        sent = request_body(rows or [ROW]) if body is None else body
        named = {"X_Amzn_SageMaker_Target_Model": target} if target else {}
        return self.ask("POST", "/endpoints/endpoint/invocations", sent, **{"Content_Type": "application/json", **named, **headers})

    def status(self) -> Any:
        """Return the front's status."""
        return self.ask("GET", "/status").value

    def close(self) -> int:
        """End it as its starter's end does, and return its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(90)


def request_body(rows: list[list[float]], name: str = "x") -> bytes:
    """Return a request of the protocol v2 in JSON."""
    data = [number for row in rows for number in row]
    return json.dumps({"inputs": [{"name": name, "datatype": "FP32", "shape": [len(rows), len(rows[0])], "data": data}]}).encode()
