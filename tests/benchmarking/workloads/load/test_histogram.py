import random

import pytest

from benchmarking.workloads.load.histogram import LatencyHistogram, bucket_of, upper_end


def filled(values):
    made = LatencyHistogram()
    for value in values:
        made.add(value)
    return made


def test_quantiles_are_right_to_a_thousandth():
    rng = random.Random(1)
    values = sorted(rng.lognormvariate(-4, 1.5) for _ in range(5001))
    held = filled(values)
    for share in (0.01, 0.5, 0.95, 0.99, 0.999):
        rank = -int(-share * len(values) // 1)
        assert held.quantile_s(share) == pytest.approx(values[rank - 1], rel=1.1e-3, abs=1.1e-6)
    assert held.quantile_s(1.0) == round(values[-1], 6)
    assert held.quantile_s(0.0) == pytest.approx(values[0], rel=1e-3, abs=6e-7)


def test_no_percentile_exceeds_the_maximum():
    held = filled([1.0000001, 1.0, 1.0])
    assert held.quantile_s(0.99) <= held.max_us / 1e6
    assert held.quantile_s(0.5) <= held.max_us / 1e6


def test_parts_merge_exactly_in_any_order():
    rng = random.Random(2)
    values = [rng.expovariate(50) for _ in range(3000)]
    whole = filled(values)
    parts = [filled(values[number::3]) for number in range(3)]
    for order in ((0, 1, 2), (2, 0, 1)):
        merged = LatencyHistogram()
        for number in order:
            merged.merge(LatencyHistogram.from_dict(parts[number].as_dict()))
        assert merged.as_dict() == whole.as_dict()
    whole.merge(LatencyHistogram())
    assert whole.min_us == min(round(value * 1e6) for value in values)


def test_failures_stand_at_the_upper_end():
    held = filled([0.001] * 50)
    assert held.quantile_s(0.5, failures=50, failure_s=10.0) == pytest.approx(0.001)
    assert held.quantile_s(0.51, failures=50, failure_s=10.0) == 10.0
    assert held.quantile_s(0.99, failures=50, failure_s=0.0001) == pytest.approx(0.001)
    assert LatencyHistogram().quantile_s(0.5, failures=3, failure_s=2.0) == 2.0
    assert LatencyHistogram().quantile_s(0.5) is None


def test_buckets_hold_what_they_say():
    for value in (0, 1, 2047, 2048, 2049, 4095, 4096, 123_456_789, 10**12):
        end = upper_end(bucket_of(value))
        assert value <= end <= value * (1 + 1 / 1024) + 1
        assert bucket_of(end) == bucket_of(value) != bucket_of(end + 1)
