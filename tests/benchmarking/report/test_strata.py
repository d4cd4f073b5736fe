from benchmarking.report.strata import Stratum, strata

SETS = {
    0: {"mode": "file", "data": "a"},
    1: {"mode": "pipe", "data": "a"},
    2: {"mode": "file", "data": "b"},
    3: {"mode": "file", "data": "c"},
}


def test_without_circumstances_all_are_compared_with_all():
    assert strata(SETS, {}) == [Stratum("", (0, 1, 2, 3))]
    assert strata({}, {"data": {}}) == [Stratum("", ())]


def test_a_circumstance_that_does_not_vary_divides_nothing():
    assert strata({0: SETS[0], 1: SETS[1]}, {"data": {}}) == [Stratum("", (0, 1))]


def test_each_value_stands_alone():
    assert strata(SETS, {"data": {}}) == [Stratum("data=a", (0, 1)), Stratum("data=b", (2,)), Stratum("data=c", (3,))]


def test_values_of_one_group_are_compared_and_what_is_in_none_stands_alone():
    assert strata(SETS, {"data": {"small": ["a", "b"]}}) == [Stratum("small", (0, 1, 2)), Stratum("data=c", (3,))]


def test_of_two_circumstances_both_are_named_where_both_vary():
    found = strata(SETS, {"data": {"small": ["a", "b"]}, "mode": {}})
    assert found == [Stratum("small, mode=file", (0, 2)), Stratum("small, mode=pipe", (1,)), Stratum("data=c, mode=file", (3,))]


def test_a_key_that_some_lack_is_a_value_of_its_own():
    assert [one.evaluations for one in strata({0: {"x": 1}, 1: {"x": 1, "y": 2}}, {"y": {}})] == [(0,), (1,)]
