"""Deleting the endpoints of a tag from anywhere: all of them, none but them, whatever AWS answers."""

from __future__ import annotations

import time

import pytest

from backends.naming import TAG_KEY, tag_mark
from backends.sagemaker.admin.stop_endpoints import EndpointStopper
from tests.backends.emulator.endpoints.hosting_bench import IMAGE, ROLE
from tests.backends.tag_bench import TagBench, tag_bench, use

pytestmark = pytest.mark.slow


class StopBench(TagBench):
    number = 0

    def endpoint(self, tag="a", tags=None, status="InService"):
        """Make an endpoint named as one of a tag's, and wait for its status."""
        self.number += 1
        name = f"toy-{tag_mark(tag)}-0123abcd-t{self.number}-a1"
        given = [{"Key": key, "Value": value} for key, value in ({TAG_KEY: tag} if tags is None else tags).items()]
        container = {"Image": IMAGE, "Mode": "MultiModel", "ModelDataUrl": "s3://b/models/", "Environment": {"OUTRIDER_SERVER": "ort"}}
        self.sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=container, Tags=given)
        variant = {"VariantName": "v", "ModelName": name, "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
        self.sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[variant], Tags=given)
        self.sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name, Tags=given)
        end = time.monotonic() + 100.0
        while self.endpoints()[name] != status:
            assert time.monotonic() < end, self.endpoints()
            time.sleep(0.05)
        return name

    def endpoints(self):
        return {one["EndpointName"]: one["EndpointStatus"] for one in self.sagemaker.list_endpoints(MaxResults=100)["Endpoints"]}

    def parts(self):
        configs = [one["EndpointConfigName"] for one in self.sagemaker.list_endpoint_configs()["EndpointConfigs"]]
        return sorted(configs + [one["ModelName"] for one in self.sagemaker.list_models()["Models"]])


@pytest.fixture
def bench(monkeypatch, tmp_path):
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        yield StopBench(emulator)


def stopper(bench, tag="a", **rest):
    return EndpointStopper(bench.clients(), tag, **rest)


def test_all_endpoints_of_the_tag_and_no_other_go_with_their_parts(bench):
    ours = [bench.endpoint() for _ in range(2)]
    alien, untagged = bench.endpoint(tags={TAG_KEY: "b"}), bench.endpoint(tags={})
    assert sorted(stopper(bench).running()) == sorted(ours)
    result = stopper(bench).stop(poll_s=0.1)
    assert sorted(one.job for one in result.jobs) == sorted(f"endpoint {name}" for name in ours)
    assert {(one.before, one.now, one.done) for one in result.jobs} == {("InService", "gone", "deleted")}
    assert (result.left, result.trouble) == ((), "")
    assert sorted(bench.endpoints()) == sorted([alien, untagged])
    assert bench.parts() == sorted([alien, alien, untagged, untagged])


def test_one_that_is_being_created_is_deleted_once_it_can_be(bench):
    bench.emulator.add_faults([{"kind": "pending", "seconds": 2.0}])
    name = bench.endpoint(status="Creating")
    hasty = stopper(bench).stop(wait=False)
    assert hasty.left == (f"endpoint {name}",)
    assert "cannot be deleted while it is being created" in hasty.jobs[0].done
    said = []
    assert stopper(bench).stop(poll_s=0.1, say=said.append).left == ()
    assert said == ["waiting for 1 endpoint to be gone"]
    assert (bench.endpoints(), bench.parts()) == ({}, [])


def test_what_may_not_be_deleted_is_named_and_not_waited_for(bench):
    name = bench.endpoint()
    fault = {"kind": "error", "operation": "DeleteEndpoint", "code": "AccessDeniedException", "message": "not you", "status": 400}
    bench.emulator.add_faults([fault])
    result = stopper(bench).stop(poll_s=0.1)
    assert result.left == (f"endpoint {name}",)
    assert result.jobs[0].done.startswith("could not be deleted: DeleteEndpoint: AccessDeniedException: not you")
    assert bench.parts() == [name, name]


def test_experiments_that_are_not_meant_keep_theirs(bench):
    first, second = bench.endpoint(), bench.endpoint()
    assert stopper(bench, prefixes=(first[:-3],)).stop(poll_s=0.1).left == ()
    assert list(bench.endpoints()) == [second]
    bench.sagemaker.delete_endpoint(EndpointName=second)
    while bench.endpoints():
        time.sleep(0.05)
    assert sorted(stopper(bench).parts()) == [("endpoint configuration", second), ("model", second)]
    assert stopper(bench).stop(wait=False).jobs == ()
    assert bench.parts() == []
