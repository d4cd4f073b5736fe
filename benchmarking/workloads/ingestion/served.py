"""What the S3 server of this machine has served so far, as its back-end lets jobs read it."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

_FORM = struct.Struct("<4q")


def served(environ: Mapping[str, str]) -> Mapping[str, float]:
    """Return `requests`, `received_bytes`, `sent_bytes` and `server_cpu_s` since the server began; nothing where there is no such server.

    The figures of an epoch are the difference of two readings. Where several trials run at once they are those of all together.
    """
    path = environ.get("OUTRIDER_STORE_COUNTS")
    if not path or not Path(path).is_file():
        return {}
    requests, received, sent, cpu_ns = _FORM.unpack(Path(path).read_bytes()[: _FORM.size])
    return {"requests": requests, "received_bytes": received, "sent_bytes": sent, "server_cpu_s": cpu_ns / 1e9}
