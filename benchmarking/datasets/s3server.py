"""An S3 server of our own on loopback, for ingestion modes that read from S3 where there is no cloud."""

from __future__ import annotations

import importlib.util
import os
import select
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO

from benchmarking.datasets.s3target import S3Target
from definitions.errors import OutriderError, UserError

_CHILD = Path(__file__).with_name("s3child.py")
_DUMMY = "outrider-embedded"
_REGION = "us-east-1"


class EmbeddedS3:
    """A context manager: inside it an S3 server answers on 127.0.0.1; it ends with the block, and with this process however that dies.

    Args:
        folder: where buckets are kept, as plain folders; it may hold those of an earlier run.
        bucket: a bucket that exists from the start.
        timeout_s: how long the server may take to answer.
        clock: monotonic seconds.
        environ: where exceptions from the use of a proxy are found, to which this server is added.
    """

    def __init__(
        self,
        folder: Path,
        *,
        bucket: str = "outrider",
        timeout_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.folder, self.bucket = folder, bucket
        self._timeout_s, self._clock, self._environ = timeout_s, clock, environ
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self.endpoint_url = ""

    @property
    def pid(self) -> int:
        """Process id of the server, 0 where it does not run."""
        return self._process.pid if self._process else 0

    @property
    def environment(self) -> Mapping[str, str]:
        """What a job needs in its environment to reach the server, and to reach nothing else."""
        direct = ",".join(part for part in (self._environ.get("NO_PROXY") or self._environ.get("no_proxy"), "127.0.0.1") if part)
        return {
            "NO_PROXY": direct,
            "no_proxy": direct,
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ENDPOINT_URL_S3": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": _DUMMY,
            "AWS_SECRET_ACCESS_KEY": _DUMMY,
            "AWS_SESSION_TOKEN": "",
            "AWS_REGION": _REGION,
            "AWS_DEFAULT_REGION": _REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    @property
    def target(self) -> S3Target:
        """Where data sets are uploaded to."""
        return S3Target(self.bucket, endpoint_url=self.endpoint_url, access_key=_DUMMY, secret_key=_DUMMY, region=_REGION)

    def __enter__(self) -> EmbeddedS3:
        if importlib.util.find_spec("localbucket") is None:
            raise UserError(
                "an S3 server on this machine was asked for", "the package localbucket is not installed", "pip install localbucket"
            )
        (self.folder / self.bucket).mkdir(parents=True, exist_ok=True)
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, str(_CHILD), str(self.folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,  # a Ctrl-C in the terminal is for the controller, which still reads and writes while it winds down
        )
        try:
            self._await_answer(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        deadline = self._clock() + self._timeout_s
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], self._timeout_s)
        line = process.stdout.readline().decode().strip() if ready else ""
        if not line.isdigit():
            raise OutriderError(f"the embedded S3 server did not start: {self._said() or f'no answer within {self._timeout_s:g} s'}")
        self.endpoint_url = f"http://127.0.0.1:{line}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy of the user's must not see loopback
        try:
            with opener.open(f"{self.endpoint_url}/{self.bucket}?list-type=2&max-keys=1", timeout=max(0.1, deadline - self._clock())):
                pass
        except (urllib.error.URLError, OSError) as error:
            raise OutriderError(f"the embedded S3 server does not answer: {error}; {self._said()}") from error

    def _said(self) -> str:
        if self._log is None:
            return ""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()  # each object is written to a temporary file and renamed, so nothing is torn
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        if self._log is not None:
            self._log.close()
            self._log = None
