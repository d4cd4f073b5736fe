import json
from dataclasses import replace

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from backends.emulator.training.limits import check_create
from backends.emulator.training.validation import RequestValidator
from backends.job_input import JobInput
from backends.job_spec import JobSpec, Limits
from backends.sagemaker.block import allowed
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.request import (
    ENTRYPOINT,
    arguments_fit,
    program_parameters,
    shown_parameters,
    start_document,
    training_job,
)
from definitions.errors import UserError

CODE = "s3://bucket/outrider/code/0123456789abcdef/"
CPU, GPU = "1.dkr.ecr.eu-west-1.amazonaws.com/a:cpu", "1.dkr.ecr.eu-west-1.amazonaws.com/a:gpu"
OPTIONS = Options(
    *("eu-west-1", "arn:aws:iam::123456789012:role/trainer", "bucket", "tag/demo-0a1b2c-01234567"),
    image_cpu=CPU,
    image_gpu=GPU,
    script="train.py",
    benchmark="demo",
)
JOB = JobSpec(
    name="demo-0a1b2c-01234567-t7-a2",
    trial=7,
    attempt=2,
    script="/code/train.py",
    arguments=("--epochs=3", "--optimizer=adam"),
    parameters={"epochs": 3, "optimizer": "adam", "lr": 0.5, "flag": True, "text": "3"},
    environment={"OUTRIDER_INSTANCE_TYPE": "ml.m5.xlarge", "OUTRIDER_SEED": "17"},
    instance_type="ml.m5.xlarge",
    configuration={"optimizer": "adam", "instance_type": "ml.m5.xlarge", "lr": 0.5, "flag": True, "text": "3"},
    checkpoint="trial-7",
    limits=Limits(59.2, 120.0),
)
VPC = {"subnets": ("subnet-1",), "security_groups": ("sg-1",)}


@pytest.fixture(scope="module")
def model():
    return RequestValidator("sagemaker")


@pytest.fixture(scope="module")
def made(model):
    """Make a request that botocore and SageMaker's documented rules accept."""
    shape = get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape

    def make(job=JOB, options=OPTIONS, code_uri=CODE, **rest):
        request = training_job(job, options, code_uri, **rest)
        report = ParamValidator().validate(request, shape)
        assert not report.has_errors(), report.generate_report()
        model.check("CreateTrainingJob", request)
        check_create(request, 3600)
        return request

    return make


def channel(name="train", mode="file", uri="s3://data/photos/", reader="files", layout="files"):
    return JobInput(name, "photos", layout, mode, reader, uri)


def test_the_whole_request(made):
    assert made() == {
        "TrainingJobName": "demo-0a1b2c-01234567-t7-a2",
        "RoleArn": "arn:aws:iam::123456789012:role/trainer",
        "AlgorithmSpecification": {
            "TrainingInputMode": "File",
            "EnableSageMakerMetricsTimeSeries": False,
            "TrainingImage": CPU,
            "ContainerEntrypoint": list(ENTRYPOINT),
            "ContainerArguments": ["train.py", "--epochs=3", "--optimizer=adam"],
        },
        "HyperParameters": {"optimizer": "adam", "lr": "0.5", "flag": "true", "text": '"3"', "epochs": "3"},
        "Environment": {
            "PYTHONUNBUFFERED": "1",
            "OUTRIDER_CHECKPOINT_DIR": "/opt/ml/checkpoints",
            "OUTRIDER_SEED": "17",
            "OUTRIDER_JOB": "demo-0a1b2c-01234567-t7-a2",
            "OUTRIDER_TRIAL": "7",
            "OUTRIDER_ATTEMPT": "2",
            "OUTRIDER_INSTANCE_TYPE": "ml.m5.xlarge",
            "OUTRIDER_INSTANCE_COUNT": "1",
        },
        "InputDataConfig": [
            {
                "ChannelName": "code",
                "DataSource": {
                    "S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": CODE, "S3DataDistributionType": "FullyReplicated"},
                },
                "InputMode": "File",
            }
        ],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/outrider/output/tag/demo-0a1b2c-01234567/"},
        "CheckpointConfig": {"S3Uri": "s3://bucket/outrider/checkpoints/tag/demo-0a1b2c-01234567/trial-7/"},
        "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 30},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        "EnableNetworkIsolation": False,
        "EnableInterContainerTrafficEncryption": False,
        "EnableManagedSpotTraining": False,
        "ProfilerConfig": {"DisableProfiler": True},
        "Tags": [
            {"Key": "outrider:tag", "Value": "tag"},
            {"Key": "outrider:experiment", "Value": "demo-0a1b2c-01234567"},
            {"Key": "outrider:benchmark", "Value": "demo"},
            {"Key": "outrider:trial", "Value": "7"},
        ],
    }


def test_managed_mlflow_knows_jobs_by_the_experiment_that_tracking_makes(made):
    arn = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-app/app-A1"
    assert made(options=replace(OPTIONS, mlflow=arn))["MlflowConfig"] == {
        "MlflowResourceArn": arn,
        "MlflowExperimentName": "tag/demo",
        "MlflowRunName": "demo-0a1b2c-01234567-t7-a2",
    }
    long = made(options=replace(OPTIONS, mlflow=arn, benchmark="b" * 300))["MlflowConfig"]["MlflowExperimentName"]
    assert (len(long), long[:5]) == (256, "tag/b")


def test_options_of_the_experiment(made):
    options = replace(
        OPTIONS,
        **VPC,
        volume_gb=99,
        volume_kms_key="arn:aws:kms:eu-west-1:1:key/a",
        output_kms_key="alias/b",
        network_isolation=True,
        encrypt_traffic=True,
        tags={"team name": "us & them", "outrider:trial": "x"},
        retries=3,
        profiler=True,
        profiler_interval_ms=1000,
        keep_alive_s=600,
    )
    request = made(replace(JOB, environment={**JOB.environment, "A": "b", "OUTRIDER_SEED": "18"}), options)
    assert request["VpcConfig"] == {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}
    assert request["ResourceConfig"] == {
        "InstanceType": "ml.m5.xlarge",
        "InstanceCount": 1,
        "VolumeSizeInGB": 99,
        "VolumeKmsKeyId": "arn:aws:kms:eu-west-1:1:key/a",
        "KeepAlivePeriodInSeconds": 600,
    }
    assert request["OutputDataConfig"]["KmsKeyId"] == "alias/b"
    assert (request["EnableNetworkIsolation"], request["EnableInterContainerTrafficEncryption"]) == (True, True)
    assert (request["Environment"]["A"], request["Environment"]["OUTRIDER_SEED"]) == ("b", "18")
    tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    assert (tags["team name"], tags["outrider:trial"], len(request["Tags"])) == ("us _ them", "7", 5)
    assert request["RetryStrategy"] == {"MaximumRetryAttempts": 3}
    assert request["ProfilerConfig"] == {
        "S3OutputPath": "s3://bucket/outrider/output/tag/demo-0a1b2c-01234567/",
        "ProfilingIntervalInMilliseconds": 1000,
        "DisableProfiler": False,
    }


def test_another_instance_type_brings_its_image_and_the_script_knows(made):
    request = made(instance_type="ml.g5.xlarge")
    assert request["AlgorithmSpecification"]["TrainingImage"] == GPU
    assert request["ResourceConfig"]["InstanceType"] == request["Environment"]["OUTRIDER_INSTANCE_TYPE"] == "ml.g5.xlarge"


@pytest.mark.parametrize(
    ("max_run_s", "max_wait_s", "stopping"),
    [
        (0.1, None, {"MaxRuntimeInSeconds": 1, "MaxWaitTimeInSeconds": 3601}),
        (100.0, 99.0, {"MaxRuntimeInSeconds": 100, "MaxWaitTimeInSeconds": 100}),
        (100.0, 250.5, {"MaxRuntimeInSeconds": 100, "MaxWaitTimeInSeconds": 251}),
    ],
)
def test_a_spot_job_waits_at_least_as_long_as_it_may_run(made, max_run_s, max_wait_s, stopping):
    request = made(replace(JOB, limits=Limits(max_run_s)), replace(OPTIONS, spot=True, max_wait_s=max_wait_s))
    assert request["StoppingCondition"] == stopping
    assert request["EnableManagedSpotTraining"] is True


@pytest.mark.parametrize(
    ("mode", "input_mode", "place"),
    [
        ("file", "File", "/opt/ml/input/data/train"),
        ("fastfile", "FastFile", "/opt/ml/input/data/train"),
        ("pipe", "Pipe", "/opt/ml/input/data/train"),
    ],
)
def test_channels_that_sagemaker_fills(made, mode, input_mode, place):
    request = made(replace(JOB, inputs=(channel(mode=mode),)), replace(OPTIONS, sharded=("train",), content_types={"train": "image/jpeg"}))
    assert request["InputDataConfig"][1] == {
        "ChannelName": "train",
        "DataSource": {
            "S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://data/photos/", "S3DataDistributionType": "ShardedByS3Key"},
        },
        "InputMode": input_mode,
        "ContentType": "image/jpeg",
    }
    assert {k: v for k, v in request["Environment"].items() if k.endswith("_TRAIN")} == {
        "OUTRIDER_CHANNEL_TRAIN": place,
        "OUTRIDER_READER_TRAIN": "files",
        "OUTRIDER_INPUT_MODE_TRAIN": mode,
        "OUTRIDER_LAYOUT_TRAIN": "files",
        "OUTRIDER_DATASET_TRAIN": "photos",
        "OUTRIDER_DISTRIBUTION_TRAIN": "sharded",
    }


def test_who_has_the_uri_alone_sees_all_objects_whatever_was_asked_for(made):
    request = made(replace(JOB, inputs=(channel("train", "none", reader="s3_map"),)), replace(OPTIONS, sharded=("train",)))
    assert request["Environment"]["OUTRIDER_DISTRIBUTION_TRAIN"] == "replicated"


def test_a_job_is_told_what_it_takes_itself_and_no_more(made):
    wanted = replace(JOB, requirements=("s3torchconnector>=1.5", "webdataset>=1.0"))
    assert made(wanted)["Environment"]["OUTRIDER_REQUIREMENTS"] == "s3torchconnector>=1.5 webdataset>=1.0"
    assert "OUTRIDER_REQUIREMENTS" not in made(JOB)["Environment"]


def test_a_script_that_reads_s3_itself_gets_the_uri_and_no_channel(made):
    request = made(replace(JOB, inputs=(channel("a-b", "none", reader="s3_map"),)))
    assert [one["ChannelName"] for one in request["InputDataConfig"]] == ["code"]
    assert request["Environment"]["OUTRIDER_CHANNEL_A_B"] == "s3://data/photos/"


@pytest.mark.parametrize(("mode", "system"), [("fsx", "FSxLustre"), ("efs", "EFS")])
def test_file_systems(made, mode, system):
    mounted = channel(mode=mode, uri=f"{mode}://fs-0123456789abcdef0/data/photos")
    request = made(replace(JOB, inputs=(mounted,)), replace(OPTIONS, **VPC))
    assert request["InputDataConfig"][1]["DataSource"] == {
        "FileSystemDataSource": {
            "FileSystemId": "fs-0123456789abcdef0",
            "FileSystemType": system,
            "FileSystemAccessMode": "ro",
            "DirectoryPath": "/data/photos",
        }
    }
    with pytest.raises(UserError, match="no subnets are given"):
        training_job(replace(JOB, inputs=(mounted,)), OPTIONS, CODE)


def test_a_sample_of_objects_is_a_manifest(made):
    request = made(replace(JOB, inputs=(channel(uri="s3://bucket/outrider/datasets/samples/0.1.manifest"),)))
    assert request["InputDataConfig"][1]["DataSource"]["S3DataSource"]["S3DataType"] == "ManifestFile"


@pytest.mark.parametrize(
    "arguments", [("--a", "x" * 257), tuple("x" for _ in range(100)), ("--a", "two\nlines")], ids=["long", "many", "lines"]
)
def test_arguments_that_do_not_fit_travel_by_file(made, arguments):
    job = replace(JOB, arguments=arguments)
    assert not arguments_fit(job, "train.py")
    with pytest.raises(ValueError, match="not said where they are"):
        training_job(job, OPTIONS, CODE)
    request = made(job, arguments_uri="s3://bucket/outrider/jobs/tag/x/")
    assert request["AlgorithmSpecification"]["ContainerArguments"] == ["--arguments-file", "/opt/ml/input/data/job/arguments.json"]
    assert [one["ChannelName"] for one in request["InputDataConfig"]] == ["code", "job"]


def test_an_interpreter_of_the_image_that_is_asked_for_is_told_by_file(made):
    options = replace(OPTIONS, python="/opt/conda/bin/python")
    assert not arguments_fit(JOB, "train.py", options.python)
    request = training_job(JOB, options, CODE, "s3://bucket/outrider/jobs/tag/x/")
    assert request["AlgorithmSpecification"]["ContainerArguments"] == ["--arguments-file", "/opt/ml/input/data/job/arguments.json"]
    assert start_document(JOB, options)["python"] == "/opt/conda/bin/python"


def test_arguments_that_just_fit(made):
    job = replace(JOB, arguments=("", *["x" * 256] * 98))
    assert arguments_fit(job, "train.py")
    request = made(job, arguments_uri="s3://bucket/outrider/jobs/tag/x/")
    assert len(request["AlgorithmSpecification"]["ContainerArguments"]) == 100
    assert [one["ChannelName"] for one in request["InputDataConfig"]] == ["code"]


def test_a_script_without_its_source_is_a_fault_of_ours():
    with pytest.raises(ValueError, match="not said where its source is"):
        training_job(JOB, OPTIONS)


class TestWithoutAScript:
    OPTIONS = replace(
        OPTIONS, has_script=False, script="", image_cpu=None, image_gpu=None, algorithm_name="xgb", metrics={"loss": "l=(.*);"}
    )

    def test_arguments_become_hyperparameters(self, made):
        request = made(replace(JOB, script=""), self.OPTIONS, None)
        assert request["HyperParameters"] == {"epochs": "3", "optimizer": "adam", "lr": "0.5", "flag": "true", "text": "3"}
        assert request["AlgorithmSpecification"] == {
            "TrainingInputMode": "File",
            "EnableSageMakerMetricsTimeSeries": False,
            "AlgorithmName": "xgb",
            "MetricDefinitions": [{"Name": "loss", "Regex": "l=(.*);"}],
        }
        assert "InputDataConfig" not in request

    def test_an_image_runs_its_own_program(self, made):
        options = replace(self.OPTIONS, algorithm_name=None, image_cpu=CPU, console_metrics=True)
        algorithm = made(replace(JOB, script=""), options, None)["AlgorithmSpecification"]
        assert (algorithm["TrainingImage"], "ContainerEntrypoint" in algorithm, algorithm["EnableSageMakerMetricsTimeSeries"]) == (
            CPU,
            False,
            True,
        )

    def test_what_does_not_fit_is_refused(self):
        with pytest.raises(UserError, match="'a' of 2501 characters"):
            program_parameters({"a": "x" * 2501})
        with pytest.raises(UserError, match="101 arguments"):
            program_parameters({f"k{n}": 1 for n in range(101)})


def test_hyperparameters_are_whole_or_not_there():
    shown = shown_parameters({"long": "x" * 2500, "longer": "x" * 2501, "lines": "a\nb", **{f"k{n}": n for n in range(120)}, "y" * 257: 1})
    assert (len(shown), shown["lines"], len(shown["long"])) == (100, '"a\\nb"', 2500)
    assert "longer" not in shown


def test_values_that_are_no_hyperparameters_travel_by_file():
    few = {"prompt": "x" * 2500, "lines": "a\nb"}
    assert arguments_fit(replace(JOB, parameters=few, arguments=()), "t.py")
    assert not arguments_fit(replace(JOB, parameters={"prompt": "x" * 2501}, arguments=()), "t.py")
    assert not arguments_fit(replace(JOB, parameters={f"k{n}": n for n in range(101)}, arguments=()), "t.py")


def test_texts_are_read_back_as_what_they_are():
    given = {"a": "adam", "b": "3", "c": 3, "d": None, "e": "true", "f": [1, "x"], "g": 1e-07}

    def decoded(text):
        try:
            return json.loads(text)
        except ValueError:
            return text

    assert {key: decoded(text) for key, text in shown_parameters(given).items()} == given


@pytest.mark.parametrize(
    ("job", "options", "message"),
    [
        ({"name": "bad_name"}, {}, "job name 'bad_name'"),
        ({"name": "x" * 64}, {}, "at most 63"),
        ({"instance_type": "local.2cpu"}, {}, "SageMaker's begin with ml."),
        ({"instance_count": 0}, {}, "at least one instance"),
        ({"limits": Limits(28 * 86400 + 1.0)}, {}, "28 days"),
        ({"environment": {"OUTRIDER_X": "x" * 513}}, {}, "OUTRIDER_X of 513 characters[\\s\\S]*512[\\s\\S]*shorter prefix"),
        ({"environment": {"A B": "x"}}, {}, "environment variable 'A B'"),
        ({"environment": {f"V{n}": "" for n in range(100)}}, {}, "107 environment variables, Outrider's own among them"),
        ({}, {"tags": {f"k{n}": "" for n in range(47)}}, "tags: 47 are given"),
        ({}, {"tags": {"aws:x": ""}}, "keeps those that begin with aws:"),
        ({"inputs": (channel("code"),)}, {}, "inputs.code: the name is taken"),
        ({"inputs": (channel("a b"),)}, {}, "inputs.a b: SageMaker takes no such name"),
        ({"inputs": (channel(mode="local"),)}, {}, "input mode 'local'"),
        ({"inputs": (channel(uri="/data"),)}, {}, "inputs.train: /data"),
        ({"inputs": tuple(channel(f"c{n}") for n in range(20))}, {}, "21 channels, 1 of them Outrider's|128 environment"),
        ({"inputs": (channel(mode="none", reader="s3_map"),)}, {"network_isolation": True}, "jobs reach no network"),
    ],
)
def test_what_sagemaker_would_refuse_is_refused_before_any_call(job, options, message):
    with pytest.raises(UserError, match=message):
        training_job(replace(JOB, **job), replace(OPTIONS, **options), CODE)


def test_what_sagemaker_takes_at_its_limits_is_made(made):
    """One more of each is refused, cut or counted."""
    full = made(replace(JOB, environment={"OUTRIDER_X": "x" * 512, "E" * 512: ""}))
    assert (len(full["Environment"]["OUTRIDER_X"]), full["Environment"]["E" * 512]) == (512, "")
    own = len(made(replace(JOB, environment={}))["Environment"])
    most = made(replace(JOB, environment={f"V{n}": "" for n in range(100 - own)}))
    assert len(most["Environment"]) == 100
    assert program_parameters({"a": "x" * 2500, "k" * 256: 1}) == {"a": "x" * 2500, "k" * 256: "1"}
    assert len(shown_parameters({f"k{n}": n for n in range(100)})) == 100
    assert shown_parameters({"a": "x" * 2500}) == {"a": "x" * 2500}


def test_a_job_without_a_checkpoint_of_its_own_keeps_its_trial_s(made):
    named = made(replace(JOB, checkpoint="trial-3-best"))["CheckpointConfig"]["S3Uri"]
    plain = made(replace(JOB, checkpoint=""))["CheckpointConfig"]["S3Uri"]
    assert named == "s3://bucket/outrider/checkpoints/tag/demo-0a1b2c-01234567/trial-3-best/"
    assert plain == "s3://bucket/outrider/checkpoints/tag/demo-0a1b2c-01234567/trial-7/"


def test_tags_keep_what_aws_takes():
    assert allowed("a-b_c.d:e/f=g+h@i Ünï9 #&?") == "a-b_c.d:e/f=g+h@i Ünï9 ___"
