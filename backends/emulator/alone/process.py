"""The process of an S3 server that stands alone: it serves a folder until the process that started it is gone."""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from backends.emulator.alone.server import S3Server
from backends.emulator.core.credentials import Credentials
from backends.emulator.faults.rules import parse_faults

_FOREVER_S = 3600.0


def command(folder: Path, bucket: str, region: str, parent: int, counts: Path | None = None) -> list[str]:
    """Return the command line of the process: it reads credentials and faults as three lines, and prints the address once it listens.

    Args:
        folder: where buckets are kept.
        bucket: one that exists from the start.
        region: that the server says it is in.
        parent: the process that it serves for, and which starts it.
        counts: file in which it counts what it does; None for none.
    """
    # Nothing but the standard library is needed, so nothing of the user's environment can get into its way.
    root = Path(__file__).resolve().parents[3]
    code = f"import sys; sys.path.insert(0, {str(root)!r}); from {__name__} import main; main(sys.argv[1:])"
    return [sys.executable, "-I", "-S", "-c", code, str(folder), bucket, region, str(parent), str(counts or "")]


def main(arguments: Sequence[str]) -> None:
    """Serve; the arguments are those of `command`. It does not return."""
    folder, bucket, region, parent, counts = arguments
    credentials = Credentials(sys.stdin.readline().strip(), sys.stdin.readline().strip())
    faults = parse_faults(json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    server = S3Server(Path(folder), credentials, region, poll_s=_FOREVER_S, faults=faults, counts=Path(counts) if counts else None)
    server.store.create_bucket(bucket)
    server.start()
    sys.stdout.write(f"{server.endpoint_url}\n")
    sys.stdout.flush()
    server.wait()


def _end_with(parent: int) -> None:
    """End this process when that one has ended: nothing is torn, and what was not registered is removed by the next to serve the folder."""
    # A pipe alone is not enough: a process forked by the parent would hold its other end open. The parent-death signal is not either: it
    # comes when the thread ends that started us. Where there is no pidfd, the pipe must do.
    try:
        watched = os.pidfd_open(parent)
    except (AttributeError, OSError):
        if os.getppid() == parent:
            sys.stdin.read()
        os._exit(0)
    if os.getppid() == parent:
        select.select([watched], [], [])
    os._exit(0)
