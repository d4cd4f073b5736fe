"""Training jobs as canaries: from what SageMaker's DescribeTrainingJob says of them."""

import datetime

import pytest

from benchmarking.canary.training_jobs import TrainingJobError, canaries_of_jobs, read_training_jobs
from definitions.errors import UserError

START = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


def job(name, fraction, *, status="Completed", total_s=300, train_s=200, reason="", **given):
    at = [START + datetime.timedelta(seconds=s) for s in (0, total_s - train_s, total_s)]
    return {
        "TrainingJobName": name,
        "TrainingJobStatus": status,
        "FailureReason": reason,
        "HyperParameters": {"fraction": str(fraction), "lr": "0.1", "sagemaker_program": '"train.py"', **given},
        "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 2},
        "TrainingTimeInSeconds": total_s,
        "SecondaryStatusTransitions": [
            {"Status": "Downloading", "StartTime": at[0], "EndTime": at[1]},
            {"Status": "Training", "StartTime": at[1], "EndTime": at[2]},
        ],
    }


def test_times_instances_and_repeats_are_read():
    jobs = [job("a", 0.01), job("b", 0.01, total_s=310, train_s=205), job("c", 0.1, total_s=900, train_s=800)]
    table = canaries_of_jobs(jobs, "fraction")
    assert [(one.fraction, one.repeat) for one in table.canaries] == [(0.01, 0), (0.01, 1), (0.1, 0)]
    first = table.canaries[0]
    assert (first.startup_s, first.train_s, first.total_s, first.instance_count) == (100.0, 200.0, 300.0, 2)
    assert len({one.configuration for one in table.canaries}) == 1


def test_jobs_that_differ_in_more_than_their_fraction_are_different_configurations():
    table = canaries_of_jobs([job("a", 0.01, depth="3"), job("b", 0.01, depth="6")], "fraction")
    assert [one.configuration for one in table.canaries] == ["depth=3", "depth=6"]


def test_stopped_and_out_of_memory_jobs_are_what_they_are():
    table = canaries_of_jobs(
        [job("a", 0.01, status="Stopped"), job("b", 0.1, status="Failed", reason="AlgorithmError: exit code 137")], "fraction"
    )
    assert [one.status for one in table.canaries] == ["stopped", "out_of_memory"]


def test_a_job_without_a_fraction_and_one_that_is_unknown_are_told():
    with pytest.raises(UserError, match="--fraction_argument"):
        canaries_of_jobs([job("a", 0.01)], "share")

    class Client:
        def describe_training_job(self, TrainingJobName):  # noqa: N803 - AWS's name
            raise RuntimeError("ValidationException: Requested resource not found.")

    with pytest.raises(TrainingJobError, match="resource not found") as error:
        read_training_jobs(["nobody"], "us-east-1", "fraction", Client())
    assert error.value.exit_code == 5
