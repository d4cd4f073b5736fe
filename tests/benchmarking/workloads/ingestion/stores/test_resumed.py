import io

import pytest

from benchmarking.workloads.ingestion.stores.base import ATTEMPTS
from benchmarking.workloads.ingestion.stores.resumed import Resumed
from benchmarking.workloads.ingestion.tolerance import Tolerance

CONTENT = bytes(range(256)) * 10


class Broken(io.BytesIO):
    """Gives no more than a part of its content."""

    def __init__(self, gives, error):
        super().__init__(CONTENT)
        self.gives, self.error = gives, error

    def read(self, size=-1):
        if size < 0 or self.tell() + size > self.gives:
            raise self.error
        return super().read(size)


class Forwards(Broken):
    def seek(self, *given):
        raise io.UnsupportedOperation("seek")


class Store:
    """Opens files that break off after so many bytes, one after another; then whole ones."""

    def __init__(self, *gives, kind=Broken, error=None):
        self.left, self.kind, self.error, self.opened = list(gives), kind, error or RuntimeError("reset by peer"), 0

    def open(self, name):
        self.opened += 1
        return self.kind(self.left.pop(0) if self.left else len(CONTENT) + 1000, self.error)


def blocks(file, size=100):
    return b"".join(iter(lambda: file.read(size), b""))


@pytest.mark.parametrize("kind", [Broken, Forwards])
def test_a_body_that_breaks_off_is_read_on_from_there(kind):
    store, tolerance = Store(1000, 0, 1100, 2000, 2000, kind=kind), Tolerance()
    with Resumed(store, "a", tolerance) as file:
        assert blocks(file) == CONTENT
        assert file.tell() == len(CONTENT)
    assert store.opened == 6
    assert (tolerance.counts()["read_errors"], tolerance.counts()["read_retries"]) == (5, 5)


def test_one_that_gives_nothing_more_is_asked_for_so_often_and_no_more():
    store, tolerance = Store(*[1000] * 10), Tolerance()
    file = Resumed(store, "a", tolerance)
    with pytest.raises(RuntimeError, match="reset by peer"):
        blocks(file)
    assert store.opened == ATTEMPTS
    assert tolerance.counts()["read_retries"] == ATTEMPTS - 1


def test_one_that_is_gone_is_asked_for_once():
    store = Store(0, error=RuntimeError("Service error: The key does not exist"))
    with pytest.raises(RuntimeError, match="does not exist"):
        Resumed(store, "a", Tolerance()).read(10)
    assert store.opened == 1


def test_one_that_is_open_already_is_the_first_attempt():
    store = Store()
    with Resumed(store, "a", Tolerance(), Broken(500, RuntimeError("reset"))) as file:
        assert blocks(file) == CONTENT
    assert store.opened == 1


def test_it_can_be_read_in_any_order_where_the_store_can():
    file = Resumed(Store(300), "a", Tolerance())
    assert file.seekable()
    assert file.seek(-6, io.SEEK_END) == len(CONTENT) - 6
    assert file.read(6) == CONTENT[-6:]  # after another attempt
    assert file.seek(10) == 10
    assert file.read(5) == CONTENT[10:15]
    assert not Resumed(Store(kind=Forwards), "a", Tolerance()).seekable()
    with pytest.raises(io.UnsupportedOperation):
        Resumed(Store(kind=Forwards), "a", Tolerance()).seek(3)
