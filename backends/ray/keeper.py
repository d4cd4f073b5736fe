"""The actor that owns the room of an experiment whose jobs outlive its controller: it goes with the experiment, not with the program.

It travels by value, so that nodes need nothing of ours. While no controller is there it gives back the room that no job is in.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

_ALONE_S = 60.0
"""Seconds without a word from a controller after which there is none."""
_LOOK_S = 15.0


class SlotKeeper:
    """Asks Ray for room, which goes when this actor does.

    Args:
        namespace: Ray's, in which the actors of the experiment have their names.
        prefix: with which these begin.
        alone_s: seconds without a word after which there is no controller; `look_s`: between two looks.
    """

    def __init__(self, namespace: str, prefix: str, alone_s: float = _ALONE_S, look_s: float = _LOOK_S) -> None:
        self._namespace, self._prefix, self._alone_s, self._look_s = namespace, prefix, alone_s, look_s
        self._groups: dict[str, Any] = {}
        self._heard_at = time.monotonic()
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def ask(self, bundles: Sequence[Mapping[str, float]], strategy: str) -> Any:
        """Return a placement group of Ray's, which may have its room later."""
        from ray.util import placement_group

        with self._lock:
            self._heard_at = time.monotonic()
            group = placement_group([dict(bundle) for bundle in bundles], strategy=strategy)
            self._groups[group.id.hex()] = group
            return group

    def here(self) -> None:
        """Hear that there is a controller."""
        with self._lock:
            self._heard_at = time.monotonic()

    def _watch(self) -> None:
        while True:
            time.sleep(self._look_s)
            with self._lock, contextlib.suppress(Exception):  # where nodes do not answer it is looked again
                if self._groups and time.monotonic() >= self._heard_at + self._alone_s:
                    self._give_back()

    def _give_back(self) -> None:
        import ray

        # All are asked before anything is given back: one that does not answer leaves everything as it is.
        names = [one["name"] for one in ray.util.list_named_actors(all_namespaces=True) if one["namespace"] == self._namespace]
        agents = [name for name in names if name.startswith(self._prefix) and not name.endswith(":keeper")]
        answers = ray.get([ray.get_actor(name, namespace=self._namespace).busy.remote() for name in agents], timeout=self._look_s)
        busy = {place["id"] for answer in answers for place in answer}
        for key in [key for key in self._groups if key not in busy]:
            ray.util.remove_placement_group(self._groups.pop(key))
