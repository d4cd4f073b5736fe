"""The warm-pool back-end on the emulator: who gets instances, what is booked, and what others do to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backends.adopted import AdoptedPool
from backends.emulator import Settings
from backends.emulator.core.settings import TRAINING_QUOTA, WARM_POOL_QUOTA, Delays
from backends.events import Noted, Rejected, Reported, Retained
from backends.failures import Cause, Outcome
from backends.registry import backend_class
from backends.sagemaker.warm_pool import WarmPoolBackend
from tests.backends.contract import all_closed, closed, collect, has, of_job
from tests.backends.sagemaker.cloud_bench import SPEED, CloudBench

pytestmark = pytest.mark.slow

M5 = ("ml.m5.large", 1)
COLD_S, WARM_S = 10.0, 0.5
LIMIT_S = 60.0 * SPEED


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., CloudBench]]:
    open_: list[CloudBench] = []

    def make(pools: int = 20, training: int = 50, **block: Any) -> CloudBench:
        quotas = {WARM_POOL_QUOTA.format("*"): pools, TRAINING_QUOTA.format("*"): training}
        settings = Settings(quotas=quotas, delays=Delays(cold_start_s=COLD_S, warm_start_s=WARM_S))
        bench = CloudBench(tmp_path, settings, {"keep_alive": 300, **block}, backend="warm_pool").__enter__()
        open_.append(bench)
        for name, value in bench.emulator.environment.items():
            monkeypatch.setenv(name, value)
        return bench

    yield make
    for bench in open_:
        for backend in bench.backends:
            backend.close(0.5 * SPEED)
        bench.__exit__(None, None, None)


def status(bench, job):
    return bench.emulator.client("sagemaker").describe_training_job(TrainingJobName=job)["WarmPoolStatus"]


def run(backend, bench, kind, name, **fields):
    backend.submit(bench.job(kind, name, **fields))
    return collect(backend, all_closed(name), LIMIT_S)


def released(backend, *jobs):
    backend.release()
    return collect(
        backend, lambda events: {e.job for e in events if isinstance(e, Retained) and e.billable_s is not None} >= set(jobs), LIMIT_S
    )


def test_the_next_job_gets_the_instances_and_the_bill_says_so(make):
    bench = make()
    backend = bench.backend()
    events = run(backend, bench, "reports3", "a")
    (kept,) = of_job(events, "a", Retained)
    assert (kept.billable_s, kept.worst_s, kept.instance_type, kept.instance_count) == (None, 300, *M5)
    assert closed(events, "a").usage["warm"] is False
    assert closed(events, "a").usage["stages_s"]["Starting"] == pytest.approx(COLD_S, abs=5.0)
    assert backend.idle(*M5) == 1
    assert backend.idle("ml.m5.large", 2) == backend.idle("ml.m5.xlarge", 1) == 0
    backend.submit(bench.job("reports3", "b"))
    assert backend.idle(*M5) == 0
    events = collect(backend, all_closed("b"), LIMIT_S)
    assert closed(events, "b").usage["warm"] is True
    assert closed(events, "b").usage["stages_s"]["Starting"] < COLD_S / 2
    assert "quota_at_zero" not in closed(events, "b").usage
    (gone,) = of_job(events, "a", Retained)
    assert gone.reused_by == "b"
    assert gone.billable_s == status(bench, "a")["ResourceRetainedBillableTimeInSeconds"]
    (end,) = of_job(released(backend, "b"), "b", Retained)
    assert status(bench, "b") == {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": end.billable_s}


def test_failed_and_stopped_jobs_leave_their_instances_too(make):
    bench = make()
    backend = bench.backend()
    events = run(backend, bench, "fails", "a")
    assert closed(events, "a").outcome is Outcome.FAILED
    assert backend.idle(*M5) == 1
    backend.submit(bench.job("endless", "b"))
    events = collect(backend, has("b", Reported), LIMIT_S)
    backend.stop("b", Cause.SCHEDULER)
    events = collect(backend, all_closed("b"), LIMIT_S, events)
    assert closed(events, "b").usage["warm"] is True
    assert backend.idle(*M5) == 1


def test_a_job_that_never_ran_leaves_nothing(make):
    bench = make()
    bench.emulator.add_faults([{"kind": "capacity", "times": 1}])
    backend = bench.backend()
    events = run(backend, bench, "reports3", "a")
    assert closed(events, "a").cause is Cause.CAPACITY
    assert of_job(events, "a", Retained) == []
    assert backend.idle(*M5) == 0


def test_instances_that_somebody_ended_cost_what_they_cost_and_the_next_job_starts_cold(make):
    bench = make()
    backend = bench.backend()
    run(backend, bench, "reports3", "a")
    bench.emulator.client("sagemaker").update_training_job(TrainingJobName="a", ResourceConfig={"KeepAlivePeriodInSeconds": 0})
    events = run(backend, bench, "reports3", "b")
    assert closed(events, "b").usage["warm"] is False
    (gone,) = of_job(events, "a", Retained)
    assert (gone.billable_s, gone.reused_by) == (status(bench, "a")["ResourceRetainedBillableTimeInSeconds"], "")
    assert backend.idle(*M5) == 1


def test_instances_that_another_users_job_took_are_not_counted_on(make):
    bench = make()
    backend = bench.backend()
    run(backend, bench, "reports3", "a")
    client = bench.emulator.client("sagemaker")
    request = client.describe_training_job(TrainingJobName="a")
    request = {
        key: request[key] for key in ("RoleArn", "OutputDataConfig", "ResourceConfig", "StoppingCondition", "EnableNetworkIsolation")
    }
    algorithm = {"TrainingImage": "other:1", "TrainingInputMode": "File", "ContainerEntrypoint": ["sleep", "30"]}
    client.create_training_job(TrainingJobName="foreign", AlgorithmSpecification=algorithm, **request)
    events = run(backend, bench, "reports3", "b")
    assert closed(events, "b").usage["warm"] is False
    (gone,) = of_job(events, "a", Retained)
    assert gone.reused_by == "foreign"
    client.stop_training_job(TrainingJobName="foreign")


def test_without_quota_nothing_is_kept_and_nothing_fails(make):
    bench = make(pools=0)
    backend = bench.backend()
    events = run(backend, bench, "reports3", "a") + run(backend, bench, "reports3", "b")
    assert [event.text for event in events if isinstance(event, Noted) and event.text] == [
        "no warm pools: the quota 'ml.m5.large for training warm pool usage' is 0"
    ]
    for name in ("a", "b"):
        assert closed(events, name).outcome is Outcome.COMPLETED
        assert closed(events, name).usage["warm"] is False
        assert closed(events, name).usage["quota_at_zero"] == "ml.m5.large for training warm pool usage"
    assert not any(isinstance(event, Retained) for event in events)
    # The service is asked for it all the same: a quota may be raised while the run goes on.
    described = bench.emulator.client("sagemaker").describe_training_job(TrainingJobName="b")
    assert described["ResourceConfig"]["KeepAlivePeriodInSeconds"] == 300


def test_instances_are_given_up_when_holding_them_costs_more_than_a_cold_start(make):
    bench = make()
    backend = bench.backend()
    run(backend, bench, "reports3", "a")
    events = collect(backend, has("a", Retained), LIMIT_S)
    (gone,) = of_job(events, "a", Retained)
    assert COLD_S - 1 <= gone.billable_s <= COLD_S + 2 * SPEED
    assert status(bench, "a")["Status"] == "Terminated"
    assert backend.idle(*M5) == 0


def test_idle_instances_make_room_for_a_job_of_another_size(make):
    bench = make(training=2)
    backend = bench.backend()
    run(backend, bench, "reports3", "two", instance_count=2)
    assert backend.idle("ml.m5.large", 2) == 1
    events = run(backend, bench, "reports3", "one")
    (refused,) = of_job(events, "one", Rejected)
    assert refused.cause is Cause.QUOTA
    collect(backend, has("two", Retained), 2 * SPEED, events)
    assert status(bench, "two")["Status"] == "Terminated"


def test_the_next_controller_takes_the_instances_over_and_books_them_once(make):
    bench = make()
    first = bench.backend()
    events = run(first, bench, "reports3", "a")
    (kept,) = of_job(events, "a", Retained)
    # The first controller is gone without a word.
    second = bench.backend()
    second.adopt([], second.now())
    second.adopt_pools([AdoptedPool("a", *M5, kept.at)])
    assert second.idle(*M5) == 1
    events = released(second, "a")
    (gone,) = of_job(events, "a", Retained)
    assert gone.billable_s == status(bench, "a")["ResourceRetainedBillableTimeInSeconds"]
    assert second.wait(0.0) == []


def test_the_next_controller_learns_of_instances_that_were_given_up_meanwhile(make):
    bench = make()
    first = bench.backend()
    events = run(first, bench, "reports3", "a")
    (kept,) = of_job(events, "a", Retained)
    first.close()
    assert status(bench, "a")["Status"] == "Terminated"
    second = bench.backend()
    second.adopt([], second.now())
    second.adopt_pools([AdoptedPool("a", *M5, kept.at)])
    (gone,) = of_job(collect(second, has("a", Retained), LIMIT_S), "a", Retained)
    assert gone.billable_s == status(bench, "a")["ResourceRetainedBillableTimeInSeconds"]


def test_it_is_a_back_end_of_its_own():
    assert backend_class("warm_pool") is WarmPoolBackend
    emulated = WarmPoolBackend.expected_capabilities({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    assert (emulated.warm_pools, emulated.real_money, emulated.price_label) == (True, False, "emulated")
    assert dataclasses.replace(WarmPoolBackend.expected_capabilities({}), warm_pools=False) == backend_class("sagemaker").capabilities
