"""A bench for endpoints: makes models, configurations and endpoints by boto3, and waits for their statuses."""

from __future__ import annotations

import itertools

from botocore.exceptions import ClientError

from tests.waiting import looks

ROLE = "arn:aws:iam::123456789012:role/host"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:24.09-py3"
_NUMBERS = itertools.count(1)


def refused(call, **request):
    """Return the code and the message that a call is refused with."""
    try:
        call(**request)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response["Error"]["Message"]
    raise AssertionError(f"{call} was not refused")


class HostingBench:
    """Endpoints of an emulator.

    Args:
        emulator: that runs.
    """

    def __init__(self, emulator):
        self.emulator = emulator
        self.sagemaker = emulator.client("sagemaker")

    def parts(self, name=None, instance_type="ml.m5.large", count=1, container=None):
        """Make a model and a configuration of one name and return it."""
        name = name or f"host-{next(_NUMBERS)}"
        primary = container or {"Image": IMAGE, "Mode": "MultiModel", "ModelDataUrl": "s3://bucket/models/"}
        self.sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=primary)
        variant = {"VariantName": "AllTraffic", "ModelName": name, "InstanceType": instance_type, "InitialInstanceCount": count}
        self.sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[variant])
        return name

    def endpoint(self, name=None, **parts):
        """Make an endpoint with its parts and return its name."""
        name = self.parts(name, **parts)
        self.sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)
        return name

    def describe(self, name):
        return self.sagemaker.describe_endpoint(EndpointName=name)

    def until(self, name, status, deadline_s=100.0):
        for _ in looks(deadline_s):
            found = self.describe(name)
            if found["EndpointStatus"] == status:
                return found
        raise AssertionError(found)

    def gone(self, name, deadline_s=100.0):
        for _ in looks(deadline_s):
            if not [one for one in self.sagemaker.list_endpoints(NameContains=name)["Endpoints"] if one["EndpointName"] == name]:
                return
        raise AssertionError(self.describe(name))
