import math

import pytest

from benchmarking.workloads.measuring.batches import BatchTimes, LoaderShape, figures, handover_s, window_of

SHAPE = LoaderShape(workers=0, prefetch=0, min_window_s=1.0)


def batches(count, *, wait_s=0.3, compute_s=0.1, samples=10, made_before_s=0.0):
    found, now = [], 100.0
    for _ in range(count):
        asked, arrived = now, now + wait_s
        now = arrived + compute_s
        found.append(BatchTimes(asked, arrived, now, arrived - made_before_s, samples, 1000, 0.2, 0.05, 0.06, 0.01, compute_s))
    return found


def test_rates_are_those_of_the_steady_window():
    found = figures(batches(12), SHAPE, began_s=100.0)
    # Each batch takes 0.4 s: 10 samples and 1,000 bytes.
    assert found["samples_per_s"] == pytest.approx(25.0)
    assert found["bytes_per_s"] == pytest.approx(2500.0)
    assert found["accelerator_util"] == pytest.approx(0.25)
    assert (found["window_batches"], found["samples"], found["batches"], found["bytes"]) == (10, 120, 12, 12000)


def test_an_epoch_too_short_has_no_rate_but_says_why():
    found = figures(batches(5), SHAPE, began_s=100.0)
    assert str(found["samples_per_s"]).startswith("too short: 5 batches")
    assert "accelerator_util" not in found
    assert "bytes_per_s" not in found
    assert found["wait_max_s"] == pytest.approx(0.3)


def test_the_first_batch_includes_listing_and_download():
    found = figures(batches(12), SHAPE, began_s=99.0, before_s=2.0)
    assert found["first_batch_s"] == pytest.approx(2.0 + 1.3)
    assert found["epoch_s"] == pytest.approx(2.0 + 1.0 + 12 * 0.4)


def test_parts_are_seconds_per_sample():
    found = figures(batches(12), SHAPE, began_s=100.0)
    assert [found[name] for name in ("fetch_s", "fetch_cpu_s", "decode_s", "collate_s", "compute_s")] == pytest.approx(
        [0.02, 0.005, 0.006, 0.001, 0.01]
    )


def test_waits_leave_out_the_start():
    slow_start = batches(1, wait_s=50.0) + [
        BatchTimes(b.asked_s + 51, b.arrived_s + 51, b.done_s + 51, b.made_s + 51, 10, 1000, 0.2, 0.05, 0.06, 0.01, 0.1)
        for b in batches(11)
    ]
    found = figures(slow_start, SHAPE, began_s=100.0)
    assert found["wait_max_s"] == pytest.approx(0.3)
    assert found["first_batch_s"] == pytest.approx(50.0)


def test_handing_over_is_told_from_batches_that_lay_ready():
    ready, late = batches(4, wait_s=0.02, made_before_s=0.5), batches(4, wait_s=0.3)
    assert handover_s([*ready, *late]) == pytest.approx(0.002)
    assert math.isnan(handover_s(late))


def test_the_window_goes_by_the_loaders_shape():
    assert window_of(batches(40), LoaderShape(2, 2, 1.0)).first == 6
