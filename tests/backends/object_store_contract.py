"""What holds of every object store, as a test class: each one's tests inherit it and say how one is made."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from backends.object_store import ObjectStore, ReadObject
from definitions.errors import UserError


class ObjectStoreContract:
    """Subclasses have the fixture `make`, which returns a function that returns stores of one and the same empty place."""

    make: Callable[[], ObjectStore]

    def test_what_is_put_can_be_read_and_is_listed(self, make):
        store, other = make(), make()
        etag = store.put("a/b", b"one")
        assert other.get("a/b") == ReadObject(b"one", etag)
        assert store.put("a/b", b"two") != etag
        assert other.get("a/c") is None
        store.put("a/a", b"")
        store.put("c", b"123")
        assert [(one.key, one.size_bytes) for one in other.list()] == [("a/a", 0), ("a/b", 3), ("c", 3)]
        assert [one.etag for one in other.list("a/b")] == [store.get("a/b").etag]
        store.delete(["a/a", "never there"])
        assert [one.key for one in other.list("a/")] == ["a/b"]
        assert other.list("d") == []

    def test_one_of_many_creates(self, make):
        stores = [make() for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(lambda number: stores[number].create("claim", f"mark {number}".encode()), range(8)))
        assert won.count(True) == 1
        assert stores[0].get("claim").body == f"mark {won.index(True)}".encode()

    def test_what_was_created_by_the_same_mark_is_its_own(self, make):
        assert make().create("claim", b"mark")
        assert make().create("claim", b"mark")
        assert not make().create("claim", b"another")

    def test_one_of_many_replaces(self, make):
        store = make()
        etag = store.put("study", b"old")
        stores = [make() for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(lambda number: stores[number].replace("study", f"new {number}".encode(), etag), range(8)))
        (place,) = [place for place, one in enumerate(won) if one is not None]
        assert store.get("study") == ReadObject(f"new {place}".encode(), won[place])
        assert store.replace("study", b"late", etag) is None
        assert store.replace("nothing", b"there", etag) is None
        assert store.get("nothing") is None

    def test_files_go_up_and_come_down(self, make, tmp_path):
        (tmp_path / "from").write_bytes(bytes(range(256)) * 999)
        make().upload(tmp_path / "from", "files/x")
        make().download("files/x", tmp_path / "new" / "to")
        assert (tmp_path / "new" / "to").read_bytes() == (tmp_path / "from").read_bytes()
        with pytest.raises(UserError, match="no such object"):
            make().download("files/y", tmp_path / "y")
        assert not (tmp_path / "y").exists()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["from", "new"]
