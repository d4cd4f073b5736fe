"""Requests of controllers: names that repeat, tags, and a successor that is as the one before."""

from __future__ import annotations

import pytest

from backends.sagemaker.controllers.options import ControllerOptions
from backends.sagemaker.controllers.request import controller_name, controller_request, successor_request

RUN = "s3://bucket/outrider/runs/tag-1"
CODE = "s3://bucket/outrider/code/0123/"
OPTIONS = ControllerOptions("arn:aws:iam::111122223333:role/c", "image", max_run_s=90.5, environment={"A": "b"}, tags={"team": "x"})


def request(options: ControllerOptions = OPTIONS, generation: int = 1):
    return controller_request(options, "tag-1", "0a1b2c3d", 2, generation, RUN, CODE)


def tags(found):
    return {one["Key"]: one["Value"] for one in found["Tags"]}


def test_a_name_says_tag_controller_and_generation_and_is_the_same_again():
    assert controller_name("tag-1", "0a1b2c3d", 2, 1) == "ctl-5a1320-5f3bd9cc-g1"
    names = {controller_name(tag, nonce, index, 1) for tag in ("tag-1", "tag-2") for nonce in ("0", "1") for index in (1, 2)}
    assert len(names) == 8
    assert len(controller_name("x" * 41, "0a1b2c3d", 999, 999)) <= 63


def test_what_a_controller_is_told():
    found = request()
    assert found["AlgorithmSpecification"]["ContainerArguments"] == [
        "launch/remote/entry.py",
        RUN,
        "--controller",
        "2",
        "--generation",
        "1",
    ]
    assert found["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] == CODE
    assert found["StoppingCondition"] == {"MaxRuntimeInSeconds": 91}
    assert tags(found) == {"outrider:tag": "tag-1", "outrider:controller": "2", "outrider:generation": "1", "team": "x"}
    assert found["Environment"] == {"PYTHONUNBUFFERED": "1", "A": "b"}
    assert found["CheckpointConfig"]["S3Uri"] == "s3://bucket/outrider/checkpoints/tag-1/controller-2"
    assert "VpcConfig" not in found


def test_spot_waits_and_a_vpc_travels():
    options = ControllerOptions("r", "i", max_run_s=100, spot=True, subnets=("s",), security_groups=("g",))
    found = request(options)
    assert found["StoppingCondition"] == {"MaxRuntimeInSeconds": 100, "MaxWaitTimeInSeconds": 3700}
    assert found["VpcConfig"] == {"Subnets": ["s"], "SecurityGroupIds": ["g"]}


@pytest.mark.parametrize(
    "options",
    [
        OPTIONS,
        ControllerOptions("r", "i", spot=True, subnets=("s",), security_groups=("g",)),
        ControllerOptions("r", "i", metrics={"best_metric_value": "best_metric_value=([0-9.]+)"}),
    ],
)
def test_a_successor_is_as_the_one_before_in_all_but_its_generation(options):
    before = request(options)
    again = successor_request(before, before["Tags"], controller_name("tag-1", "0a1b2c3d", 2, 2), 2, 2)
    wanted = request(options, generation=2)
    assert tags(again) == tags(wanted)
    assert {key: value for key, value in again.items() if key != "Tags"} == {key: value for key, value in wanted.items() if key != "Tags"}
