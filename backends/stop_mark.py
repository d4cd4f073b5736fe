"""The mark by which somebody asks, from anywhere, that the controllers of a run start no more jobs and wind down.

It is one object beside the run's state, `.stop`, which says whether all of the run is meant or which of its experiments: one read tells a
controller, however many experiments were marked one by one. Whoever wants the run to go on lifts it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backends.object_store import ObjectStore
from definitions.errors import UserError

KEY = ".stop"
"""Of the mark, below the run's root."""
_SCHEMA_VERSION = 1
_TRIES = 8


@dataclass(frozen=True)
class StopMark:
    """That a run, or some of its experiments, is to end.

    Args:
        at: when it was left, in seconds since 1970 by the clock of whoever left it.
        by: who that was, in words.
        experiments: those that are to end, each as its folder below the tag's, e.g. `toy/RS-sagemaker-0`; None for all.
    """

    at: float
    by: str
    experiments: tuple[str, ...] | None = None

    def concerns(self, experiment: str) -> bool:
        """Return whether an experiment is to end."""
        return self.experiments is None or experiment in self.experiments

    @property
    def is_of_all(self) -> bool:
        """Whether the whole run is to end."""
        return self.experiments is None


def encoded(mark: StopMark) -> bytes:
    """Return the object's content."""
    listed = None if mark.experiments is None else list(mark.experiments)
    return json.dumps({"schema_version": _SCHEMA_VERSION, "at": mark.at, "by": mark.by, "experiments": listed}).encode()


def decoded(body: bytes) -> StopMark:
    """Return the mark that an object's content is; one that cannot be read is of all, as somebody wanted an end of something."""
    try:
        document: Any = json.loads(body)
        listed = document["experiments"]
        experiments = None if listed is None else tuple(str(name) for name in listed)
        return StopMark(float(document["at"]), str(document["by"]), experiments)
    except (ValueError, KeyError, TypeError):
        return StopMark(0.0, "a mark that this version cannot read")


def left(store: ObjectStore) -> StopMark | None:
    """Return the mark of a run; None where there is none; raises as `ObjectStore.get`."""
    found = store.get(KEY)
    return None if found is None else decoded(found.body)


def leave(store: ObjectStore, mark: StopMark) -> StopMark:
    """Leave a mark, and return what is there then: one of all stays, and experiments join those that were marked before.

    Raises:
        OutriderError: the service refuses, or others write at the same time, again and again.
    """
    for _ in range(_TRIES):
        there = store.get(KEY)
        if there is None:
            if store.create(KEY, encoded(mark)):
                return mark
            continue
        joined = _joined(decoded(there.body), mark)
        if store.replace(KEY, encoded(joined), there.etag) is not None:
            return joined
    raise UserError(f"{store.uri}/{KEY}: the mark could not be left", "others write it again and again", "try again")


def lift(store: ObjectStore, experiments: Sequence[str] | None = None) -> StopMark | None:
    """Take a mark away, and return what it said; None where there was none.

    Args:
        store: of the run.
        experiments: those that are to go on; None for all. A mark of the whole run is taken away in any case.

    Raises:
        OutriderError: the service refuses.
    """
    for _ in range(_TRIES):
        there = store.get(KEY)
        if there is None:
            return None
        mark = decoded(there.body)
        kept = tuple(name for name in mark.experiments or () if experiments is not None and name not in experiments)
        if not kept:
            store.delete([KEY])
            return mark
        if kept == mark.experiments:
            return None
        if store.replace(KEY, encoded(StopMark(mark.at, mark.by, kept)), there.etag) is not None:
            return mark
    raise UserError(f"{store.uri}/{KEY}: the mark could not be taken away", "others write it again and again", "try again")


def _joined(there: StopMark, mark: StopMark) -> StopMark:
    if there.experiments is None or mark.experiments is None:
        # The newer time is kept: what was started after the older mark, and has not read it, is meant too.
        return StopMark(mark.at, mark.by)
    return StopMark(mark.at, mark.by, tuple(dict.fromkeys((*there.experiments, *mark.experiments))))
