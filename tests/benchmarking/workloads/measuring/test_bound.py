import math

import pytest

from benchmarking.workloads.measuring.bound import NOT_DECIDED, Ceiling, PipelineParts, bound_of

FAST = Ceiling(10_000.0)


def parts(**given):
    return PipelineParts(**({"compute": FAST, "decode": FAST, "handover": FAST, "fetch": Ceiling(20_000.0)} | given))


@pytest.mark.parametrize("name", ["compute", "decode", "handover"])
def test_the_lowest_ceiling_binds(name):
    found = bound_of(parts(**{name: Ceiling(1000.0, 0.02)}))
    assert found.by == name
    assert found.headroom == pytest.approx(10.0)
    assert next(iter(found.ceilings)) == name
    assert "1000 samples/s" in found.why


def test_ceilings_closer_than_they_were_measured_decide_nothing():
    # 2 standard errors of 5 % each: 900 to 1100 and 1035 to 1265 meet.
    close = bound_of(parts(compute=Ceiling(1000.0, 0.05), decode=Ceiling(1150.0, 0.05)))
    assert (close.by, close.runner_up) == (NOT_DECIDED, "decode")
    assert close.why.endswith("(compute within 10%, decode within 10%)")
    # 1 % each: 980 to 1020 and 1127 to 1173 do not.
    assert bound_of(parts(compute=Ceiling(1000.0, 0.01), decode=Ceiling(1150.0, 0.01))).by == "compute"


def test_no_measurement_is_better_than_three_per_cent():
    assert bound_of(parts(compute=Ceiling(1000.0), decode=Ceiling(1050.0))).by == NOT_DECIDED
    assert bound_of(parts(compute=Ceiling(1000.0), decode=Ceiling(1070.0))).by == "compute"


def test_a_store_that_gives_more_to_more_requests_is_bound_by_latency():
    store = {1: Ceiling(100.0), 2: Ceiling(200.0), 4: Ceiling(400.0), 8: Ceiling(800.0)}
    assert bound_of(parts(fetch=Ceiling(95.0), store=store)).by == "store_latency"
    # The same store at eight in flight gives what it can.
    assert bound_of(parts(fetch=Ceiling(780.0), store=store, in_flight=8)).by == "store_bandwidth"


def test_a_store_that_gives_no_more_is_bound_by_bandwidth():
    store = {1: Ceiling(100.0, 0.02), 2: Ceiling(104.0, 0.02), 4: Ceiling(103.0, 0.02)}
    assert bound_of(parts(fetch=Ceiling(97.0), store=store)).by == "store_bandwidth"


def test_a_gain_that_a_requests_own_time_explains_decides_nothing():
    store = {1: Ceiling(100.0, 0.01), 2: Ceiling(135.0, 0.01)}
    assert bound_of(parts(fetch=Ceiling(97.0), store=store)).by == NOT_DECIDED


def test_what_the_reader_adds_is_the_clients():
    # 10 ms a sample, of which the store takes 2.5: 7.5 ms are the client's, 133 a second.
    found = bound_of(parts(fetch=Ceiling(100.0), store={1: Ceiling(400.0), 2: Ceiling(800.0)}))
    assert found.by == "client"
    assert found.ceilings["client"] == pytest.approx(1 / 0.0075)


def test_where_nothing_waits_for_the_store_the_client_binds():
    found = bound_of(parts(fetch=Ceiling(100.0), store={1: Ceiling(math.inf)}, in_flight=4))
    assert (found.by, found.ceilings["client"]) == ("client", 100.0)
    assert "nothing waits for the store" in found.why


def test_store_and_client_alike_decide_nothing():
    assert bound_of(parts(fetch=Ceiling(100.0), store={1: Ceiling(200.0), 2: Ceiling(800.0)})).by == NOT_DECIDED


def test_gains_that_noise_could_be_are_not_called_latency():
    store = {1: Ceiling(100.0, 0.2), 2: Ceiling(150.0, 0.2)}
    assert bound_of(parts(fetch=Ceiling(99.0), store=store)).by == NOT_DECIDED


def test_a_trial_that_is_mostly_its_start_is_bound_by_it():
    assert bound_of(parts(compute=Ceiling(10.0)), start_s=6.0, whole_s=10.0).by == "start"
    assert bound_of(parts(compute=Ceiling(10.0)), start_s=4.0, whole_s=10.0).by == "compute"


def test_a_trial_that_mostly_stands_still_for_its_checkpoints_is_bound_by_them():
    found = bound_of(parts(compute=Ceiling(10.0)), start_s=1.0, whole_s=10.0, checkpoint_s=6.0)
    assert (found.by, found.runner_up, found.headroom) == ("checkpoint", "compute", pytest.approx(10 / 4))
    assert "6 s of 10 s" in found.why
    assert bound_of(parts(compute=Ceiling(10.0)), whole_s=10.0, checkpoint_s=4.0).by == "compute"


def test_without_workers_nothing_is_handed_over():
    found = bound_of(parts(handover=None, decode=Ceiling(500.0)))
    assert found.by == "decode"
    assert "handover" not in found.ceilings


def test_between_measured_numbers_of_requests_the_rate_follows_a_power_law():
    store = {2: Ceiling(100.0), 8: Ceiling(400.0)}
    assert PipelineParts(FAST, FAST, None, FAST, store, in_flight=4).store_here.samples_per_s == pytest.approx(200.0)
    assert PipelineParts(FAST, FAST, None, FAST, store, in_flight=1).store_here.samples_per_s == 100.0
    assert PipelineParts(FAST, FAST, None, FAST, store, in_flight=64).store_here.samples_per_s == 400.0


def test_a_reader_faster_than_the_drain_costs_nothing_itself():
    found = PipelineParts(FAST, FAST, None, Ceiling(120.0), {1: Ceiling(100.0)}).by_name()
    assert found["client"].samples_per_s == math.inf
