import math
import random

import pytest

from benchmarking.workloads.load.evidence import ShareEvidence, evidence_of, joined


def blocks_of(over, size=15, lower=None):
    return [(size, count, lower[number] if lower else count) for number, count in enumerate(over)]


def test_independent_requests_are_worth_themselves():
    rng = random.Random(1)
    found = [evidence_of(blocks_of([sum(rng.random() < 0.05 for _ in range(15)) for _ in range(400)])).inflation for _ in range(40)]
    # The largest of three estimates of 1, and a third more, as it is estimated from few blocks.
    assert sum(found) / len(found) == pytest.approx(1.33 * 1.2, abs=0.25)


def test_requests_that_come_in_clusters_are_worth_less():
    """Ten of each block over, in one of twenty blocks: as many as one independent request of ten."""
    rng = random.Random(2)
    found = [evidence_of(blocks_of([10 if rng.random() < 0.05 else 0 for _ in range(2000)], 10)).inflation for _ in range(20)]
    assert 1.33 * 9 < sum(found) / len(found) < 1.33 * 14


def test_dependence_shows_below_the_limit_too():
    """None is over the limit, but a lower level is exceeded by whole clusters: the next cluster may reach the limit as a whole."""
    lower = [15 if number % 20 == 0 else 0 for number in range(200)]
    assert evidence_of(blocks_of([0] * 200)).inflation == 1.0
    assert evidence_of(blocks_of([0] * 200, lower=lower)).over == 0
    rng = random.Random(3)
    by_chance = [15 if rng.random() < 0.06 else 0 for _ in range(200)]
    assert evidence_of(blocks_of([0] * 200, lower=by_chance)).inflation > 8


def test_verdicts():
    assert ShareEvidence(299, 0).verdict(0.01, 0.05) == "passed"
    assert ShareEvidence(298, 0).verdict(0.01, 0.05) == "undecided"
    assert ShareEvidence(473, 1).verdict(0.01, 0.05) == "passed"
    assert ShareEvidence(598, 0, 2.0).verdict(0.01, 0.05) == "passed"
    assert ShareEvidence(596, 0, 2.0).verdict(0.01, 0.05) == "undecided"
    assert ShareEvidence(100, 6).verdict(0.01, 0.05) == "failed"
    assert ShareEvidence(100, 6, 6.0).verdict(0.01, 0.05) == "undecided"
    assert ShareEvidence(0, 0).verdict(0.01, 0.05) == "undecided"


def test_how_much_more_it_takes():
    assert ShareEvidence(100, 0).times_longer(0.01, 0.05) == pytest.approx(2.99, rel=0.1)
    assert ShareEvidence(1000, 10).times_longer(0.01, 0.05) == math.inf
    assert ShareEvidence(299, 0).times_longer(0.01, 0.05) == 1.0


def test_neighbours_are_put_together():
    assert joined([(1, 0), (1, 1), (1, 1), (1, 0), (1, 1)], 2, 1) == [(2, 1), (3, 2)]
    assert joined([(1, 1)], 10, 1) == [(1, 1)]
