"""Controllers on the emulator: created once, however often they are asked for, and refused in words."""

from __future__ import annotations

import pytest
from botocore.exceptions import ReadTimeoutError

from backends.emulator import Emulator, Settings
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CloudError
from backends.sagemaker.controllers.creation import create_controller, shown, tags_of
from backends.sagemaker.controllers.options import ControllerOptions
from backends.sagemaker.controllers.request import controller_request
from backends.sagemaker.jobs.resolve_options import EMULATED_ROLE

pytestmark = pytest.mark.slow


@pytest.fixture
def emulator():
    with Emulator(settings=Settings(quotas={"ml.c5.xlarge for training job usage": 0, **Settings().quotas})) as running:
        running.create_bucket("bucket")
        yield running


def request(instance_type: str = "ml.m5.large"):
    options = ControllerOptions(EMULATED_ROLE, "123456789012.dkr.ecr.us-east-1.amazonaws.com/image:1", instance_type)
    return controller_request(options, "t", "n", 1, 1, "s3://bucket/outrider/runs/t", "s3://bucket/outrider/code/0/")


def test_a_controller_that_is_there_already_is_not_made_twice(emulator):
    clients = Clients("us-east-1", emulator.environment)
    create_controller(clients, request())
    create_controller(clients, request())
    found = shown(clients, request()["TrainingJobName"])
    assert found is not None
    assert len(emulator.client("sagemaker").list_training_jobs()["TrainingJobSummaries"]) == 1
    assert {one["Key"]: one["Value"] for one in tags_of(clients, found.description["TrainingJobArn"])}["outrider:controller"] == "1"


def test_one_that_nobody_made_is_none(emulator):
    assert shown(Clients("us-east-1", emulator.environment), "ctl-000000-00000000-g1") is None


def test_a_quota_that_refuses_is_named(emulator):
    clients = Clients("us-east-1", emulator.environment)
    with pytest.raises(CloudError, match=r"ctl-.*-g1 could not be created\n.*ml.c5.xlarge for training job usage"):
        create_controller(clients, request("ml.c5.xlarge"))


class Unanswered(Clients):
    """Clients whose first CreateTrainingJob takes effect without an answer."""

    failed = 0

    def get(self, service, attempts=None):
        client = super().get(service, attempts)
        return self if service == "sagemaker" and not self.failed else client

    def create_training_job(self, **request):
        self.failed += 1
        super().get("sagemaker").create_training_job(**request)
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")


def test_a_create_that_was_not_answered_is_recognised_as_its_own(emulator):
    clients = Unanswered("us-east-1", emulator.environment)
    create_controller(clients, request())
    assert clients.failed == 1
    assert shown(clients, request()["TrainingJobName"]) is not None
