import math

import pytest

from benchmarking.workloads.load.search import ProbedRate, RateSearch


def searched(truth, first=1.0, **more):
    search = RateSearch(first, **more)
    rungs = []
    while (rate := search.next_rate) is not None:
        rung = search.tell(rate, "passed" if rate <= truth else "failed")
        if rung:
            rungs.append((rung, search.passed))
        assert len(search.probed) < 60
    return search, rungs


@pytest.mark.parametrize("truth", [0.013, 0.9, 1.0, 7.3, 1234.5])
def test_each_rung_is_a_lower_bound_of_one_quantity(truth):
    search, rungs = searched(truth)
    assert search.rung == 4
    assert search.passed <= truth < search.not_passed <= 1.05 * search.passed * (1 + 1e-6)
    assert [rung for rung, _ in rungs] == sorted({rung for rung, _ in rungs})
    rates = [rate for _, rate in rungs]
    assert rates == sorted(rates)


def test_rungs_by_their_ratios():
    _, rungs = searched(100.0, 10.0)
    assert [rung for rung, _ in rungs] == [1, 2, 3, 4]
    for (_, rate), ratio in zip(rungs, (2, 1.2, 1.1, 1.05), strict=True):
        assert 100 / ratio <= rate <= 100


def test_undecided_counts_as_not_passed():
    search = RateSearch(10.0)
    search.tell(10.0, "passed")
    search.tell(20.0, "undecided")
    assert (search.passed, search.not_passed, search.rung) == (10.0, 20.0, 1)
    assert search.next_rate == pytest.approx(math.sqrt(200))


def test_where_nothing_passes_it_ends_with_rate_0():
    search, rungs = searched(0.0, 8.0)
    assert (search.passed, search.rung) == (0.0, 4)
    assert rungs == [(4, 0.0)]
    assert len(search.probed) == 11


def test_where_nothing_is_decided_it_does_not_go_on_for_ever():
    """Each lower rate takes twice as long for as many requests."""
    search = RateSearch(8.0)
    for verdict in ("failed", "client-bound", "undecided", "client-bound"):
        search.tell(search.next_rate, verdict)
    assert search.next_rate is None
    assert (search.passed, search.rung) == (0.0, 4)


def test_a_highest_rate_is_not_passed_over():
    search, _ = searched(1e9, 100.0, highest_rate=350.0)
    assert search.passed == 350.0
    assert max(one.rate for one in search.probed) == 350.0


def test_it_goes_on_from_what_was_probed():
    whole, _ = searched(100.0, 10.0)
    half = RateSearch(10.0, probed=list(whole.probed[:5]))
    assert half.next_rate == pytest.approx(whole.probed[5].rate)
    assert RateSearch(10.0, probed=[ProbedRate(10.0, "client-bound")]).next_rate == 5.0
