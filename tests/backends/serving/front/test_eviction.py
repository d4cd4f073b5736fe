"""Which models go for another one."""

from __future__ import annotations

from backends.serving.front.eviction import Residency, victims

A, B, C = (Residency(name, 0, 10) for name in "abc")


def test_the_least_recently_used_go_until_there_is_room():
    assert victims([A, B, C], 130, 10, 140) == ([], True)
    assert victims([A, B, C], 130, 11, 140) == (["a"], True)
    assert victims([A, B, C], 130, 21, 140) == (["a", "b"], True)


def test_one_in_use_stays_however_old_it_is():
    busy = Residency("a", 1, 10)
    assert victims([busy, B, C], 130, 11, 140) == (["b"], True)
    assert victims([busy, B], 130, 31, 140) == (["b"], False)


def test_there_is_no_room_where_nothing_more_can_go():
    assert victims([], 100, 50, 140) == ([], False)
    assert victims([A], 130, 30, 140) == (["a"], False)


def test_without_a_limit_nothing_goes():
    assert victims([A, B], 10**12, 10**12, None) == ([], True)
