"""Requests that the service refuses: by its model, by the documentation's prose."""

from __future__ import annotations

import pytest

from backends.emulator.http.errors import ServiceError
from backends.emulator.training.limits import check_create
from backends.emulator.training.validation import RequestValidator
from definitions.errors import UserError

BASE = {
    "TrainingJobName": "a-1",
    "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
    "RoleArn": "arn:aws:iam::123456789012:role/trainer",
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 60},
}


@pytest.fixture(scope="module")
def model():
    return RequestValidator("sagemaker")


def check(model, request):
    model.check("CreateTrainingJob", request)
    check_create(request, keep_alive_max_s=3600)


def refusal(model, **changes):
    request = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    with pytest.raises(ServiceError) as caught:
        check(model, request)
    assert caught.value.code == "ValidationException"
    return caught.value.message


def accepted(model, **changes):
    check(model, {**BASE, **changes})
    return True


def channels(count, **rest):
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/x"}}
    return [{"ChannelName": f"c{number}", "DataSource": source, **rest} for number in range(count)]


@pytest.mark.parametrize("name", ["bad_name", "-a", "a-", "ä", "a b", "a" * 64, ""])
def test_a_bad_name_is_named(model, name):
    message = refusal(model, TrainingJobName=name)
    assert "at 'trainingJobName' failed to satisfy constraint" in message


@pytest.mark.parametrize("name", ["a", "a-b", "a--b", "A" * 63, "0"])
def test_a_good_name_passes(model, name):
    assert accepted(model, TrainingJobName=name)


def test_several_errors_are_counted(model):
    message = refusal(model, TrainingJobName="bad_name", RoleArn="short")
    assert message.startswith("3 validation errors detected: ")  # the role breaks its length and its pattern
    assert "Member must have length greater than or equal to 20" in message


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("HyperParameters", {f"k{number}": "v" for number in range(101)}, "length less than or equal to 100"),
        ("HyperParameters", {"k" * 257: "v"}, "length less than or equal to 256"),
        ("HyperParameters", {"k": "v" * 2501}, "length less than or equal to 2500"),
        ("Environment", {f"K{number}": "v" for number in range(101)}, "length less than or equal to 100"),
        ("Environment", {"1K": "v"}, "regular expression pattern"),
        ("Environment", {"K": "v" * 513}, "length less than or equal to 512"),
        ("Tags", [{"Key": f"k{number}", "Value": ""} for number in range(51)], "length less than or equal to 50"),
        ("Tags", [{"Key": "k" * 129, "Value": ""}], "length less than or equal to 128"),
        ("InputDataConfig", channels(21), "length less than or equal to 20"),
        ("InputDataConfig", [], "length greater than or equal to 1"),
        ("InputDataConfig", channels(1, InputMode="Fast"), "enum value set: [Pipe, File, FastFile]"),
        ("RetryStrategy", {"MaximumRetryAttempts": 31}, "value less than or equal to 30"),
        ("StoppingCondition", {"MaxRuntimeInSeconds": 0}, "value greater than or equal to 1"),
        ("ResourceConfig", {"InstanceType": "ml.zz9.xlarge", "InstanceCount": 1}, "enum value set"),
        ("OutputDataConfig", {"S3OutputPath": "/tmp/out"}, "regular expression pattern"),
        ("RoleArn", None, "at 'roleArn' failed to satisfy constraint: Member must not be null"),
    ],
)
def test_the_model_s_limits_hold(model, part, value, words):
    assert words in refusal(model, **{part: value})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"StoppingCondition": None}, "StoppingCondition is required"),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 28 * 86400 + 1}}, "at most 2419200"),
        ({"EnableManagedSpotTraining": True}, "MaxWaitTimeInSeconds"),
        (
            {"EnableManagedSpotTraining": True, "StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 59}},
            "greater than or equal",
        ),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 60}}, "EnableManagedSpotTraining is not true"),
        ({"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "KeepAlivePeriodInSeconds": 3601}}, "at most 3600"),
        ({"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 0}}, "at least 1"),
        (
            {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstancePreferences": [{"InstanceType": "ml.m5.large"}]}},
            "cannot be used with",
        ),
        ({"AlgorithmSpecification": {"TrainingInputMode": "File"}}, "exactly one of TrainingImage and AlgorithmName"),
        ({"InputDataConfig": channels(1) * 2}, "must be unique"),
        ({"InputDataConfig": [{"ChannelName": "c", "DataSource": {}}]}, "exactly one of its members"),
        ({"Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]}, "Duplicate tag keys"),
        ({"Tags": [{"Key": "aws:a", "Value": "1"}]}, "reserved"),
        ({"ProfilerConfig": {"S3OutputPath": "s3://b/x", "ProfilingIntervalInMilliseconds": 300}}, "must be one of 100, 200, 500"),
        ({"CheckpointConfig": {"S3Uri": "s3://b/x", "LocalPath": "here"}}, "absolute path"),
    ],
)
def test_the_prose_s_limits_hold(model, changes, words):
    assert words in refusal(model, **changes)


def test_a_wrong_metric_expression_is_refused(model):
    algorithm = {**BASE["AlgorithmSpecification"], "MetricDefinitions": [{"Name": "loss", "Regex": "loss=("}]}
    assert "Invalid MetricDefinition regex" in refusal(model, AlgorithmSpecification=algorithm)


def test_keep_alive_excludes_spot(model):
    resources = {**BASE["ResourceConfig"], "KeepAlivePeriodInSeconds": 60}
    stopping = {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 60}
    assert "managed spot" in refusal(model, ResourceConfig=resources, EnableManagedSpotTraining=True, StoppingCondition=stopping)


def test_a_value_of_another_type_is_a_serialization_error(model):
    with pytest.raises(ServiceError) as caught:
        model.check("DescribeTrainingJob", {"TrainingJobName": 3})
    assert caught.value.code == "SerializationException"


def test_tags_may_hold_letters_of_any_script(model):
    assert accepted(model, Tags=[{"Key": "Größe", "Value": "ж/1 +-@"}])
    assert "regular expression" in refusal(model, Tags=[{"Key": "a#b", "Value": ""}])


def test_a_tag_has_blanks_of_any_script_and_neither_tabs_nor_ends_of_lines(model):
    def check(value):
        model.check("CreateTrainingJob", {**BASE, "Tags": [{"Key": "team", "Value": value}]})

    check("a b\u00a0c\u3000d")
    for wrong in ("a\tb", "a\nb", "a\u0085b"):
        with pytest.raises(ServiceError, match=r"tags\.1\.member\.value"):
            check(wrong)


def test_a_profile_that_is_not_there_is_wrong_use(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "gone")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(UserError, match=r"AWS_PROFILE is set[\s\S]*\(gone\) could not be found[\s\S]*unset it"):
        RequestValidator("sagemaker")
