"""Listings that lag: what was just written can be read, and is shown later."""

from __future__ import annotations

import contextlib

import pytest

from backends.emulator.s3.late_list import ShownObjects
from backends.emulator.s3.store import S3Store


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    with contextlib.closing(S3Store(tmp_path / "s3", clock)) as found:
        found.create_bucket("b")
        yield found


def shown(store, lag_s, **asked):
    return [one.key for one in ShownObjects(store, lag_s).select("b", **asked)]


def test_an_object_is_shown_after_its_time_and_others_at_once(store, clock):
    store.put("b", "x/journal/1", [b"1"])
    clock.now = 103.0
    store.put("b", "x/journal/2", [b"2"])
    store.put("b", "x/live.json", [b"3"])
    lag_s = {"*/journal/*": 5.0}
    assert shown(store, lag_s) == ["x/live.json"]
    clock.now = 105.0
    assert shown(store, lag_s) == ["x/journal/1", "x/live.json"]
    clock.now = 108.0
    assert shown(store, lag_s) == ["x/journal/1", "x/journal/2", "x/live.json"]


def test_as_many_are_shown_as_are_asked_for_where_there_are(store, clock):
    for number in range(9):
        clock.now = 100.0 if number % 3 == 2 else 110.0
        store.put("b", f"k/{number}", [b""])
    clock.now = 111.0
    assert shown(store, {"*": 5.0}, limit=2) == ["k/2", "k/5"]
    assert shown(store, {"*": 5.0}, prefix="k/", after="k/2", limit=5) == ["k/5", "k/8"]


@pytest.mark.slow
def test_of_an_emulator_the_object_is_there_before_its_listing_shows_it(bench, box):
    bench.emulator.add_faults([{"kind": "late_list", "bucket": box, "seconds": 60.0}])
    try:
        bench.s3.put_object(Bucket=box, Key="new", Body=b"x")
        assert bench.s3.get_object(Bucket=box, Key="new")["Body"].read() == b"x"
        assert bench.s3.list_objects_v2(Bucket=box)["KeyCount"] == 0
    finally:
        bench.emulator.clear_faults("late_list")
    assert bench.s3.list_objects_v2(Bucket=box)["KeyCount"] == 1
