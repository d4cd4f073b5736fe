"""What a controller's generation cost: by billable seconds where the service tells them, else by the time it had its instance."""

from __future__ import annotations

import datetime

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.controllers.bill import GenerationCost, cost_of, costs_of
from backends.sagemaker.controllers.own_job import OwnJob

HOUR_USD = 0.115
"""Of ml.m5.large in us-east-1."""
BEGAN = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)


def described(name="ctl-1-g1", kind="ml.m5.large", **rest):
    return {
        "TrainingJobName": name,
        "TrainingJobStatus": "InProgress",
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
        "ResourceConfig": {"InstanceType": kind, "InstanceCount": 1},
        **rest,
    }


@pytest.mark.parametrize(
    ("rest", "seconds", "is_billed"),
    # Of a spot job fewer seconds are billable than it ran for.
    [({"BillableTimeInSeconds": 1800}, 1800.0, True), ({"BillableTimeInSeconds": 0}, 0.0, True), ({}, 7200.0, False)],
)
def test_billable_seconds_count_where_they_are_known(rest, seconds, is_billed):
    found = cost_of(OwnJob("InProgress", 3600.0, 7200.0, described(**rest)), "us-east-1")
    assert found == GenerationCost("ctl-1-g1", seconds, pytest.approx(seconds / 3600 * HOUR_USD), is_billed)


def test_when_it_was_is_told_as_far_as_it_came():
    times = {"CreationTime": BEGAN, "TrainingEndTime": BEGAN + datetime.timedelta(seconds=70)}
    found = cost_of(OwnJob("Completed", 3600.0, 60.0, described(**times)), "us-east-1")
    assert (found.began_at, found.ended_at) == (BEGAN.timestamp(), BEGAN.timestamp() + 70.0)
    assert cost_of(OwnJob("InProgress", 3600.0, 60.0, described(CreationTime=BEGAN)), "us-east-1").ended_at is None


def test_what_has_no_price_has_seconds_alone():
    found = cost_of(OwnJob("InProgress", 3600.0, 60.0, described(kind="ml.none.large")), "us-east-1")
    assert (found.seconds, found.usd) == (60.0, None)


class Service:
    """Describes three jobs: one that runs, one that never was, one that may not be looked at."""

    region = "us-east-1"

    def get(self, service, attempts=None):
        return self

    def describe_training_job(self, **given):
        name = given["TrainingJobName"]
        if name == "never":
            raise ClientError({"Error": {"Code": "ValidationException", "Message": "Requested resource not found."}}, "DescribeTrainingJob")
        if name == "denied":
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "DescribeTrainingJob")
        date = (BEGAN + datetime.timedelta(seconds=90)).strftime("%a, %d %b %Y %H:%M:%S GMT")
        return described(
            name,
            SecondaryStatusTransitions=[{"Status": "Training", "StartTime": BEGAN}],
            ResponseMetadata={"HTTPHeaders": {"date": date}},
        )


def test_a_job_that_never_was_costs_nothing_and_one_that_may_not_be_looked_at_is_unknown():
    running, denied = costs_of(Service(), ["runs", "never", "denied"])
    assert running == GenerationCost("runs", 90.0, pytest.approx(90 / 3600 * HOUR_USD), is_billed=False)
    assert denied == GenerationCost("denied")
