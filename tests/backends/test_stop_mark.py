"""The mark that a run is to end: left, joined, read and lifted."""

import pytest

from backends.stop_mark import KEY, StopMark, decoded, encoded, leave, left, lift
from tests.backends.memory_store import MemoryStore, StoreFaultError

A, B = "toy/RS-sagemaker-0", "toy/RS-sagemaker-1"


def test_what_is_left_is_read_and_concerns_all_or_those_that_are_named():
    store = MemoryStore()
    assert left(store) is None
    assert leave(store, StopMark(12.5, "ann")) == StopMark(12.5, "ann") == left(store)
    assert left(store).concerns(A)
    assert not StopMark(1.0, "ann", (A,)).concerns(B)
    assert list(store.objects) == [KEY] == [".stop"]


def test_experiments_join_those_that_were_marked_before_and_all_is_more_than_each():
    store = MemoryStore()
    leave(store, StopMark(1.0, "ann", (A,)))
    assert leave(store, StopMark(2.0, "bob", (B,))) == StopMark(2.0, "bob", (A, B))
    assert leave(store, StopMark(3.0, "bob")) == StopMark(3.0, "bob")
    assert leave(store, StopMark(4.0, "ann", (A,))).is_of_all


def test_a_resume_lifts_it_whole_or_for_the_experiments_that_go_on():
    store = MemoryStore()
    assert lift(store) is None
    leave(store, StopMark(1.0, "ann", (A, B)))
    assert lift(store, [B]).experiments == (A, B)
    assert left(store).experiments == (A,)
    assert lift(store, [B]) is None
    assert lift(store, [A]).experiments == (A,)
    assert left(store) is None
    leave(store, StopMark(1.0, "ann"))
    assert lift(store, [A]).is_of_all
    assert left(store) is None


def test_who_is_first_at_the_same_moment_loses_nothing():
    objects = {}
    store, other = MemoryStore(objects=objects), MemoryStore(objects=objects)
    leave(store, StopMark(1.0, "ann", (A,)))
    raced = []

    def race(operation, key):
        if operation == "replace" and not raced:
            raced.append(leave(other, StopMark(2.0, "bob", (B,))))
        return ""

    store.failing = race
    assert leave(store, StopMark(3.0, "ann", ("toy/RS-sagemaker-2",))).experiments == (A, B, "toy/RS-sagemaker-2")


def test_a_mark_that_cannot_be_read_is_of_all_and_a_store_that_refuses_says_so():
    assert decoded(b"nonsense").is_of_all
    assert decoded(b'{"at": 1.0}').is_of_all
    assert decoded(encoded(StopMark(1.5, "ann", (A,)))) == StopMark(1.5, "ann", (A,))
    store = MemoryStore()
    store.failing = lambda operation, key: "refused"
    with pytest.raises(StoreFaultError):
        leave(store, StopMark(1.0, "ann"))
