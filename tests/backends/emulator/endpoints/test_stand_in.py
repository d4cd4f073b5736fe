"""What stands in for a container: which server, how much memory, where the models are."""

from __future__ import annotations

import pytest

from backends.emulator.endpoints.resource import HostingResource
from backends.emulator.endpoints.stand_in import FrontPlaces, front_settings, server_of

TRITON = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:24.09-py3"
MMS = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-inference:2.5"


@pytest.mark.parametrize(
    ("image", "asked", "absent", "server"),
    [
        (TRITON, "", (), "triton"),
        (TRITON, "", ("triton",), "ort"),
        (TRITON, "triton", ("triton",), "ort"),
        (TRITON, "ort", (), "ort"),
        (MMS, "", (), "mms"),
        ("mine:1", "", (), "ort"),
        ("mine:1", "triton", ("triton",), "triton"),
    ],
)
def test_an_image_is_stood_in_for_by_what_is_here(image, asked, absent, server):
    container = {"Image": image, "Environment": {"OUTRIDER_SERVER": asked} if asked else {}}
    assert server_of(container, lambda name: "not installed" if name in absent else "") == server


def settings(container, memory=None):
    variant = {"VariantName": "blue", "ModelName": "m", "InstanceType": "ml.m5.large", "ContainerStartupHealthCheckTimeoutInSeconds": 90}
    endpoint = HostingResource(
        "endpoint", "e", 1, {}, {}, 0.0, None, {"ProductionVariants": [variant]}, {"m": {"PrimaryContainer": container}}
    )
    return front_settings(endpoint, FrontPlaces("/w", "/l", "http://127.0.0.1:1", "us-east-1", "key"), memory, lambda name: "")


def test_many_models_are_fetched_below_the_prefix_as_they_are_called():
    found = settings({"Image": "i", "Mode": "MultiModel", "ModelDataUrl": "s3://b/models/"}, 8 << 30)
    assert (found.mode, found.uri, found.model, dict(found.uris)) == ("multi", "s3://b/models/", "", {})
    assert (found.limit_bytes, found.start_s, found.variant, found.endpoint) == (8 << 30, 90.0, "blue", "e")


def test_one_model_is_its_archive_and_its_memory_what_the_container_says():
    found = settings({"Image": "i", "ModelDataUrl": "s3://b/m.tar.gz", "Environment": {"OUTRIDER_MEMORY_BYTES": "1000"}}, 8 << 30)
    assert (found.mode, found.uris[found.model], found.uri, found.limit_bytes) == ("single", "s3://b/m.tar.gz", "", 1000)
