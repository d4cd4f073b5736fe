"""When an endpoint was deleted, as `stop` keeps it."""

from __future__ import annotations

import pytest

from backends.stopped_endpoints import gone_at, tell
from tests.backends.memory_store import MemoryStore


def test_the_last_word_counts_and_each_endpoint_has_its_own():
    store = MemoryStore()
    tell(store, "x1", 100.5)
    tell(store, "x1", 103.25)
    tell(store, "x2", 7.0)
    assert [gone_at(store, name) for name in ("x1", "x2", "x3")] == [103.25, 7.0, None]


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b'{"gone_at": "soon"}', b'{"gone_at": null}'])
def test_what_cannot_be_read_is_not_known(body):
    store = MemoryStore()
    store.put(".stopped/x1", body)
    assert gone_at(store, "x1") is None
