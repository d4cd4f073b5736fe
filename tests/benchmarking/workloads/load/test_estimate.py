import math

import pytest

from benchmarking.workloads.load.estimate import estimated_rate
from benchmarking.workloads.load.evidence import ShareEvidence


def probes(mu, limit_s, rates, n=100_000):
    """Evidence of a queue M/M/1 with exactly the shares that it has."""
    return [(rate, ShareEvidence(n, round(n * math.exp(-(mu - rate) * limit_s)))) for rate in rates]


def test_the_crossing_of_a_queue_is_found():
    truth = 1000 - math.log(100) / 0.02
    found = estimated_rate(probes(1000, 0.02, (600, 700, 750, 800)), 0.01)
    assert found.rate == pytest.approx(truth, rel=2e-3)
    assert found.low < truth < found.high
    assert found.high - found.low < 0.02 * truth


def test_requests_that_depend_on_each_other_widen_it():
    alone = estimated_rate(probes(1000, 0.02, (700, 750, 800)), 0.01)
    clustered = estimated_rate([(rate, ShareEvidence(one.n, one.over, 25.0)) for rate, one in probes(1000, 0.02, (700, 750, 800))], 0.01)
    assert clustered.high - clustered.low == pytest.approx(5 * (alone.high - alone.low), rel=0.01)


def test_probes_far_beyond_the_limit_are_left_out():
    near = probes(1000, 0.02, (700, 750, 800))
    assert estimated_rate([*near, (1500, ShareEvidence(5000, 4990))], 0.01) == estimated_rate(near, 0.01)


@pytest.mark.parametrize(
    "given",
    [
        [],
        [(100.0, ShareEvidence(1000, 5))],
        [(100.0, ShareEvidence(1000, 0)), (200.0, ShareEvidence(1000, 0))],
        [(100.0, ShareEvidence(1000, 9)), (200.0, ShareEvidence(1000, 2))],
        [(100.0, ShareEvidence(0, 0)), (200.0, ShareEvidence(1000, 10))],
    ],
)
def test_where_probes_tell_none_there_is_none(given):
    assert estimated_rate(given, 0.01) is None
