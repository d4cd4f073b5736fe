"""A bucket's objects as files below a folder, by Mountpoint for Amazon S3: mounted for a job by `mount-s3`, unmounted at its end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PROGRAM = "mount-s3"
_MOUNTED = "is mounted at"
"""What it prints on its standard output when the folder can be read (awslabs/mountpoint-s3, mountpoint-s3/src/run.rs)."""
_START_S, _END_S = 60.0, 15.0
_DIES_WITH_PARENT = 1
_LIBC = ctypes.CDLL(None)


def command_of(uri: str, folder: str, environ: Mapping[str, str], cache: str = "") -> list[str]:
    """Return the command that mounts a prefix read-only, in the foreground, so that it ends with the job.

    Args:
        uri: `s3://bucket/prefix`.
        folder: where to.
        environ: endpoint and region, as AWS_* say.
        cache: a folder for its cache of content; empty for none.
    """
    bucket, _, prefix = uri.removeprefix("s3://").partition("/")
    found = [PROGRAM, bucket, folder, "--read-only", "--foreground"]
    if prefix:
        found += ["--prefix", prefix if prefix.endswith("/") else f"{prefix}/"]
    endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        found += ["--endpoint-url", endpoint, "--force-path-style"]
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    if region:
        found += ["--region", region]
    return [*found, "--cache", cache] if cache else found


class Mountpoint:
    """A mounted prefix.

    Args:
        uri: `s3://bucket/prefix`.
        environ: of the process; PATH, where `mount-s3` is looked for, endpoint and region, OUTRIDER_SCRATCH for its folders.
        cached: whether it caches content on the disk.

    Raises:
        SystemExit: there is no such program, or it does not mount; what it said is in the message.
    """

    def __init__(self, uri: str, environ: Mapping[str, str], *, cached: bool = False) -> None:
        program = shutil.which(PROGRAM, path=environ.get("PATH"))
        if program is None:
            raise SystemExit(
                f"ingestion 'mountpoint' needs the program {PROGRAM}, which is not on the path; "
                "https://github.com/awslabs/mountpoint-s3 says how to install it"
            )
        scratch = environ.get("OUTRIDER_SCRATCH") or tempfile.gettempdir()
        Path(scratch).mkdir(parents=True, exist_ok=True)
        self._base = Path(tempfile.mkdtemp(prefix="outrider-mount-", dir=scratch))
        self.folder = str(self._base / "data")
        Path(self.folder).mkdir()
        cache = str(self._base / "cache") if cached else ""
        if cache:
            Path(cache).mkdir()
        self._environ = dict(environ)
        with (self._base / "mount.log").open("wb") as log:
            self._process = subprocess.Popen(
                [program, *command_of(uri, self.folder, environ, cache)[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environ,
                preexec_fn=_end_with_parent,
            )
        if not self._is_mounted():
            said = (self._base / "mount.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            self.close()
            raise SystemExit(f"{PROGRAM} does not mount {uri}: {' / '.join(said[-3:])[:600] or 'it said nothing'}")

    def close(self) -> None:
        """Unmount, and remove the folder and its cache."""
        if self._process.poll() is None:
            self._process.terminate()  # upon which it unmounts
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
        if self._process.poll() is None or os.path.ismount(self.folder):
            for command in _unmounting(self.folder, self._environ.get("PATH")):
                subprocess.run(command, check=False, capture_output=True)
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if not os.path.ismount(self.folder):  # what is mounted still is not ours to delete
            shutil.rmtree(self._base, ignore_errors=True)

    def _is_mounted(self) -> bool:
        """Wait until it says so, and return whether it did."""
        assert self._process.stdout is not None
        deadline_s, said = time.monotonic() + _START_S, b""
        while (left_s := deadline_s - time.monotonic()) > 0:
            ready, _, _ = select.select([self._process.stdout], [], [], left_s)
            part = os.read(self._process.stdout.fileno(), 4096) if ready else b""
            if not part:
                return False
            said += part
            if _MOUNTED.encode() in said:
                return True
        return False


def _unmounting(folder: str, path: str | None) -> Sequence[Sequence[str]]:
    known = (("fusermount3", "-u", "-z"), ("fusermount", "-u", "-z"), ("umount", "-l"))
    return [[*command, folder] for command in known if shutil.which(command[0], path=path)]


def _end_with_parent() -> None:
    # A job that is killed leaves no mount behind: the kernel sends its end on.
    with contextlib.suppress(OSError, AttributeError):
        _LIBC.prctl(_DIES_WITH_PARENT, signal.SIGTERM, 0, 0, 0)
