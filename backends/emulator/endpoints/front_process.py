"""One front of an endpoint as a process: started, asked, and ended with the emulator."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backends.emulator.endpoints.hosting import HostingError
from backends.serving.front.settings import FrontSettings

_ROOT = Path(__file__).resolve().parents[3]
_END_S = 15.0
_ASK_S = 65.0
"""Longest wait for an answer: SageMaker gives a container 60 s."""


class FrontGoneError(Exception):
    """The front does not answer."""


class FrontProcess:
    """A front and its server; it ends when its standard input does, so also when this process is killed.

    Args:
        settings: of the front, with a key.
        folder: of its settings' file.
        environment: of the process, with credentials for its store.

    Raises:
        HostingError: it does not serve; says why.
    """

    def __init__(self, settings: FrontSettings, folder: Path, environment: Mapping[str, str]) -> None:
        self.settings = settings
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "front.json"
        settings.write(file)
        command = [sys.executable, "-m", "backends.serving.front", "--settings", str(file)]
        with Path(settings.log).open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=_ROOT, env=dict(environment), start_new_session=True
            )
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        try:
            self.port = self._announced(settings.start_s + settings.load_s)
        except BaseException:
            self.close()
            raise

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return self._process.poll() is None

    def ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers (names in lower case) and body of an answer; raises `FrontGoneError`."""
        given = {**headers, "X-Outrider-Key": self.settings.key}
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        is_used = connection is not None
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ASK_S)
        try:
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if is_used and self.is_running and isinstance(error, (ConnectionError, http.client.BadStatusLine)):
                # A connection that was idle may have been closed meanwhile; nothing was answered on it.
                return self.ask(method, path, body, headers)
            raise FrontGoneError(f"{type(error).__name__}: {error}") from error
        with self._lock:
            self._idle.append(connection)
        return found

    def status(self) -> dict[str, Any]:
        """Return what the front says of itself; raises `FrontGoneError`."""
        status, _, body = self.ask("GET", "/status", b"", {})
        if status != 200:
            raise FrontGoneError(f"its status is answered with {status}")
        found: dict[str, Any] = json.loads(body)
        return found

    def unload_all(self) -> None:
        """Have all models unloaded that nobody uses."""
        for target in self.status()["resident"]:
            self.ask("POST", "/unload", json.dumps({"target": target}).encode(), {"Content-Type": "application/json"})

    def close(self) -> None:
        """End it; its server's processes end with it."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _announced(self, limit_s: float) -> int:
        assert self._process.stdout is not None
        end, said = time.monotonic() + limit_s, b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not said.endswith(b"\n") and (left_s := end - time.monotonic()) > 0:
                if selector.select(left_s):
                    block = os.read(self._process.stdout.fileno(), 4096)
                    said += block
                    if not block:
                        break
        try:
            found = json.loads(said)
            if found["ready"]:
                return int(found["port"])
            raise HostingError(str(found["error"]))
        except (ValueError, KeyError, TypeError):
            words = "it has ended" if said or not self.is_running else f"it was not ready within {limit_s:g} s"
            raise HostingError(f"the server {self.settings.server} does not serve: {words}") from None
