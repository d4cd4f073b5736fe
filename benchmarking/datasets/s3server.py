"""An S3 server of our own on loopback, for ingestion modes that read from S3 where there is no cloud."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from backends.emulator.alone.counts import read_counts
from backends.emulator.alone.process import command
from backends.emulator.core.credentials import Credentials
from backends.emulator.core.settings import around_proxies, client_environment
from backends.emulator.faults.rules import parse_faults
from benchmarking.datasets.s3target import S3Target
from definitions.errors import OutriderError

_REGION = "us-east-1"


class EmbeddedS3:
    """A context manager: inside it an S3 server answers on 127.0.0.1; it ends with the block, and with this process however that dies.

    Args:
        folder: where buckets are kept; it may hold those of an earlier run, and another process may serve it at the same time.
        bucket: a bucket that exists from the start.
        timeout_s: how long the server may take to answer.
        environ: where exceptions from the use of a proxy are found, to which this server is added.
        faults: of the store, as the emulator's fault book has them: `slow`, `reset`, `truncate`, `s3_error`, ...

    Raises:
        UserError: a fault is wrong.
    """

    def __init__(
        self,
        folder: Path,
        *,
        bucket: str = "outrider",
        timeout_s: float = 30.0,
        environ: Mapping[str, str] = os.environ,
        faults: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        parse_faults(list(faults), "store_faults")
        self._faults = [dict(fault) for fault in faults]
        self.folder, self.bucket = folder, bucket
        self._timeout_s, self._environ = timeout_s, environ
        self._credentials = Credentials.drawn()
        self._process: subprocess.Popen[bytes] | None = None
        self._counts: Path | None = None
        self._log: IO[bytes] | None = None
        self.endpoint_url = ""

    @property
    def pid(self) -> int:
        """Process id of the server, 0 where it does not run."""
        return self._process.pid if self._process else 0

    def served(self) -> Mapping[str, int]:
        """Return how many `requests` it has answered, `received_bytes` and `sent_bytes` of bodies, and its own `cpu_ns`, since it began."""
        return read_counts(self._counts) if self._counts is not None else {}

    @property
    def contents(self) -> Path:
        """Folder of the files that objects lie in."""
        return self.folder / "contents"

    @property
    def environment(self) -> Mapping[str, str]:
        """What a job needs in its environment to reach the server, and to reach nothing else."""
        direct = around_proxies(self._environ)
        return {
            **client_environment(self.endpoint_url, _REGION, self._credentials),
            "AWS_ENDPOINT_URL_S3": self.endpoint_url,
            "OUTRIDER_STORE_COUNTS": str(self._counts or ""),
            "NO_PROXY": direct,
            "no_proxy": direct,
        }

    @property
    def target(self) -> S3Target:
        """Where data sets are uploaded to."""
        return S3Target(
            self.bucket,
            endpoint_url=self.endpoint_url,
            access_key=self._credentials.access_key,
            secret_key=self._credentials.secret_key,
            region=_REGION,
        )

    def __enter__(self) -> EmbeddedS3:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._log = tempfile.TemporaryFile()
        self._counts = Path(tempfile.mkstemp(prefix="outrider-s3-")[1])
        self._process = subprocess.Popen(
            command(self.folder, self.bucket, _REGION, os.getpid(), self._counts),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # a Ctrl-C in the terminal is for the controller, which still reads and writes while it winds down
        )
        try:
            self.endpoint_url = self._address(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def _address(self, process: subprocess.Popen[bytes]) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            # Not on the command line, which every user of the machine can read.
            process.stdin.write(f"{self._credentials.access_key}\n{self._credentials.secret_key}\n{json.dumps(self._faults)}\n".encode())
            process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self._timeout_s)
        line = process.stdout.readline().decode().strip() if ready else ""
        if not line.startswith("http://127.0.0.1:"):
            raise OutriderError(f"the embedded S3 server did not start: {self._said() or f'no answer within {self._timeout_s:g} s'}")
        return line

    def _said(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        # Of an exception of several lines the first is the one that is not indented.
        first = max((number for number, line in enumerate(lines) if not line.startswith(" ")), default=0)
        return "; ".join(line.strip() for line in lines[first:]).removeprefix("definitions.errors.UserError: ")

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()  # an object is registered once it is written, so nothing is torn
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._counts is not None:
            self._counts.unlink(missing_ok=True)
