"""Endpoints that are kept for the next trial of the same deployment: reused in place, given up in time, none left."""

from __future__ import annotations

import pytest

from backends.adopted import AdoptedPool
from backends.emulator import Settings
from backends.emulator.core.settings import ENDPOINT_QUOTA
from backends.events import Accepted, Rejected, Reported, Restarted, Retained
from backends.failures import Outcome
from tests.backends.contract import all_closed, closed, collect, has, of_job
from tests.backends.endpoint.endpoint_bench import EndpointBench

pytestmark = pytest.mark.slow


@pytest.fixture
def made(tmp_path):
    import contextlib

    with contextlib.ExitStack() as stack:
        yield lambda **rest: stack.enter_context(EndpointBench(tmp_path, **{"backend": "warm_pool", **rest}))


def ended(backend, *names):
    return collect(backend, all_closed(*names), 120.0)


def gone_at(bench, name):
    (one,) = [one for one in bench.state()["billed_endpoints"] if one["name"] == name]
    return one["deleted_at"]


def test_the_next_trial_of_the_same_key_gets_the_endpoint_with_its_own_copies(made):
    bench = made()
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1", deployment=bench.deployment(copies=1)))
    first = ended(backend, "x1")
    (kept,) = of_job(first, "x1", Retained)
    assert (kept.instance_type, kept.worst_s, kept.billable_s) == ("ml.m5.xlarge", 600.0, None)
    key, other = bench.deployment(copies=3).key, bench.deployment(batch_delay_ms=2.0).key
    counts = [backend.idle("ml.m5.xlarge", 1, one) for one in ("", key, other)] + [backend.idle("ml.m5.large", 1)]
    assert counts == [1, 1, 0, 0]
    backend.submit(bench.job("calls", "x2", deployment=bench.deployment(copies=3)))
    second = ended(backend, "x2")
    assert [event.metrics["first"] for event in of_job(second, "x2", Reported)] == [3.0, 3.0, 3.0]
    (reused,) = of_job(second, "x1", Retained)
    assert reused.reused_by == "x2"
    assert (closed(second, "x2").usage["warm"], closed(second, "x2").usage["waited_s"]) == (True, 0.0)
    backend.release()
    last = collect(backend, has("x2", Retained, 1), 30.0)
    released = of_job(last, "x2", Retained)[-1]
    assert backend.close() == []
    assert bench.left() == []
    billed = closed(first, "x1").billable_s + reused.billable_s + closed(second, "x2").billable_s + released.billable_s
    # The wait for the next job and the deletion are paid for too.
    assert bench.billed_s("x1") - 1.0 <= billed <= bench.billed_s("x1") + released.at - gone_at(bench, "x1") + 1.0


def test_another_deployment_gets_one_of_its_own_and_what_waits_is_given_up_in_time(made):
    bench = made(block={"keep_alive": 3})
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1"))
    ended(backend, "x1")
    backend.submit(bench.job("endless", "x2", deployment=bench.deployment(batch_delay_ms=2.0)))
    events = collect(backend, lambda found: any(event.billable_s is not None for event in of_job(found, "x1", Retained)), 60.0)
    given_up = of_job(events, "x1", Retained)[-1]
    assert (given_up.reused_by, given_up.billable_s >= 3.0) == ("", True)
    assert backend.close() == []
    assert bench.left() == []


def test_what_waits_makes_room_for_a_job_that_the_quota_has_none_for(made):
    bench = made(settings=Settings(quotas={ENDPOINT_QUOTA.format("*"): 1, "*": 0}))
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1"))
    ended(backend, "x1")
    backend.submit(bench.job("calls", "x2", deployment=bench.deployment(batch_delay_ms=2.0)))
    events = collect(backend, lambda found: of_job(found, "x2", Rejected) and of_job(found, "x1", Retained), 120.0)
    assert of_job(events, "x2", Accepted) == []
    assert of_job(events, "x1", Retained)[-1].billable_s is not None
    assert backend.close() == []
    assert bench.left() == []


def test_what_an_earlier_controller_kept_is_settled_and_deleted(made):
    bench = made()
    first = bench.backend()
    first.submit(bench.job("calls", "x1"))
    found = ended(first, "x1")
    (kept,), earlier = of_job(found, "x1", Retained), closed(found, "x1")
    first.detach()
    assert bench.left() == ["x1", "x1", "x1"]
    second = bench.backend()
    second.adopt([], kept.at)
    second.adopt_pools([AdoptedPool("x1", "ml.m5.xlarge", 1, kept.at)])
    second.submit(bench.job("calls", "x2"))
    events = ended(second, "x2")
    events += collect(second, has("x1", Retained, 1), 60.0) if not of_job(events, "x1", Retained) else []
    assert closed(events, "x2").outcome is Outcome.COMPLETED
    (settled,) = of_job(events, "x1", Retained)
    # Until it was gone, which a listing shows some time later.
    billed_s = earlier.billable_s + settled.billable_s
    assert bench.billed_s("x1") - 1.0 <= billed_s <= bench.billed_s("x1") + settled.at - gone_at(bench, "x1") + 1.0
    assert second.close() == []
    assert bench.left() == []


def test_a_trial_on_a_kept_endpoint_goes_on_there_with_the_next_controller(made):
    bench = made()
    first = bench.backend()
    first.submit(bench.job("calls", "x1", deployment=bench.deployment(copies=1)))
    earlier = ended(first, "x1")
    job = bench.job("saves_first", "x2", deployment=bench.deployment(copies=3))
    first.submit(job)
    begun = collect(first, has("x2", Reported, 2), 60.0)
    first.detach()
    second = bench.backend()
    second.adopt([bench.adopted(job, begun)], begun[-1].at)
    events = ended(second, "x2")
    end = closed(events, "x2")
    assert (end.outcome, end.usage["warm"], end.usage["waited_s"]) == (Outcome.COMPLETED, True, 0.0)
    assert [event.incarnation for event in of_job(events, "x2", Restarted)] == [1]
    epochs = [event.metrics["epoch"] for event in of_job([*begun, *events], "x2", Reported)]
    assert (epochs, epochs[-1]) == (sorted(set(epochs)), 6)
    second.release()
    events += collect(second, lambda found: any(event.billable_s is not None for event in of_job(found, "x2", Retained)), 60.0)
    assert second.close() == []
    assert bench.left() == []
    (one,) = bench.state()["billed_endpoints"]
    (reused,) = [event for event in of_job(begun, "x1", Retained) if event.billable_s is not None]
    waited = [event for event in of_job(events, "x2", Retained) if event.billable_s is not None]
    billed = closed(earlier, "x1").billable_s + reused.billable_s + end.billable_s + sum(event.billable_s for event in waited)
    assert one["name"] == "x1"
    assert bench.billed_s("x1") - 1.0 <= billed <= bench.billed_s("x1") + waited[-1].at - one["deleted_at"] + 1.0
