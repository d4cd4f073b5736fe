"""What is refused of models, configurations and endpoints although the service's model allows it."""

from __future__ import annotations

import pytest

from backends.emulator.endpoints.rules import check_config, check_endpoint, check_model
from backends.emulator.http.errors import ServiceError

CONTAINER = {"Image": "i", "Mode": "MultiModel", "ModelDataUrl": "s3://b/models/"}
VARIANT = {"VariantName": "v", "ModelName": "m", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}


def refused(call, *arguments):
    with pytest.raises(ServiceError) as caught:
        call(*arguments)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({}, "exactly one of PrimaryContainer and Containers"),
        ({"PrimaryContainer": CONTAINER, "Containers": [CONTAINER]}, "exactly one of PrimaryContainer and Containers"),
        ({"PrimaryContainer": {"ModelDataUrl": "s3://b/m.tar.gz"}}, "Either Image or ModelPackageName"),
        ({"PrimaryContainer": {"Image": "i", "Mode": "MultiModel"}}, "the prefix under which its models are"),
        ({"PrimaryContainer": CONTAINER, "Tags": [{"Key": "aws:x", "Value": ""}]}, "aws: are reserved"),
        ({"PrimaryContainer": CONTAINER, "Tags": [{"Key": "x", "Value": ""}] * 2}, "Duplicate tag keys"),
    ],
)
def test_models(request_, words):
    code, message = refused(check_model, request_)
    assert code == "ValidationException"
    assert words in message


@pytest.mark.parametrize(
    ("variants", "words"),
    [
        ([VARIANT, VARIANT], "unique names"),
        ([{**VARIANT, "ServerlessConfig": {"MemorySizeInMB": 1024, "MaxConcurrency": 1}}], "ServerlessConfig cannot be given"),
        ([{"VariantName": "v", "ModelName": "m", "InstanceType": "ml.m5.large"}], "InitialInstanceCount are required"),
        ([{**VARIANT, "InitialVariantWeight": 0.0}], "a weight above 0"),
        ([{"VariantName": "v", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}], "ModelName is required"),
    ],
)
def test_configurations(variants, words):
    code, message = refused(check_config, {"ProductionVariants": variants})
    assert code == "ValidationException"
    assert words in message


@pytest.mark.parametrize(
    ("config", "model", "words"),
    [
        ({"ProductionVariants": [VARIANT, {**VARIANT, "VariantName": "w"}]}, {}, "several production variants"),
        ({"ProductionVariants": [{"VariantName": "v", "ModelName": "m", "ServerlessConfig": {}}]}, {}, "serverless endpoints"),
        ({"ProductionVariants": [VARIANT], "AsyncInferenceConfig": {}}, {}, "asynchronous endpoints"),
        ({"ProductionVariants": [VARIANT]}, {"Containers": [CONTAINER, CONTAINER]}, "several containers"),
        ({"ProductionVariants": [VARIANT]}, {"PrimaryContainer": {"ModelPackageName": "p"}}, "model packages"),
    ],
)
def test_endpoints_that_nothing_here_serves_are_refused_as_such(config, model, words):
    code, message = refused(check_endpoint, {}, config, {"m": model})
    assert code == "NotImplemented"
    assert words in message


def test_what_is_right_passes():
    check_model({"PrimaryContainer": CONTAINER})
    check_config({"ProductionVariants": [VARIANT]})
    check_endpoint({}, {"ProductionVariants": [VARIANT]}, {"m": {"PrimaryContainer": CONTAINER}})
