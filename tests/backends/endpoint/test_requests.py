"""Requests for a deployment: what the service is asked to serve, and how."""

from __future__ import annotations

import pytest

from backends.deployment import Deployment, ModelPackage
from backends.endpoint.requests import check_server, config_request, endpoint_request, model_request
from backends.job_spec import JobSpec
from backends.sagemaker.jobs.options import Options
from definitions.errors import UserError

OPTIONS = Options("us-east-1", "arn:aws:iam::123456789012:role/r", "b", "tag/x", image_cpu="cpu:1", image_gpu="gpu:1", tags={"team": "t"})
JOB = JobSpec("x-t1-a1", 1, 1, "load.py")


def deployment(mode="multi", server="triton", **fields):
    package = ModelPackage("resnet", "/r.tar.gz", "", "0" * 64, "onnx", (), (), 8)
    return Deployment((package,), mode, server, 1, fields.pop("instance_type", "ml.m5.xlarge"), **fields)


def test_many_models_are_those_below_the_prefix():
    found = model_request(JOB, deployment(memory_bytes=1000), OPTIONS, "s3://b/targets/")
    container = found["PrimaryContainer"]
    assert (found["ModelName"], container["Mode"], container["ModelDataUrl"]) == ("x-t1-a1", "MultiModel", "s3://b/targets/")
    assert container["Environment"] == {"OUTRIDER_SERVER": "triton", "OUTRIDER_MEMORY_BYTES": "1000"}
    assert container["Image"] == "cpu:1"
    tags = {one["Key"]: one["Value"] for one in found["Tags"]}
    assert (tags["outrider:tag"], tags["outrider:job"], tags["team"]) == ("tag", "x-t1-a1", "t")
    assert tags["outrider:deploy-key"] == deployment(memory_bytes=1000).key


def test_one_model_is_named_to_triton_and_an_instance_with_a_gpu_gets_the_image_for_it():
    found = model_request(JOB, deployment("single", instance_type="ml.g4dn.xlarge"), OPTIONS, "s3://b/m.tar.gz")["PrimaryContainer"]
    assert "Mode" not in found
    assert found["Environment"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "resnet"
    assert found["Image"] == "gpu:1"


@pytest.mark.parametrize(("deploy_s", "within_s"), [(1800.0, 1800), (5.0, 60), (9999.0, 3600)])
def test_the_time_to_come_up_is_what_the_service_allows_of_it(deploy_s, within_s):
    (variant,) = config_request(JOB, deployment(deploy_s=deploy_s, instance_count=3), OPTIONS)["ProductionVariants"]
    assert variant["ContainerStartupHealthCheckTimeoutInSeconds"] == variant["ModelDataDownloadTimeoutInSeconds"] == within_s
    assert (variant["InstanceType"], variant["InitialInstanceCount"], variant["ModelName"]) == ("ml.m5.xlarge", 3, "x-t1-a1")
    assert endpoint_request(JOB, deployment(), OPTIONS)["EndpointConfigName"] == "x-t1-a1"


def test_a_server_without_an_image_of_awss_needs_one_of_the_users():
    with pytest.raises(UserError, match=r"server ort on an endpoint in us-east-1\n  AWS has an image of triton"):
        check_server(deployment(server="ort"), OPTIONS, emulated=False, has_image=False)
    check_server(deployment(server="ort"), OPTIONS, emulated=True, has_image=False)
    check_server(deployment(server="ort"), OPTIONS, emulated=False, has_image=True)
    check_server(deployment(), OPTIONS, emulated=False, has_image=False)
