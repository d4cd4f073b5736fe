"""Options of controllers that are asked for when a run goes on: what the job says, what launch.json says, what it costs."""

from __future__ import annotations

import dataclasses

import pytest

from backends.sagemaker.controllers.options import ControllerOptions
from backends.sagemaker.controllers.request import controller_request
from benchmarking.remote.launch_record import LaunchRecord, RunMoney, SentPackage
from definitions.errors import UserError
from definitions.instances import price_of
from definitions.remote import RemoteOptions
from launch.launching.changing import asked_options, changed_record, changed_request

ROLE = "arn:aws:iam::111122223333:role/c"
RUN, CODE = "s3://bucket/outrider/runs/t", "s3://bucket/outrider/code/0123/"
CONTROLLER = {
    "instance_type": "ml.m5.large",
    "count": 1,
    "max_run_s": 3600.0,
    "generations": 4,
    "spot": False,
    "restarts": 3,
    "volume_gb": 30,
}
RECORD = LaunchRecord("t", "n", "", "1", SentPackage("code/x", "x"), controller=CONTROLLER, money=RunMoney(5.0, 0.2, 4.8))


def changed(asked: RemoteOptions, before: ControllerOptions | None = None):
    request = controller_request(before or ControllerOptions(ROLE, "image:1", tags={"team": "x", "who": "me"}), "t", "n", 1, 2, RUN, CODE)
    return request, changed_request(request, asked, region="us-east-1", environ={}, emulated=False)


def test_settings_of_the_block_alone_are_read_as_a_definition_says_them():
    settings = ["lr=1", "remote.framework_version=2.10", "remote.max_run=7200", 'remote.subnets=["s-1"]', 'remote.tags.a.b=["1"]']
    found = asked_options([*settings, "remote.security_groups=g"], "sagemaker")
    assert found == RemoteOptions(framework_version="2.10", max_run=7200.0, subnets=("s-1",), security_groups=("g",), tags={"a.b": "1"})
    assert asked_options(["budget.max_cost=3"], "local") == RemoteOptions()


@pytest.mark.parametrize(
    ("setting", "said"),
    [("remote.volume_gb=0", "--set remote.volume_gb=0: volume_gb: must be at least 1"), ("remote.disk=3", "there is no key 'remote.disk'")],
)
def test_what_is_no_option_is_refused_with_where_it_was_said(setting, said):
    with pytest.raises(UserError, match=said):
        asked_options([setting], "sagemaker")


def test_where_nothing_is_asked_for_the_request_is_the_same():
    request, found = changed(RemoteOptions(bucket="b", controllers=3, restarts=1))
    assert found is request


def test_what_is_asked_for_takes_the_place_of_what_was_and_all_else_stays():
    asked = RemoteOptions(
        instance_type="ml.c5.xlarge", volume_gb=70, max_run=7200, spot=True, image="mine:2", role=f"{ROLE}2",
        subnets=("s",), security_groups=("g",), tags={"team": "y", "outrider:tag": "other"},
    )  # fmt: skip
    request, found = changed(asked)
    assert {key for key in found if found[key] != request.get(key)} == {
        *("AlgorithmSpecification", "RoleArn", "ResourceConfig", "StoppingCondition", "EnableManagedSpotTraining", "VpcConfig", "Tags"),
    }
    assert found["AlgorithmSpecification"] == {**request["AlgorithmSpecification"], "TrainingImage": "mine:2"}
    assert found["ResourceConfig"] == {"InstanceType": "ml.c5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 70}
    assert found["StoppingCondition"] == {"MaxRuntimeInSeconds": 7200, "MaxWaitTimeInSeconds": 10800}
    assert (found["RoleArn"], found["EnableManagedSpotTraining"]) == (f"{ROLE}2", True)
    assert found["VpcConfig"] == {"Subnets": ["s"], "SecurityGroupIds": ["g"]}
    tags = [(one["Key"], one["Value"]) for one in found["Tags"]]
    assert len({key for key, _ in tags}) == len(tags)
    assert {"team": "y", "who": "me", "outrider:tag": "t", "outrider:generation": "2"}.items() <= dict(tags).items()


def test_of_one_option_the_others_are_as_they_were():
    before = ControllerOptions(
        ROLE, "image:1", "ml.m5.xlarge", max_run_s=600, spot=True, volume_gb=44, subnets=("s",), security_groups=("g",)
    )
    request, found = changed(RemoteOptions(volume_gb=45), before)
    assert found == {**request, "ResourceConfig": {**request["ResourceConfig"], "VolumeSizeInGB": 45}}
    _, found = changed(RemoteOptions(spot=False), before)
    assert found["StoppingCondition"] == {"MaxRuntimeInSeconds": 600}
    _, found = changed(RemoteOptions(framework="pytorch"), before)
    assert "pytorch" in found["AlgorithmSpecification"]["TrainingImage"]


def test_what_cannot_be_is_refused():
    with pytest.raises(UserError, match="types of training jobs begin with ml"):
        changed(RemoteOptions(instance_type="m5.large"))
    with pytest.raises(UserError, match="a VPC needs both"):
        changed(RemoteOptions(subnets=("s",)))


def test_launch_json_says_it_too_and_shorter_generations_are_more():
    asked = RemoteOptions(max_run=1000, controllers=2, restarts=0, spot=False, tuning_metrics=False, requirements=("a==1",))
    free = dataclasses.replace(RECORD, money=RunMoney())
    found = changed_record(free, asked, region="us-east-1", is_capped_anew=False)
    assert found.controller == {**CONTROLLER, "max_run_s": 1000.0, "count": 2, "restarts": 0, "tuning_metrics": False,
                                "requirements": ("a==1",), "generations": 15}  # fmt: skip
    assert (found.count, found.money) == (2, RunMoney())
    assert changed_record(RECORD, RemoteOptions(volume_gb=30), region="us-east-1", is_capped_anew=False) is RECORD


def test_controllers_that_may_cost_more_need_a_new_limit_of_money():
    dearer = RemoteOptions(instance_type="ml.m5.2xlarge")
    with pytest.raises(UserError, match=r"they cost \$0.80 at most, and \$0.20 of max_cost is set aside for them"):
        changed_record(RECORD, dearer, region="us-east-1", is_capped_anew=False)
    found = changed_record(RECORD, dearer, region="us-east-1", is_capped_anew=True)
    one, four = (price_of(name, "us-east-1").usd_per_hour for name in ("ml.m5.large", "ml.m5.2xlarge"))
    assert found.money == RunMoney(5.0, pytest.approx(0.2 * four / one), 4.8)
    with pytest.raises(UserError, match="it is not known what they cost"):
        changed_record(RECORD, RemoteOptions(instance_type="ml.none.large"), region="us-east-1", is_capped_anew=False)


def test_cheaper_ones_keep_what_is_set_aside_as_it_may_be_spent_and_more_of_them_or_more_starts_take_more():
    cheap = dataclasses.replace(RECORD, controller={**CONTROLLER, "instance_type": "ml.m5.2xlarge"})
    assert changed_record(cheap, RemoteOptions(instance_type="ml.m5.large"), region="us-east-1", is_capped_anew=False).money == RECORD.money
    twice = changed_record(RECORD, RemoteOptions(controllers=2), region="us-east-1", is_capped_anew=True)
    assert twice.money.controllers_usd == pytest.approx(0.4)
    shorter = changed_record(RECORD, RemoteOptions(max_run=1800), region="us-east-1", is_capped_anew=True)
    # Four generations more, each with a start of 300 s.
    assert shorter.controller["generations"] == 8
    assert shorter.money.controllers_usd == pytest.approx(0.2 + 4 * 300 / 3600 * 0.115)
