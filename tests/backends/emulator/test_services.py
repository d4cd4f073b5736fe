"""The services beside: identity, quotas, prices, what moto does, and calls to the emulator itself."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from definitions.instance_tables import load_tables
from tests.backends.emulator import asking
from tests.backends.emulator.asking import control

pytestmark = pytest.mark.slow


def call(bench, method, path, data=None, kind="application/json"):
    return control(bench.emulator.environment, method, path, data, kind)


def test_who_one_is(bench):
    assert bench.client("sts").get_caller_identity()["Account"] == "123456789012"
    role = bench.client("sts").assume_role(RoleArn="arn:aws:iam::123456789012:role/r", RoleSessionName="me")
    assert role["AssumedRoleUser"]["Arn"] == "arn:aws:sts::123456789012:assumed-role/r/me"


def test_a_role_and_what_it_may(bench):
    iam = bench.client("iam")
    arn = iam.get_role(RoleName="trainer")["Role"]["Arn"]
    assert arn == "arn:aws:iam::123456789012:role/trainer"
    answer = iam.simulate_principal_policy(PolicySourceArn=arn, ActionNames=["s3:GetObject", "logs:PutLogEvents"])
    assert [(one["EvalActionName"], one["EvalDecision"]) for one in answer["EvaluationResults"]] == [
        ("s3:GetObject", "allowed"),
        ("logs:PutLogEvents", "allowed"),
    ]


def test_quotas_are_those_that_are_enforced(started):
    bench = started(quotas={"ml.m5.large for training job usage": 3, "*": 7})
    quotas = bench.client("service-quotas")
    listed = [one for page in quotas.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker") for one in page["Quotas"]]
    values = {one["QuotaName"]: one for one in listed}
    assert len(values) == len(listed) > 600
    assert values["ml.m5.large for training job usage"]["Value"] == 3.0
    assert values["ml.m5.large for training warm pool usage"]["Value"] == 7.0
    bench.emulator.add_faults([{"kind": "quota", "quota": "ml.m5.large for training job usage", "limit": 1}])
    one = quotas.get_service_quota(ServiceCode="sagemaker", QuotaCode=values["ml.m5.large for training job usage"]["QuotaCode"])
    assert one["Quota"]["Value"] == 1.0
    with pytest.raises(quotas.exceptions.NoSuchResourceException):
        quotas.get_service_quota(ServiceCode="sagemaker", QuotaCode="L-0")


def test_prices_are_those_of_the_table(bench):
    pricing = bench.client("pricing")
    filters = [
        {"Type": "TERM_MATCH", "Field": "instanceName", "Value": "ml.m5.large"},
        {"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-east-1"},
        {"Type": "TERM_MATCH", "Field": "component", "Value": "Training"},
    ]
    products = [json.loads(one) for one in pricing.get_products(ServiceCode="AmazonSageMaker", Filters=filters)["PriceList"]]
    (term,) = products[0]["terms"]["OnDemand"].values()
    (dimension,) = term["priceDimensions"].values()
    assert len(products) == 1
    assert float(dimension["pricePerUnit"]["USD"]) == load_tables().prices["ml.m5.large", "us-east-1"].usd_per_hour
    filters[0]["Value"] = "ml.zz9.xlarge"
    assert pricing.get_products(ServiceCode="AmazonSageMaker", Filters=filters)["PriceList"] == []


def test_the_rest_is_moto_s(bench):
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
        with pytest.raises(ClientError) as caught:
            bench.client("ecr").describe_repositories()
        assert "moto" in str(caught.value)
        return
    ecr = bench.client("ecr")
    ecr.create_repository(repositoryName="images")
    assert [one["repositoryName"] for one in ecr.describe_repositories()["repositories"]] == ["images"]


def test_faults_come_and_go_while_it_runs(started):
    bench = started()
    assert call(bench, "POST", "faults", [{"kind": "throttle", "operation": "ListTrainingJobs", "rate_per_s": 0.001}]) == (
        200,
        {"added": 1},
    )
    bench.sagemaker.list_training_jobs()
    with pytest.raises(ClientError) as caught:
        bench.sagemaker.list_training_jobs()
    assert caught.value.response["Error"] == {"Code": "ThrottlingException", "Message": "Rate exceeded"}
    assert call(bench, "GET", "faults")[1][0]["operation"] == "ListTrainingJobs"
    assert call(bench, "POST", "faults/clear", {"kind": "throttle"})[0] == 200
    bench.sagemaker.list_training_jobs()


def test_an_expired_token(started):
    bench = started(faults=[{"kind": "expired_token", "after": 1, "times": 3}])
    bench.sagemaker.list_training_jobs()
    for service, operation, code in (
        ("sagemaker", "list_training_jobs", "ExpiredTokenException"),
        ("s3", "list_buckets", "ExpiredToken"),
        ("sts", "get_caller_identity", "ExpiredToken"),
    ):
        with pytest.raises(ClientError) as caught:
            getattr(bench.client(service), operation)()
        assert caught.value.response["Error"]["Code"] == code
    bench.sagemaker.list_training_jobs()


@pytest.mark.parametrize(
    ("method", "path", "data", "kind", "status", "words"),
    [
        ("POST", "faults", [{"kind": "trottle"}], "application/json", 400, "did you mean 'throttle'"),
        ("POST", "faults", [], "text/plain", 415, "application/json"),
        ("POST", "interrupt", {}, "application/json", 400, "a JSON object"),
        ("POST", "interrupt", {"job": "nobody"}, "application/json", 409, "not found"),
        ("GET", "nothing", None, "application/json", 404, "GET /_emulator/state"),
    ],
)
def test_wrong_calls_say_why(bench, method, path, data, kind, status, words):
    found, answer = call(bench, method, path, data, kind)
    assert (found, words in answer["error"]) == (status, True)


def test_only_this_machine_can_reach_it(bench):
    assert bench.emulator.endpoint_url.startswith("http://127.0.0.1:")
    assert set(bench.emulator.environment) == {
        "AWS_ENDPOINT_URL",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_DEFAULT_REGION",
        "AWS_REGION",
        "AWS_EC2_METADATA_DISABLED",
        "SAGEMAKER_USER_CONFIG_OVERRIDE",
    }


def test_what_would_lead_elsewhere_is_exported_over(bench, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "https://s3.example")
    monkeypatch.setenv("AWS_USE_FIPS_ENDPOINT", "true")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet")
    found = bench.emulator.environment
    assert found["AWS_ENDPOINT_URL_S3"] == bench.emulator.endpoint_url
    assert (found["AWS_USE_FIPS_ENDPOINT"], found["NO_PROXY"]) == ("false", "intranet,127.0.0.1")


def test_the_sdk_s_configuration_names_a_bucket_that_is_there(bench):
    import yaml

    found = Path(bench.emulator.environment["SAGEMAKER_USER_CONFIG_OVERRIDE"])
    modules = yaml.safe_load(found.read_text())["SageMaker"]["PythonSDK"]["Modules"]
    assert modules == {"TelemetryOptOut": True, "Session": {"DefaultS3Bucket": "sagemaker-us-east-1-123456789012"}}
    bench.s3.head_bucket(Bucket=modules["Session"]["DefaultS3Bucket"])
    assert found.stat().st_mode & 0o077 == 0


def test_nulls_are_taken_for_absent(bench):
    request = {**bench.request(), "VpcConfig": None, "HyperParameters": None, "Tags": None}
    assert asking.sagemaker(bench.emulator, "CreateTrainingJob", request)[0] == 200
    bench.completed(request["TrainingJobName"])


def test_an_interruption_can_be_told_while_it_runs(bench):
    spot = {"EnableManagedSpotTraining": True, "stopping": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 60}}
    name = bench.shell(
        "test -e $SM_CHECKPOINT_DIR/x && exit; echo > $SM_CHECKPOINT_DIR/x; echo ready; sleep 60",
        **spot,
        CheckpointConfig={"S3Uri": "s3://bucket/ck/told"},
    )
    bench.printed(name, "ready")
    bench.until(name, lambda job: job["SecondaryStatus"] == "Training")
    assert call(bench, "POST", "interrupt", {"job": name})[0] == 200
    bench.completed(name)
    assert bench.statuses(name).count("Interrupted") == 1
    other = bench.shell("echo ready; sleep 60")
    bench.printed(other, "ready")
    assert call(bench, "POST", "interrupt", {"job": other}) == (400, {"error": "only a job of managed spot training can be interrupted"})
    bench.sagemaker.stop_training_job(TrainingJobName=other)


def test_garbage_is_answered_with_an_error(bench):
    status, answer = asking.sagemaker(bench.emulator, "ListTrainingJobs", b"{")
    assert (status, answer["__type"]) == (400, "SerializationException")


def test_cloudwatch_has_the_metrics_of_jobs_as_the_sdk_asks_for_them(bench):
    import datetime

    definitions = [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]
    name = bench.shell("echo loss=0.5; echo loss=0.3", algorithm={"MetricDefinitions": definitions})
    job = bench.completed(name)
    cloudwatch = bench.client("cloudwatch")
    where = {"Namespace": "/aws/sagemaker/TrainingJobs", "Dimensions": [{"Name": "TrainingJobName", "Value": name}]}
    assert [one["MetricName"] for one in cloudwatch.list_metrics(**where)["Metrics"]][:1] == ["loss"]
    hour = datetime.timedelta(hours=1)
    asked = {"StartTime": job["TrainingStartTime"] - hour, "EndTime": job["TrainingEndTime"] + hour, "Period": 7200}
    found = cloudwatch.get_metric_statistics(MetricName="loss", Statistics=["Average", "SampleCount"], **where, **asked)["Datapoints"]
    assert sum(point["SampleCount"] for point in found) == 2
    assert sum(point["Average"] * point["SampleCount"] for point in found) == pytest.approx(0.8)
