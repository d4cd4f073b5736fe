"""What a front on this machine tells of itself: which models are loaded, how much memory they take, what the server used."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Mapping
from typing import Any

_TIMEOUT_S = 10.0


class ServingStatus:
    """Asks a front; where there is none, or it does not answer, nothing is known.

    Args:
        url: of its status; empty where there is none.
        key: that it asks for.
    """

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = url, key

    async def read(self) -> Mapping[str, Any] | None:
        """Return what it tells; None where nothing is known."""
        if not self._url:
            return None
        return await asyncio.get_running_loop().run_in_executor(None, self._read)

    def _read(self) -> Mapping[str, Any] | None:
        request = urllib.request.Request(self._url, headers={"X-Outrider-Key": self._key} if self._key else {})
        # A proxy of the environment is not for what is on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_TIMEOUT_S) as answer:
                held = json.loads(answer.read())
        except (OSError, ValueError):
            return None
        return held if isinstance(held, dict) else None


def used_between(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the server used between two readings, apart from the client: processor seconds, memory, models loaded and given up."""
    if before is None or after is None:
        return {}
    found: dict[str, Any] = {}
    for name in ("server_cpu_s", "front_cpu_s", "loads", "evictions"):
        if isinstance(before.get(name), (int, float)) and isinstance(after.get(name), (int, float)):
            found[name] = round(after[name] - before[name], 6)
    for name in ("server_rss_bytes", "memory_bytes", "gpu_bytes"):
        if isinstance(after.get(name), (int, float)):
            found[name] = after[name]
    return found
