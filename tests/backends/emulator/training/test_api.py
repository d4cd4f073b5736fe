"""The control plane by unmodified boto3: a job runs, is described, listed, tagged, searched, stopped, updated, deleted."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.slow


def code(caught):
    return caught.value.response["Error"]["Code"], caught.value.response["Error"]["Message"]


def test_a_job_runs_and_the_waiter_sees_its_end(bench):
    name = bench.shell(
        "echo hello; echo weights > /opt/ml/model/w.txt"
        if bench.emulator.isolation != "none"
        else "echo hello; echo weights > $SM_MODEL_DIR/w.txt"
    )
    bench.sagemaker.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    job = bench.describe(name)
    assert bench.statuses(name) == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    assert job["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://bucket/out/{name}/output/model.tar.gz"
    assert bench.archive(job["ModelArtifacts"]["S3ModelArtifacts"]) == {"w.txt": b"weights\n"}
    assert bench.lines(name) == ["hello"]
    assert job["BillableTimeInSeconds"] == job["TrainingTimeInSeconds"]
    assert job["CreationTime"] <= job["TrainingStartTime"] <= job["TrainingEndTime"] == job["LastModifiedTime"]


def test_describe_gives_back_what_was_asked(bench):
    request = bench.request(
        HyperParameters={"lr": "0.1"},
        Environment={"A": "b"},
        RetryStrategy={"MaximumRetryAttempts": 2},
        ProfilerConfig={"S3OutputPath": "s3://bucket/profiler", "DisableProfiler": True},
        algorithm={"MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}]},
        Tags=[{"Key": "team", "Value": "a"}],
    )
    bench.sagemaker.create_training_job(**request)
    job = bench.ended(request["TrainingJobName"])
    for part in ("HyperParameters", "Environment", "RetryStrategy", "ProfilerConfig", "RoleArn", "ResourceConfig"):
        assert job[part] == request[part]
    assert job["AlgorithmSpecification"]["MetricDefinitions"] == request["AlgorithmSpecification"]["MetricDefinitions"]
    assert job["AlgorithmSpecification"]["EnableSageMakerMetricsTimeSeries"] is True
    assert job["ProfilingStatus"] == "Disabled"
    assert "Tags" not in job
    assert "FinalMetricDataList" not in job


def test_managed_mlflow_is_kept_and_an_address_that_is_none_is_refused(bench):
    config = {
        "MlflowResourceArn": "arn:aws:sagemaker:us-east-1:123456789012:mlflow-tracking-server/team",
        "MlflowExperimentName": "tag/demo",
        "MlflowRunName": "run",
    }
    name = bench.submit(MlflowConfig=config)
    assert bench.completed(name)["MlflowConfig"] == config
    with pytest.raises(ClientError) as caught:
        bench.submit(MlflowConfig={**config, "MlflowResourceArn": "http://127.0.0.1:5000"})
    assert code(caught)[0] == "ValidationException"
    assert "'mlflowConfig.mlflowResourceArn' failed to satisfy constraint" in code(caught)[1]


def test_the_last_value_of_each_metric_is_final(bench):
    name = bench.shell(
        'for i in 3 2 1; do echo "loss=0.$i"; done; echo acc=nan',
        algorithm={"MetricDefinitions": [{"Name": "loss", "Regex": r"loss=([0-9.]+)"}, {"Name": "acc", "Regex": "acc=(.*)"}]},
    )
    metrics = bench.completed(name)["FinalMetricDataList"]
    assert [(one["MetricName"], round(one["Value"], 6)) for one in metrics] == [("loss", 0.1)]


@pytest.mark.parametrize("failing", ["create", "describe", "stop", "delete"])
def test_unknown_and_taken_names(bench, failing):
    if failing == "create":
        name = bench.submit()
        with pytest.raises(bench.sagemaker.exceptions.ResourceInUse) as caught:
            bench.submit(name=name)
        assert f"already exists (arn:aws:sagemaker:us-east-1:123456789012:training-job/{name})" in code(caught)[1]
        bench.completed(name)
        return
    with pytest.raises(ClientError) as caught:
        getattr(bench.sagemaker, f"{failing}_training_job")(TrainingJobName="nobody")
    assert code(caught) == ("ValidationException", "Requested resource not found.")


def test_of_two_jobs_of_one_name_at_once_one_is_made(bench):
    name = bench.name("twin")
    results = []

    def create():
        try:
            bench.sagemaker.create_training_job(**bench.request(name=name))
            results.append("made")
        except ClientError as error:
            results.append(error.response["Error"]["Code"])

    bench.sagemaker  # noqa: B018 (made once, before the threads)
    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["ResourceInUse"] * 7 + ["made"]
    bench.completed(name)


def test_a_request_that_boto3_lets_through_is_refused(bench):
    with pytest.raises(ClientError) as caught:
        bench.submit(name="bad_name")
    kind, message = code(caught)
    assert kind == "ValidationException"
    assert message.startswith("1 validation error detected: Value 'bad_name' at 'trainingJobName'")


def test_pages_are_cut_before_the_status_filter(started):
    bench = started()
    names = [bench.shell("exit 1" if number in (0, 1, 5) else "true", name=f"p-{number}") for number in range(7)]
    for name in names:
        bench.ended(name)
    client = bench.sagemaker
    pages = list(client.get_paginator("list_training_jobs").paginate(StatusEquals="Failed", PaginationConfig={"PageSize": 2}))
    shown = [[job["TrainingJobName"] for job in page["TrainingJobSummaries"]] for page in pages]
    # Newest first: (6 5) (4 3) (2 1) (0).
    assert shown == [["p-5"], [], ["p-1"], ["p-0"]]
    assert len(client.list_training_jobs()["TrainingJobSummaries"]) == 7
    ordered = client.list_training_jobs(SortBy="Name", SortOrder="Ascending", NameContains="p-", MaxResults=3)
    assert [job["TrainingJobName"] for job in ordered["TrainingJobSummaries"]] == ["p-0", "p-1", "p-2"]
    # A job that comes in between moves nothing to another page.
    first = client.list_training_jobs(MaxResults=2)
    bench.completed(bench.submit(name="p-7"))
    second = client.list_training_jobs(MaxResults=2, NextToken=first["NextToken"])
    assert [job["TrainingJobName"] for job in second["TrainingJobSummaries"]] == ["p-4", "p-3"]
    created = bench.describe("p-0")["CreationTime"]
    day = timedelta(days=1)
    assert len(client.list_training_jobs(CreationTimeAfter=created - day, CreationTimeBefore=created + day)["TrainingJobSummaries"]) == 8
    assert client.list_training_jobs(CreationTimeBefore=created - day)["TrainingJobSummaries"] == []
    with pytest.raises(ClientError) as caught:
        client.list_training_jobs(NextToken="???")
    assert code(caught)[0] == "ValidationException"


def test_tags(bench):
    name = bench.submit(Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    arn = bench.completed(name)["TrainingJobArn"]
    bench.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "b", "Value": "3"}, {"Key": "c", "Value": "4"}])
    bench.sagemaker.delete_tags(ResourceArn=arn, TagKeys=["a"])
    tags = bench.sagemaker.get_paginator("list_tags").paginate(ResourceArn=arn).build_full_result()["Tags"]
    assert tags == [{"Key": "b", "Value": "3"}, {"Key": "c", "Value": "4"}]
    with pytest.raises(ClientError) as caught:
        bench.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": f"k{number}", "Value": ""} for number in range(49)])
    assert "at most 50 tags" in code(caught)[1]


def test_search(bench):
    names = [
        bench.submit(HyperParameters={"lr": lr, "st.x": "1"}, Tags=[{"Key": "study", "Value": "searched"}]) for lr in ("0.1", "0.5", "0.9")
    ]
    for name in names:
        bench.completed(name)

    def found(*filters, **rest):
        expression = {"Filters": [{"Name": "Tags.study", "Operator": "Equals", "Value": "searched"}, *filters]}
        pages = bench.sagemaker.get_paginator("search").paginate(Resource="TrainingJob", SearchExpression=expression, **rest)
        return [result["TrainingJob"]["TrainingJobName"] for page in pages for result in page["Results"]]

    assert sorted(found()) == sorted(names)
    assert (
        found({"Name": "HyperParameters.lr", "Operator": "GreaterThan", "Value": "0.2"}, SortBy="HyperParameters.lr", SortOrder="Ascending")
        == names[1:]
    )
    assert found({"Name": "TrainingJobStatus", "Operator": "NotEquals", "Value": "Completed"}) == []
    assert found({"Name": "FailureReason", "Operator": "Exists"}) == []
    assert found(SortBy="CreationTime", SortOrder="Descending", PaginationConfig={"PageSize": 1}) == names[::-1]


def test_a_job_is_deleted_and_its_name_is_free(bench):
    name = bench.shell("echo one; sleep 60")
    bench.printed(name, "one")
    with pytest.raises(bench.sagemaker.exceptions.ResourceInUse):
        bench.sagemaker.delete_training_job(TrainingJobName=name)
    bench.sagemaker.stop_training_job(TrainingJobName=name)
    bench.ended(name)
    bench.sagemaker.delete_training_job(TrainingJobName=name)
    with pytest.raises(ClientError):
        bench.describe(name)
    bench.shell("echo two", name=name)
    bench.completed(name)
    assert bench.lines(name) == ["two"]


def test_instance_preferences_take_the_first_with_capacity(started):
    bench = started(faults=[{"kind": "capacity", "instance_type": "ml.p5.48xlarge"}])
    request = bench.request()
    preferred = [{"InstanceType": "ml.p5.48xlarge", "InstanceCount": 1}, {"InstanceType": "ml.g5.xlarge", "InstanceCount": 2}]
    request["ResourceConfig"] = {"VolumeSizeInGB": 1, "InstancePreferences": preferred}
    bench.sagemaker.create_training_job(**request)
    job = bench.completed(request["TrainingJobName"])
    assert (job["ResourceConfig"]["SelectedInstanceType"], job["ResourceConfig"]["SelectedInstanceCount"]) == ("ml.g5.xlarge", 2)


def test_a_job_without_a_program_says_what_is_missing(bench):
    name = bench.submit(None)
    assert "ClientError: no program for image image:1" in bench.ended(name)["FailureReason"]


def test_settings_may_know_an_image_s_program(started):
    bench = started(settings={"images": {"*/xgboost:*": ("sh", "-c", 'echo "trained $0"')}})
    name = bench.submit(None, algorithm={"TrainingImage": "123.dkr.ecr/xgboost:1", "ContainerArguments": ["well"]})
    bench.completed(name)
    assert bench.lines(name) == ["trained well"]


def test_a_missing_bucket_fails_the_upload(bench):
    name = bench.submit(OutputDataConfig={"S3OutputPath": "s3://no-such-bucket/out"})
    assert bench.ended(name)["FailureReason"].startswith("ClientError: Artifact upload failed: The specified bucket does not exist")
