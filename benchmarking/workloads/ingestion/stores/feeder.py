"""Pipe mode where no platform does it: a process that lets the objects of an epoch flow into a FIFO, as SageMaker's agent does.

The process runs this file by itself: it needs the S3 connector's client, and neither torch nor the rest of the package.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_START_S = 60.0
_LOOK_S = 0.01
_ATTEMPTS = 3
_FAILED = ".failed"
"""What the file beside a FIFO ends in that says why it ended before its time; `Fifo.failure` reads it."""


class Feeder:
    """FIFOs for the epochs of a channel, in a folder of their own, and the process that fills them one after another.

    Args:
        names: URIs of the channel's objects; each epoch gets them in this order.
        client: arguments of the connector's client: `region`, `endpoint`, `force_path_style`.
        environ: of the process.

    Raises:
        SystemExit: the process does not start.
    """

    def __init__(self, names: Sequence[str], client: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="outrider-pipe-")
        self.location = str(Path(self._folder.name) / "channel")
        os.mkfifo(f"{self.location}_0")
        command = [sys.executable, __file__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environ))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"names": list(names), "location": self.location, "parent": os.getpid(), "client": dict(client)}
        with contextlib.suppress(BrokenPipeError):  # it ended already, which is seen below
            self._process.stdin.write(json.dumps(order).encode())
            self._process.stdin.close()
        ready, _, _ = select.select([self._process.stdout], [], [], _START_S)
        if not ready or not self._process.stdout.readline():
            self.close()
            raise SystemExit("the process that fills the FIFOs of pipe mode did not start; what it said stands above")

    def close(self) -> None:
        """End the process, and remove the FIFOs."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._folder.cleanup()


def main() -> None:
    """Serve one epoch after another until the job is gone; what to do comes as JSON on the standard input."""
    from s3torchconnectorclient._mountpoint_s3_client import MountpointS3Client  # as the connector's own data sets use it

    order = json.loads(sys.stdin.buffer.read())
    client = MountpointS3Client(user_agent_prefix="", throughput_target_gbps=10.0, **order["client"])
    print("ready", flush=True)
    epoch = 0
    while (descriptor := _reader_of(f"{order['location']}_{epoch}", order["parent"])) is not None:
        path = f"{order['location']}_{epoch}"
        epoch += 1
        with contextlib.suppress(OSError):
            os.mkfifo(f"{order['location']}_{epoch}")
        _feed(descriptor, client, order["names"], path)


def _reader_of(path: str, parent: int) -> int | None:
    """Return a descriptor to write to as soon as somebody reads; None when the job is gone, and its FIFOs with it."""
    while os.getppid() == parent:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                return None
            time.sleep(_LOOK_S)
    return None


def _feed(descriptor: int, client: Any, names: Sequence[str], path: str) -> None:
    """Let objects flow; where one cannot be had, say so beside the FIFO and end it, as what follows would be taken for the rest of it."""
    os.set_blocking(descriptor, True)
    try:
        for name in names:
            _send(descriptor, client, name)
    except BrokenPipeError:
        return  # the reader has had enough
    except Exception as error:  # noqa: BLE001  (the client has classes of its own)
        with contextlib.suppress(OSError):  # who reads has gone, and the folder with it
            Path(f"{path}{_FAILED}").write_text(f"{name}: it cannot be read: {type(error).__name__}: {error}", encoding="utf-8")
    finally:
        os.close(descriptor)


def _send(descriptor: int, client: Any, name: str) -> None:
    """Let one object flow; a body that breaks off is asked for again, and what of it has flowed already is left out."""
    bucket, _, key = name.removeprefix("s3://").partition("/")
    sent = 0
    for attempt in range(_ATTEMPTS):
        left_out = sent
        try:
            for block in client.get_object(bucket, key):
                view = memoryview(block)[left_out:]
                left_out = max(left_out - len(block), 0)
                while view:
                    written = os.write(descriptor, view)
                    sent, view = sent + written, view[written:]
            return
        except BrokenPipeError:
            raise
        except Exception:
            if attempt == _ATTEMPTS - 1:
                raise


if __name__ == "__main__":
    main()
