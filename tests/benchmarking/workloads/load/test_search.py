import math

import pytest

from benchmarking.workloads.load.search import PlannedProbe, ProbedRate, RateSearch


def searched(truth, first=1.0, **more):
    search = RateSearch(first, **more)
    rungs = []
    while (planned := search.next_probe) is not None:
        rate, good = planned.rate, "passed" if planned.certifies else "promising"
        before = search.rung
        search.tell(rate, good if rate <= truth else "failed")
        if search.rung > before:
            rungs.append((search.rung, search.passed))
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


def told(first, *probes):
    search = RateSearch(first)
    for rate, verdict in probes:
        search.tell(rate, verdict)
    return search


def test_what_is_promising_is_certified_before_a_rung_rests_on_it():
    search = told(10.0, (10.0, "promising"), (20.0, "promising"), (40.0, "failed"))
    assert (search.passed, search.promising, search.rung) == (0.0, 20.0, 0)
    assert search.next_probe == PlannedProbe(20.0, True)
    # It did not hold: the next below it is tried, and is certified too.
    search.tell(20.0, "failed")
    assert (search.promising, search.failed) == (10.0, 20.0)
    assert search.next_probe == PlannedProbe(10.0, True)
    search.tell(10.0, "passed")
    assert search.rung == 1
    assert search.next_probe == PlannedProbe(pytest.approx(math.sqrt(200)), True)


def test_an_upper_end_that_did_not_fail_gives_no_rung():
    """How much more than 10/s is carried is not known where 20/s was undecided, or too much for the client."""
    search = told(10.0, (10.0, "promising"), (20.0, "client-bound"), (10.0, "passed"))
    assert (search.passed, search.not_passed, search.rung, search.is_at_least) == (10.0, 20.0, 0, True)
    while (planned := search.next_probe) is not None:
        search.tell(planned.rate, "client-bound" if planned.rate > 15 else "passed")
    assert search.rung == 0
    assert search.passed <= 15 < search.not_passed <= 1.05 * search.passed


def test_what_is_undecided_is_closed_in_from_both_sides():
    """99 passes and 101 fails: 100, between them, need not be decided for the last rung."""
    search = told(100.0, (100.0, "undecided"), (50.0, "passed"), (200.0, "failed"))
    while (planned := search.next_probe) is not None:
        rate = planned.rate
        search.tell(rate, "passed" if rate < 99 else "failed" if rate > 101 else "undecided")
        assert len(search.probed) < 30
    assert (search.rung, search.is_at_least) == (4, True)
    assert search.failed / search.passed <= 1.05 * 1.000001


def test_an_estimate_from_all_probes_is_an_upper_end_too():
    search = told(100.0, (100.0, "passed"), (110.0, "undecided"))
    assert search.rung == 0
    search.estimated_high = 118.0
    assert search.rung == 2
    search.estimated_high = 90.0  # it cannot lie below what passed
    assert search.rung == 4


def test_above_what_is_undecided_it_is_looked_for_what_fails():
    search = told(100.0, (100.0, "passed"), (102.0, "undecided"))
    assert search.next_probe == PlannedProbe(pytest.approx(112.2), True)


def test_where_nothing_passes_it_ends_with_rate_0():
    search, rungs = searched(0.0, 8.0)
    assert (search.passed, search.rung) == (0.0, 4)
    assert rungs == [(4, 0.0)]
    assert len(search.probed) == 11


def test_where_nothing_is_decided_it_does_not_go_on_for_ever():
    """Each lower rate takes twice as long for as many requests."""
    search = RateSearch(8.0)
    for verdict in ("failed", "client-bound", "undecided", "client-bound"):
        search.tell(search.next_probe.rate, verdict)
    assert search.next_probe is None
    assert (search.passed, search.rung) == (0.0, 4)


def test_a_highest_rate_is_not_passed_over():
    search, _ = searched(1e9, 100.0, highest_rate=350.0)
    assert search.passed == 350.0
    assert max(one.rate for one in search.probed) == 350.0


def test_it_goes_on_from_what_was_probed():
    whole, _ = searched(100.0, 10.0)
    half = RateSearch(10.0, probed=list(whole.probed[:5]))
    assert half.next_probe.rate == pytest.approx(whole.probed[5].rate)
    assert RateSearch(10.0, probed=[ProbedRate(10.0, "client-bound")]).next_probe == PlannedProbe(5.0, True)
