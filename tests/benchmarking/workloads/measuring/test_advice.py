import math

import pytest

from benchmarking.workloads.measuring.advice import BatchWaits, Shape, advised, loader_rate, options, predicted_rate
from benchmarking.workloads.measuring.bound import Ceiling, PipelineParts, bound_of

FAST = Ceiling(100_000.0)


def parts(**given):
    return PipelineParts(**({"compute": FAST, "decode": FAST, "handover": FAST, "fetch": FAST} | given))


def of(one, shape):
    return advised(one, shape, bound_of(one))


def test_a_worker_fetches_and_decodes_by_turns():
    # 2 ms and 3 ms a sample: 200 a second.
    assert loader_rate(parts(fetch=Ceiling(500.0), decode=Ceiling(1000 / 3))).samples_per_s == pytest.approx(200.0)
    assert loader_rate(parts(fetch=Ceiling(500.0), decode=Ceiling(1000 / 3), handover=Ceiling(150.0))).samples_per_s == 150.0


def test_workers_load_while_training_computes():
    one = parts(decode=Ceiling(200.0), compute=Ceiling(300.0), fetch=Ceiling(math.inf))
    assert predicted_rate(one, Shape(1)).samples_per_s == pytest.approx(200.0)
    assert predicted_rate(one, Shape(0)).samples_per_s == pytest.approx(120.0)


def test_no_more_than_the_cores_do():
    one = parts(decode=Ceiling(400.0), compute=Ceiling(1000.0), fetch=Ceiling(math.inf))
    # 5 ms of a processor a sample on one core.
    assert predicted_rate(one, Shape(1, cores=1, cpu_s=0.005)).samples_per_s == pytest.approx(200.0)
    assert predicted_rate(one, Shape(1, cores=4, cpu_s=0.005)).samples_per_s == pytest.approx(400.0)


def test_a_second_worker_helps_decoding_until_the_next_part_binds():
    found = of(parts(decode=Ceiling(100.0, 0.01), compute=Ceiling(150.0, 0.01), fetch=Ceiling(math.inf)), Shape(1, cores=4))
    assert (found.change, found.then) == ({"loader_workers": 2}, "compute")
    assert found.gain == pytest.approx(1.5)
    assert found.low < 1.5 < found.high
    assert found.why == "loader_workers=2: about 1.50 times as fast (1.46 to 1.54)"


def test_a_first_worker_takes_loading_beside_training():
    found = of(parts(decode=Ceiling(100.0), compute=Ceiling(100.0), handover=None, fetch=Ceiling(math.inf)), Shape(0, cores=2))
    assert found.change == {"loader_workers": 1}
    assert found.gain == pytest.approx(2.0)


def test_a_late_store_wants_more_requests():
    store = {1: Ceiling(50.0), 2: Ceiling(100.0), 4: Ceiling(200.0), 8: Ceiling(400.0)}
    found = of(parts(fetch=Ceiling(48.0), store=store), Shape(1, cores=1, cpu_s=0.0001))
    # Eight at once give 400 a second, of which the reader's own part takes a fifth: 1 / 400 + (1 / 48 - 1 / 50).
    assert found.change == {"threads_per_worker": 8}
    assert found.gain == pytest.approx((1 / 48) / (1 / 400 + 1 / 48 - 1 / 50), rel=0.02)


def test_no_more_requests_than_give_nearly_all():
    store = {1: Ceiling(50.0), 2: Ceiling(100.0), 4: Ceiling(200.0), 8: Ceiling(205.0)}
    found = of(parts(fetch=Ceiling(50.0), store=store), Shape(1, cores=1, cpu_s=0.0001))
    assert found.change == {"threads_per_worker": 4}


def test_a_store_that_gives_no_more_is_not_asked_for_more():
    store = {1: Ceiling(50.0), 2: Ceiling(51.0), 4: Ceiling(50.0)}
    found = of(parts(fetch=Ceiling(49.0), store=store), Shape(1, cores=4))
    assert found.change == {}
    assert "the store gives no more" in found.why


def test_where_training_binds_no_setting_of_the_loader_helps():
    found = of(parts(compute=Ceiling(100.0), decode=Ceiling(250.0)), Shape(2, cores=2))
    assert (found.change, found.gain) == ({}, 1.0)
    assert found.why == "training binds: a faster accelerator, or a smaller model; at most 2.50 times, where decode binds"


def test_all_settings_that_are_worth_a_trial_what_gains_most_first():
    store = {1: Ceiling(50.0), 2: Ceiling(100.0), 4: Ceiling(200.0), 8: Ceiling(400.0)}
    found = options(parts(fetch=Ceiling(48.0), store=store), Shape(1, cores=4))
    assert [sorted(one.change) for one in found] == [["threads_per_worker"], ["loader_workers"]]
    assert found[0].gain >= found[1].gain >= 1.05


def test_a_larger_stock_where_batches_come_in_bursts():
    # 100 samples/s could be had, 80 are: half of the batches lie ready, one in a hundred comes three batches late.
    one, bursts = parts(decode=Ceiling(100.0, 0.01)), BatchWaits(80.0, batch_s=0.4, middle_s=0.01, late_s=1.2)
    found = options(one, Shape(2, cores=2, cpu_s=0.019, prefetch=2, waits=bursts))
    assert [one.change for one in found if "prefetch_factor" in one.change] == [{"prefetch_factor": 4}]
    stock = next(one for one in found if "prefetch_factor" in one.change)
    assert (stock.gain, stock.low) == (pytest.approx(1.25, rel=2e-3), 1.0)
    assert stock.high == pytest.approx(1.275, rel=2e-3)


@pytest.mark.parametrize(
    "waits",
    [
        None,
        BatchWaits(80.0, 0.4, 0.3, 1.2),  # all batches are late: the loader is slow, not bursty
        BatchWaits(80.0, 0.4, 0.01, 0.2),  # the late ones are not late by a batch
    ],
)
def test_no_stock_helps_where_batches_are_late_alike_or_in_time(waits):
    found = options(parts(decode=Ceiling(100.0)), Shape(2, cores=2, cpu_s=0.019, prefetch=2, waits=waits))
    assert not any("prefetch_factor" in one.change for one in found)
