"""Endpoints under scripts of this machine: the contract, faults of the service, controllers that die, what is left and billed."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from backends.adopted import AdoptedJob
from backends.emulator import Settings
from backends.emulator.core.settings import ENDPOINT_QUOTA
from backends.endpoint.creation import EndpointCalls
from backends.events import Accepted, Noted, Rejected, Reported, Restarted, Started
from backends.failures import Cause, Outcome
from backends.local.backend import LocalBackend
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.stopped_endpoints import tell
from tests.backends.contract import BackendContract, all_closed, check_order, closed, collect, has, of_job
from tests.backends.endpoint.endpoint_bench import EndpointBench

pytestmark = pytest.mark.slow


@pytest.fixture
def made(tmp_path):
    import contextlib

    with contextlib.ExitStack() as stack:
        yield lambda **rest: stack.enter_context(EndpointBench(tmp_path, **rest))


class TestContract(BackendContract):
    max_run_s = 1.0
    many = 3
    slack_s = 20.0
    limit_s = 120.0
    billed_beside_s = 60.0

    @pytest.fixture(autouse=True)
    def _bench(self, tmp_path):
        with EndpointBench(tmp_path) as bench:
            self.bench = bench
            yield

    def make_backend(self, folder):
        return self.bench.backend(folder.name, "")

    def job(self, kind, name):
        return self.bench.job(kind, name)

    def write_checkpoint(self, backend, key, content):
        backend.checkpoints.create(key)
        (backend.checkpoints.path(key) / "state").write_bytes(content)


def ended(backend, *names):
    events = collect(backend, all_closed(*names), 120.0)
    check_order(events)
    return events


def test_the_script_calls_the_targets_and_nothing_is_left(made):
    bench = made()
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1", deployment=bench.deployment(copies=3)))
    events = ended(backend, "x1")
    assert [event.metrics["first"] for event in of_job(events, "x1", Reported)] == [3.0, 3.0, 3.0]
    assert all(event.metrics["has_status"] for event in of_job(events, "x1", Reported))
    assert {event.metrics["left"] for event in of_job(events, "x1", Reported)} == {120.0}  # of max_run: the endpoint came up before
    end = closed(events, "x1")
    assert (end.outcome, end.usage["waited_s"] > 0) == (Outcome.COMPLETED, True)
    service = end.usage["service"]
    assert (service["model_ms"]["count"], service["cache_hit"]["mean"], service["loading_wait_ms"]["mean"] > 0) == (3.0, 0.0, True)
    assert 0 < service["model_ms"]["mean"] <= service["model_ms"]["max"]
    # A wait for the model is no latency of the model's, but the service's.
    assert service["overhead_ms"]["mean"] > service["loading_wait_ms"]["mean"]
    assert backend.close() == []
    assert bench.left() == []
    assert end.billable_s == pytest.approx(bench.billed_s("x1"), abs=1.5)
    keys = [one["Key"] for one in bench.emulator.client("s3").list_objects_v2(Bucket="bench")["Contents"]]
    assert [key for key in keys if "targets" in key] == []


def test_one_model_is_served_alone(made):
    bench = made()
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1", deployment=bench.deployment("single", 1)))
    events = ended(backend, "x1")
    assert [event.metrics["first"] for event in of_job(events, "x1", Reported)] == [3.0]
    backend.close()


def test_an_endpoint_that_exists_is_neither_made_nor_deleted(made):
    bench = made()
    backend = bench.backend()
    backend.submit(bench.job("endless", "x1"))
    collect(backend, has("x1", Reported), 60.0)
    other = bench.backend("other")
    other.submit(bench.job("calls", "y1", deployment=bench.deployment(existing="x1")))
    events = ended(other, "y1")
    assert closed(events, "y1").outcome is Outcome.COMPLETED
    other.submit(bench.job("calls", "y2", deployment=bench.deployment(existing="nobody")))
    (refused,) = of_job(ended(other, "y2"), "y2", Rejected)
    assert (refused.cause, refused.retry_at) == (Cause.BAD_REQUEST, None)
    assert refused.message == "there is no endpoint nobody, which `existing` names; leave it out to have one made"
    assert other.close() == []
    assert set(bench.left()) == {"x1"}
    assert backend.close() == []


@pytest.mark.parametrize(
    ("fault", "cause", "words"),
    [
        ({"kind": "capacity"}, Cause.CAPACITY, "Unable to provision requested ML compute capacity"),
        ({"kind": "endpoint_failed"}, Cause.SERVICE_ERROR, "Request to service failed."),
        (
            {"kind": "endpoint_failed", "message": "m does not fit into memory even alone"},
            Cause.OUT_OF_MEMORY,
            "does not fit into memory",
        ),
    ],
)
def test_an_endpoint_that_fails_is_deleted_and_says_why(made, fault, cause, words):
    bench = made(faults=[fault])
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1"))
    events = ended(backend, "x1")
    end = closed(events, "x1")
    assert (end.outcome, end.cause) == (Outcome.FAILED, cause)
    assert end.message.startswith("the endpoint failed: ")
    assert words in end.message
    assert of_job(events, "x1", Started) == []
    assert backend.close() == []
    assert bench.left() == []


def test_an_endpoint_that_fails_under_load_ends_its_script_and_keeps_what_was_reported(made):
    bench = made(faults=[{"kind": "endpoint_failed", "at_s": 6.0}])
    backend = bench.backend()
    backend.submit(bench.job("endless", "x1"))
    events = ended(backend, "x1")
    end = closed(events, "x1")
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.SERVICE_ERROR)
    assert end.message.startswith("the endpoint became Failed under load")
    assert len(of_job(events, "x1", Reported)) == 1
    assert backend.close() == []


def test_one_that_never_comes_into_service_is_given_up_and_goes_as_soon_as_it_can(made):
    bench = made(faults=[{"kind": "pending", "seconds": 4.0}])
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1", deployment=bench.deployment(deploy_s=1.0)))
    events = ended(backend, "x1")
    end = closed(events, "x1")
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.TIME_OUT)
    assert end.message == "the endpoint was not in service within deploy_s = 1 s"
    assert end.billable_s > 4.0
    assert "endpoint x1 is deleted once the service has done creating it" in [one.text for one in of_job(events, "x1", Noted)]
    backend.close()
    assert bench.left() == []


def test_one_that_never_comes_into_service_is_named_when_its_controller_ends(made):
    bench = made(faults=[{"kind": "pending", "seconds": 3600.0}])
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1", deployment=bench.deployment(deploy_s=1.0)))
    said = "endpoint x1 is deleted once the service has done creating it"
    events = collect(backend, lambda found: said in [one.text for one in of_job(found, "x1", Noted)], 60.0)
    assert of_job(events, "x1", Started) == []
    assert backend.close(2.0) == ["x1"]
    assert bench.sagemaker.describe_endpoint(EndpointName="x1")["EndpointStatus"] == "Creating"


def test_no_quota_is_refused_at_once_and_a_full_one_for_a_while(made):
    bench = made(settings=Settings(quotas={ENDPOINT_QUOTA.format("ml.m5.xlarge"): 1, "*": 0}))
    backend = bench.backend()
    assert backend.capacity("ml.m5.xlarge") == 1
    assert backend.capacity("ml.m5.large") == 0
    none = bench.job("calls", "x0", instance_type="ml.m5.large")
    backend.submit(none)
    (refused,) = of_job(ended(backend, "x0"), "x0", Rejected)
    assert (refused.cause, refused.retry_at) == (Cause.BAD_REQUEST, None)
    assert "the quota 'ml.m5.large for endpoint usage' is 0 in us-east-1; `aws service-quotas " in refused.message
    assert refused.message.endswith(backend.there_is())
    backend.submit(bench.job("endless", "x1"))
    collect(backend, has("x1", Accepted), 60.0)
    backend.submit(bench.job("calls", "x2"))
    events = collect(backend, has("x2", Rejected), 60.0)
    (refused,) = of_job(events, "x2", Rejected)
    assert (refused.cause, refused.retry_at > backend.now()) == (Cause.QUOTA, True)
    assert backend.close() == []
    assert bench.left() == []


def test_endpoints_that_exist_take_no_quota_and_what_has_an_own_one_is_still_refused(made):
    bench = made(settings=Settings(quotas={"*": 0}), space={"existing": {"choice": [None, "theirs"]}})
    backend = bench.backend()
    assert backend.capacity("ml.m5.xlarge") > 0
    backend.submit(bench.job("calls", "x0"))
    (refused,) = of_job(ended(backend, "x0"), "x0", Rejected)
    assert "the quota 'ml.m5.xlarge for endpoint usage' is 0" in refused.message
    backend.close()


def test_where_the_load_has_too_few_cores_that_is_said(made):
    bench = made(endpoint={"mode": "multi", "server": "ort", "client_cores": 4096})
    backend = bench.backend()
    assert backend.capacity("ml.m5.xlarge") == 0
    assert backend.there_is().startswith("the load needs 4096 cores, and this machine has ")
    backend.close()


@pytest.mark.parametrize("exclusive", [False, True])
def test_there_is_room_for_as_many_endpoints_as_loads_run_side_by_side(made, monkeypatch, exclusive):
    backend = made(exclusive=exclusive).backend()
    monkeypatch.setattr(LocalBackend, "capacity", lambda self, name: 2)
    assert backend.capacity("ml.m5.xlarge") == (1 if exclusive else 2)
    backend.close()


def count_tries(monkeypatch):
    """Return how often each call that makes or deletes a part of an endpoint is tried, from now on."""
    tried, call = Counter(), getattr(EndpointCalls, "_call")  # noqa: B009 (each try of a call goes through it)

    def counted(self, operation, request):
        tried[operation] += 1
        return call(self, operation, request)

    monkeypatch.setattr(EndpointCalls, "_call", counted)
    return tried


def test_throttled_creations_go_through_in_the_end(made, monkeypatch):
    faults = [
        {"kind": "throttle", "operation": f"Create{what}", "rate_per_s": 0.5, "burst": 0, "times": 2} for what in ("Model", "Endpoint")
    ]
    bench = made(faults=[*faults, {"kind": "error", "operation": "CreateEndpointConfig", "times": 1}])
    backend = bench.backend()
    tried = count_tries(monkeypatch)
    backend.submit(bench.job("calls", "x1"))
    assert closed(ended(backend, "x1"), "x1").outcome is Outcome.COMPLETED
    assert [tried[f"Create{what}"] for what in ("Model", "EndpointConfig", "Endpoint")] == [3, 2, 3]
    backend.close()
    assert bench.left() == []


def test_a_deletion_that_is_refused_is_said_and_done_later(made):
    fault = {"kind": "error", "operation": "DeleteEndpoint", "code": "AccessDeniedException", "message": "no", "status": 400, "times": 2}
    bench = made(faults=[fault])
    backend = bench.backend()
    backend.submit(bench.job("calls", "x1"))
    events = ended(backend, "x1")
    assert closed(events, "x1").outcome is Outcome.COMPLETED
    said = [event.text for event in events if isinstance(event, Noted)]
    assert len([text for text in said if text.startswith("endpoint x1 cannot be deleted: DeleteEndpoint: AccessDeniedException: no")]) == 1
    assert backend.close() == []
    assert bench.left() == []


def test_what_cannot_be_deleted_is_named(made):
    bench = made(faults=[{"kind": "error", "operation": "DeleteEndpoint", "code": "AccessDeniedException", "message": "no", "status": 400}])
    backend = bench.backend()
    backend.submit(bench.job("endless", "x1"))
    collect(backend, has("x1", Reported), 60.0)
    assert backend.close(2.0) == ["x1"]
    assert bench.left().count("x1") == 3


@pytest.mark.parametrize("moment", ["creating", "loaded"])
def test_the_next_controller_goes_on_with_the_endpoint_and_a_further_life_of_the_script(made, moment):
    bench = made(faults=[{"kind": "pending", "seconds": 2.0}] if moment == "creating" else None)
    first = bench.backend()
    job = bench.job("saves_first", "x1")
    first.submit(job)
    begun = collect(first, has("x1", Accepted) if moment == "creating" else has("x1", Reported, 2), 60.0)
    first.detach()
    reports = of_job(begun, "x1", Reported)
    second = bench.backend()
    second.adopt([bench.adopted(job, begun)], begun[-1].at)
    events = collect(second, all_closed("x1"), 120.0)
    end = closed(events, "x1")
    assert end.outcome is Outcome.COMPLETED
    epochs = [event.metrics["epoch"] for event in (*reports, *of_job(events, "x1", Reported))]
    assert epochs == sorted(set(epochs))
    assert epochs[-1] == 6
    if moment == "loaded":
        assert [event.incarnation for event in of_job(events, "x1", Restarted)] == [1]
        assert {event.incarnation for event in of_job(events, "x1", Reported)} == {1}
    assert second.close() == []
    assert bench.left() == []
    assert end.billable_s == pytest.approx(bench.billed_s("x1"), abs=1.5)


@pytest.mark.parametrize("moment", ["noted", "ordered", "gone"])
def test_a_load_that_has_ended_is_not_run_again_by_the_next_controller(made, moment):
    bench = made()
    first = bench.backend()
    job = bench.job("calls", "x1")
    first.submit(job)
    begun = collect(first, lambda found: "Deleting" in [one.stage for one in of_job(found, "x1", Noted)], 60.0)
    # Before the note is kept the endpoint is left as it is: who found it gone, and no note, would measure again.
    assert [one["EndpointStatus"] for one in bench.sagemaker.list_endpoints()["Endpoints"]] == ["InService"]
    if moment != "noted":
        while [one["EndpointStatus"] for one in bench.sagemaker.list_endpoints()["Endpoints"]] == ["InService"]:
            begun += first.wait(0.2)
    first.detach()
    while moment == "gone" and bench.sagemaker.list_endpoints()["Endpoints"]:
        time.sleep(0.1)
    second = bench.backend()
    second.adopt([bench.adopted(job, begun)], begun[-1].at)
    events = collect(second, all_closed("x1"), 60.0)
    end = closed(events, "x1")
    assert (end.outcome, end.cause, of_job(events, "x1", Reported)) == (Outcome.COMPLETED, None, [])
    assert end.usage["waited_s"] > 0
    assert end.started_at < end.ended_at <= begun[-1].at
    assert second.close() == []
    assert bench.left() == []
    # Until it was seen gone, by whoever looked first.
    (billed,) = bench.state()["billed_endpoints"]
    assert -2.0 <= end.billable_s - bench.billed_s("x1") <= max(0.0, end.at - billed["deleted_at"]) + 2.0


def test_what_was_created_unnoticed_and_then_stopped_is_billed(made):
    bench = made()
    first = bench.backend()
    job = bench.job("endless", "x1")
    first.submit(job)
    begun = collect(first, has("x1", Accepted), 60.0)
    first.detach()
    # What `outrider stop` does; its controller had been killed before it could write down that it had the endpoint.
    endpoints, give_up_at = bench.sagemaker, time.monotonic() + 60.0
    while [one["EndpointStatus"] for one in endpoints.list_endpoints()["Endpoints"]] != ["InService"]:
        assert time.monotonic() < give_up_at
        time.sleep(0.1)
    endpoints.delete_endpoint(EndpointName="x1")
    while bench.state()["billed_endpoints"] == []:
        assert time.monotonic() < give_up_at
        time.sleep(0.1)
    tell(
        S3ObjectStore("s3://bench/outrider/runs/tag", Clients("us-east-1", bench.emulator.environment)),
        "x1",
        bench.state()["billed_endpoints"][0]["deleted_at"],
    )
    second = bench.backend()
    second.adopt([AdoptedJob(job, begun[0].at)], begun[-1].at)
    events = collect(second, all_closed("x1"), 60.0)
    assert [type(event) for event in of_job(events, "x1", Accepted)] == [Accepted]
    end = closed(events, "x1")
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.LOST)
    assert end.billable_s == pytest.approx(bench.billed_s("x1"), abs=1.0)
    assert second.close() == []


def test_the_next_controller_asks_anew_for_what_never_came_to_be_and_deletes_what_is_nobodys(made):
    bench = made()
    first = bench.backend()
    first.submit(bench.job("endless", "x9"))
    collect(first, has("x9", Accepted), 60.0)
    first.detach()
    second = bench.backend()
    second.adopt([AdoptedJob(bench.job("calls", "x1"), 0.0)], 0.0)
    events = ended(second, "x1")
    assert closed(events, "x1").outcome is Outcome.COMPLETED
    give_up_at = time.monotonic() + 100.0
    while bench.left() and time.monotonic() < give_up_at:
        second.wait(0.2)
    assert second.close() == []
    assert bench.left() == []
