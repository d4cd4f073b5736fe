"""The fake store keeps the contract, and its faults are what they say."""

from __future__ import annotations

import pytest

from tests.backends.memory_store import MemoryStore, StoreFaultError
from tests.backends.object_store_contract import ObjectStoreContract


class TestMemoryStore(ObjectStoreContract):
    @pytest.fixture
    def make(self):
        objects = {}
        return lambda: MemoryStore(objects=objects)


def test_a_write_that_is_not_answered_takes_effect_and_one_that_is_refused_does_not():
    store = MemoryStore()
    store.failing = lambda operation, key: {"a": "refused", "b": "unanswered"}.get(key, "")
    for key in ("a", "b"):
        with pytest.raises(StoreFaultError):
            store.create(key, b"mark")
    assert [*store.objects] == ["b"]
    store.failing = lambda operation, key: ""
    assert store.create("b", b"mark")
    store.hidden.add("b")
    assert store.list() == []
    assert store.get("b").body == b"mark"
