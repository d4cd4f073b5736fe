"""Native threads of the S3 connector's client must be gone before a loader forks its workers, which otherwise crash or hang.

The connector itself waits for half a second at each fork, says a warning where that was too short, and forks all the same.
"""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

WAIT_S = 30.0
"""Seconds that threads may take to end: on a busy machine half a second is not enough."""

CLIENTS = "s3torchconnector._s3client._s3client"
NATIVE = "s3torchconnectorclient._mountpoint_s3_client"


def has_native_threads(tasks: Path = Path("/proc/self/task")) -> bool:
    """Return whether threads of the AWS runtime are in this process.

    Args:
        tasks: folder of the process's threads, each with its name in `comm`.
    """
    for task in tasks.glob("*/comm"):
        with suppress(OSError):  # it has ended meanwhile
            if task.read_text(encoding="utf-8", errors="replace").startswith(("Aws", "EvntLoop")):
                return True
    return False


def end_client_threads(wait_s: float = 0.0) -> None:
    """Let go of the clients of this process, and return once their threads have ended; the next request makes a new client.

    Args:
        wait_s: seconds that they may take; 0 for the usual.

    Raises:
        SystemExit: they go on, since something still reads by one of them.
    """
    clients, native = sys.modules.get(CLIENTS), sys.modules.get(NATIVE)
    join: Any = getattr(native, "join_all_managed_threads", None)
    if clients is None or join is None:
        return
    for client in list(getattr(clients, "_active_clients", ())):
        client._native_client = None
    gc.collect()
    if not has_native_threads():
        return  # asked before there was a client, the library crashes
    try:
        join(wait_s or WAIT_S)
    except RuntimeError as error:
        raise SystemExit(
            f"loader workers are forked while the S3 connector still reads in this process ({error}), in which they would crash or hang; "
            "use start_method spawn or forkserver, or read to the end before the loader begins"
        ) from None
