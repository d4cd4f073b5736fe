"""What a run has in S3 that is not in its folder of results here, so that deleting it would lose measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from backends.object_store import ObjectStore
from benchmarking.remote.layout import segment_of
from benchmarking.remote.restored import read_restored


def uncollected(store: ObjectStore, tag_folder: Path) -> dict[str, int]:
    """Return how many segments of each experiment's journal were not brought here; those that are here whole are left out.

    Args:
        store: of the run.
        tag_folder: `<results>/<tag>`.

    Raises:
        OutriderError: the store refuses.
    """
    last: Counter[str] = Counter()
    for one in store.list():
        found = segment_of(one.key)
        if found is not None:
            last[found[0]] = max(last[found[0]], found[1])
    missing = {}
    for name, number in last.items():
        here = read_restored(tag_folder / name)
        brought = here.number if here.uri.rstrip("/") == store.uri else 0
        if brought < number:
            missing[name] = number - brought
    return missing


def words(missing: dict[str, int], most: int = 5) -> str:
    """Return what is missing, for people."""
    names: Sequence[str] = [f"{name} ({count} segment{'s' * (count != 1)})" for name, count in missing.items()]
    more = f", and {len(names) - most} more experiments" if len(names) > most else ""
    return ", ".join(names[:most]) + more
