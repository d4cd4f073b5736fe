"""Training jobs as canaries: from what SageMaker's DescribeTrainingJob says of them."""

import datetime
import json
import time
from pathlib import Path

import outrider_report
import pytest

from backends.emulator import Emulator, Settings
from backends.past_jobs import FractionSource, PastJob, fraction_source, past_job_reader
from backends.sagemaker.admin.past_jobs import BY_ARGUMENT, TrainingJobError, past_job, read_past_jobs
from benchmarking.forecasting.data.finished_jobs import canaries_of_jobs
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from definitions.errors import UserError

SHARE = FractionSource("hyperparameter", "share")
START = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


def described(name, fraction, *, status="Completed", total_s=300, train_s=200, reason="", **given):
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


def job(name, fraction, **given):
    return past_job(described(name, fraction, **given), {}, {})


def test_times_instances_and_repeats_are_read():
    jobs = [job("a", 0.01), job("b", 0.01, total_s=310, train_s=205), job("c", 0.1, total_s=900, train_s=800)]
    table = canaries_of_jobs(jobs, BY_ARGUMENT)
    assert [(one.fraction, one.repeat) for one in table.canaries] == [(0.01, 0), (0.01, 1), (0.1, 0)]
    first = table.canaries[0]
    assert (first.startup_s, first.train_s, first.total_s, first.instance_count) == (100.0, 200.0, 300.0, 2)
    assert len({one.configuration for one in table.canaries}) == 1


def test_jobs_that_differ_in_more_than_their_fraction_are_different_configurations():
    table = canaries_of_jobs([job("a", 0.01, depth="3"), job("b", 0.01, depth="6")], BY_ARGUMENT)
    assert [one.configuration for one in table.canaries] == ["depth=3", "depth=6"]


def test_stopped_and_out_of_memory_jobs_are_what_they_are():
    table = canaries_of_jobs(
        [job("a", 0.01, status="Stopped"), job("b", 0.1, status="Failed", reason="AlgorithmError: exit code 137")], BY_ARGUMENT
    )
    assert [one.status for one in table.canaries] == ["stopped", "out_of_memory"]


def test_a_fraction_is_above_0_and_at_most_the_whole():
    assert [one.fraction for one in canaries_of_jobs([job("a", 1), job("b", 0.001)], BY_ARGUMENT).canaries] == [1.0, 0.001]
    for wrong in (0, -0.1, 1.01, 2):
        with pytest.raises(UserError, match=rf"training job a: fraction = {wrong:g}\n  a fraction is above 0 and at most 1"):
            canaries_of_jobs([job("a", wrong)], BY_ARGUMENT)


def test_a_job_without_a_fraction_and_one_that_is_unknown_are_told():
    with pytest.raises(UserError, match="--fraction_from"):
        canaries_of_jobs([job("a", 0.01)], SHARE)

    class Client:
        def describe_training_job(self, TrainingJobName):  # noqa: N803 - AWS's name
            raise RuntimeError("ValidationException: Requested resource not found.")

    with pytest.raises(TrainingJobError, match="resource not found") as error:
        canaries_of_jobs(read_past_jobs(["nobody"], "us-east-1", clients={"sagemaker": Client()}.get), BY_ARGUMENT)
    assert error.value.exit_code == 5


def test_a_refusal_is_shown_without_account_ids_and_a_client_that_cannot_be_made_is_one():
    class Client:
        def describe_training_job(self, TrainingJobName):  # noqa: N803 - AWS's name
            raise RuntimeError("User: arn:aws:iam::123456789012:user/me is not authorized to perform: sagemaker:DescribeTrainingJob")

    def none(_service):
        raise LookupError("The config profile (foo) could not be found")

    with pytest.raises(TrainingJobError, match="user/me is not authorized") as error:
        read_past_jobs(["job"], "us-east-1", clients={"sagemaker": Client()}.get)
    assert "123456789012" not in str(error.value)
    with pytest.raises(TrainingJobError, match=r"profile \(foo\) could not be found"):
        read_past_jobs(["job"], "us-east-1", clients=none)


def test_the_log_adds_what_the_reporter_measured_over_all_its_pages_and_nothing_of_its_own_clock():
    lines = ['[tune-metric]: {"rows": 100, "loss": 1.0}', '[tune-metric]: {"rows": 250, "loss": 0.5}',
             '[outrider-summary]: {"elapsed_s": 60.0, "steps": 5, "phases_s": {"train": 50.0}}']  # fmt: skip

    class Client:
        def describe_training_job(self, TrainingJobName):  # noqa: N803 - AWS's name
            return described(TrainingJobName, 0.1)

    class Logs:
        def filter_log_events(self, logStreamNamePrefix, nextToken="0", **_):  # noqa: N803 - AWS's names
            number = int(nextToken)
            event = {"eventId": nextToken, "timestamp": number, "logStreamName": f"{logStreamNamePrefix}-9", "message": lines[number]}
            return {"events": [event], **({"nextToken": str(number + 1)} if number < 2 else {})}

    (one,) = canaries_of_jobs(read_past_jobs(["a"], "us-east-1", clients={"sagemaker": Client(), "logs": Logs()}.get), BY_ARGUMENT).canaries
    assert (one.rows, one.steps, one.train_s, one.total_s) == (250.0, 5.0, 50.0, 300.0)
    assert "billable_s" not in one.about


def test_the_reader_of_past_jobs_is_found_by_asking_the_back_ends():
    assert past_job_reader() is read_past_jobs


CODE = """
import os, sys, time
sys.path.insert(0, os.environ["REPORTER"])
from outrider_report import phase, report, step
share = float(os.environ["SHARE"])
with phase("train"):
    time.sleep(4 * share)
    step(samples=int(10000 * share))
report(loss=1.0)
"""


@pytest.fixture(scope="module")
def emulated():
    """Two jobs on 5 and 20 % of the data that really ran, with the reporter in their scripts; and the clients to ask for them."""
    with Emulator() as emulator:
        emulator.create_bucket("bucket")
        client = emulator.client("sagemaker")
        for share in (0.05, 0.2):
            client.create_training_job(
                TrainingJobName=f"canary-{share:g}".replace(".", "-"),
                AlgorithmSpecification={
                    "TrainingImage": "image:1",
                    "TrainingInputMode": "File",
                    "ContainerEntrypoint": ["python", "-c", "import os; exec(os.environ['CODE'])"],
                },
                RoleArn="arn:aws:iam::123456789012:role/trainer",
                OutputDataConfig={"S3OutputPath": "s3://bucket/out"},
                ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
                StoppingCondition={"MaxRuntimeInSeconds": 600},
                HyperParameters={"share": str(share), "lr": "0.1"},
                Environment={"CODE": CODE, "SHARE": str(share), "REPORTER": str(Path(outrider_report.__file__).parent)},
            )
        names = ["canary-0-05", "canary-0-2"]
        deadline = time.monotonic() + 90
        while any(client.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "InProgress" for name in names):
            assert time.monotonic() < deadline, [client.describe_training_job(TrainingJobName=name) for name in names]
            time.sleep(0.05)
        yield emulator, names


@pytest.mark.slow
def test_jobs_that_really_ran_are_forecast_with_the_phases_of_their_reporters(emulated):
    emulator, names = emulated
    deadline = time.monotonic() + 90
    while True:
        table = canaries_of_jobs(read_past_jobs(names, "us-east-1", clients=emulator.client), SHARE)
        if all(one.rows for one in table.canaries):
            break
        assert time.monotonic() < deadline, table
        time.sleep(0.05)
    small, large = table.canaries
    assert {small.status, large.status} == {"completed"}
    assert (small.fraction, small.rows, small.steps) == (0.05, 500, 1)
    assert 0.2 <= small.train_s < small.total_s
    assert large.train_s >= 0.8
    assert small.startup_s + small.train_s <= small.total_s * 1.02 + 0.01
    assert small.configuration == large.configuration
    found = {one.metric: one for one in forecast(table, Question(Billing("us-east-1")))}
    assert found["train_s"].lo90 < 4 < found["train_s"].hi90
    assert found["cost_usd"].median > 0
    assert found["total_s"].median > found["train_s"].median


@pytest.mark.slow
def test_the_command_asks_the_endpoint_of_the_environment(emulated, monkeypatch, capsys):
    from launch.verbs.forecast import main

    emulator, names = emulated
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    assert main([*names, "--fraction_from", "hyperparameter:share", "--format", "json"]) == 0
    found = {one["metric"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["total_s"]["median"] > 1
    with pytest.raises(TrainingJobError, match="nobody"):
        main(["nobody", "--fraction_from", "hyperparameter:share"])


@pytest.fixture(scope="module")
def foreign():
    """Jobs of nobody's on manifests of 2, 4 and 8 of 40 objects, with the profiler and without a hyperparameter or a reporter."""
    with Emulator(settings=Settings(region="eu-north-1")) as emulator:
        emulator.create_bucket("bucket")
        client, s3 = emulator.client("sagemaker"), emulator.client("s3")
        for number in range(40):
            s3.put_object(Bucket="bucket", Key=f"data/{number:02}", Body=b"x" * 1000)
        names = []
        for count in (2, 4, 8):
            content = [{"prefix": "s3://bucket/data/"}, *(f"{number:02}" for number in range(count))]
            s3.put_object(Bucket="bucket", Key=f"{count}.manifest", Body=json.dumps(content).encode())
            source = {"S3Uri": f"s3://bucket/{count}.manifest", "S3DataType": "ManifestFile", "S3DataDistributionType": "FullyReplicated"}
            names.append(f"foreign-{count}")
            client.create_training_job(
                TrainingJobName=names[-1],
                AlgorithmSpecification={
                    "TrainingImage": "image:1",
                    "TrainingInputMode": "File",
                    "ContainerEntrypoint": ["sh", "-c", 'sleep $(ls "$SM_CHANNEL_TRAIN" | wc -l | sed "s/^/0./")'],
                },
                RoleArn="arn:aws:iam::123456789012:role/trainer",
                InputDataConfig=[{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
                OutputDataConfig={"S3OutputPath": "s3://bucket/out"},
                ProfilerConfig={"S3OutputPath": "s3://bucket/out", "ProfilingIntervalInMilliseconds": 100},
                ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
                StoppingCondition={"MaxRuntimeInSeconds": 600},
            )
        deadline = time.monotonic() + 90
        while any(client.describe_training_job(TrainingJobName=name)["TrainingJobStatus"] == "InProgress" for name in names):
            assert time.monotonic() < deadline, [client.describe_training_job(TrainingJobName=name) for name in names]
            time.sleep(0.05)
        yield emulator, names


@pytest.mark.slow
@pytest.mark.parametrize("way", ["manifest", "channel-bytes", "manifest:train"])
def test_jobs_that_somebody_else_ran_are_canaries_by_their_data_with_what_the_service_measured(foreign, way):
    emulator, names = foreign
    source = fraction_source(way)
    table = canaries_of_jobs(read_past_jobs(names, "us-east-1", source, emulator.client), source)
    assert [one.fraction for one in table.canaries] == [0.05, 0.1, 0.2]
    assert len({one.configuration for one in table.canaries}) == 1
    memory = {one.rss_bytes for one in table.canaries}
    assert all(0 < value <= 8 * 1024**3 for value in memory)
    assert all(0 <= one.cpu_util <= 100 for one in table.canaries)


@pytest.mark.slow
def test_the_command_forecasts_them_at_the_prices_of_the_region(foreign, monkeypatch, capsys, tmp_path):
    from benchmarking.forecasting.model.billing import tables
    from launch.verbs.forecast import main

    emulator, names = foreign
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    header = "instance_type,region,usd_per_hour,date,source\n"
    (tmp_path / "prices.csv").write_text(header + "ml.m5.large,eu-north-1,36,2030-01-01,t\nml.m5.large,us-east-1,3.6,2030-01-01,t\n")
    monkeypatch.setenv("OUTRIDER_PRICES", str(tmp_path / "prices.csv"))
    tables.cache_clear()
    usd = []
    for price in ((), ("--price", "ml.m5.large=3.6")):
        assert main([*names, "--fraction_from", "manifest", "--region", "eu-north-1", "--format", "json", *price]) == 0
        found = {one["metric"]: one for one in json.loads(capsys.readouterr().out)}
        assert {"rss_bytes", "cpu_util", "total_s"} <= set(found)
        usd.append(found["cost_usd"]["median"])
    tables.cache_clear()
    assert usd[0] == pytest.approx(10 * usd[1])
    with pytest.raises(UserError, match="--fraction_from hyperparameter:NAME, manifest, or channel-bytes"):
        main([*names, "--region", "eu-north-1"])


def one_canary(phases=None, **given):
    usage = {} if phases is None else {"phases_s": phases}
    past = PastJob(
        "a", "completed", "ml.m5.xlarge", 2, {"fraction": "0.1"}, **{"total_s": 300.0, "train_s": 200.0, "usage": usage, **given}
    )
    return canaries_of_jobs([past], BY_ARGUMENT).canaries[0]


@pytest.mark.parametrize(
    ("phases", "given", "expected"),
    [
        # Start-up, loading, training, checkpoint, all.
        (None, {}, (100.0, None, 200.0, None, 300.0)),
        ({"startup": 5.0, "load": 20.0, "train": 150.0, "checkpoint": 25.0}, {}, (105.0, 20.0, 150.0, 25.0, 300.0)),
        # What the script says of its own start-up is all that is known where the service does not say when it began.
        ({"startup": 5.0, "train": 150.0}, {"train_s": None}, (5.0, None, 150.0, None, 300.0)),
        ({"train": 150.0}, {}, (100.0, None, 150.0, None, 300.0)),
        # Without a timer of the training its seconds are those of the script, in which others would count twice.
        ({"startup": 5.0, "load": 20.0, "checkpoint": 25.0}, {}, (100.0, None, 200.0, None, 300.0)),
        # Of whole seconds and exact ones the sum may be the larger by up to 1.5 s.
        ({"startup": 0.0, "train": 201.4}, {}, (100.0, None, 201.4, None, 301.4)),
        # A service whose clocks contradict each other has no negative start-up.
        (None, {"total_s": 199.0}, (0.0, None, 200.0, None, 200.0)),
    ],
)
def test_what_service_and_reporter_say_is_put_together(phases, given, expected):
    found = one_canary(phases, **given)
    assert (found.startup_s, found.load_s, found.train_s, found.checkpoint_s, found.total_s) == expected


def test_what_was_paid_is_noted_where_it_is_known():
    assert one_canary().about == {"job": "a"}
    assert one_canary(billable_s=250.0).about == {"job": "a", "billable_s": 250.0}


def test_a_job_that_is_named_twice_was_measured_once():
    once, twice = (canaries_of_jobs([job("a", 0.01), *more], BY_ARGUMENT) for more in ((), (job("a", 0.01),)))
    assert len(twice.canaries) == 1
    assert twice.canaries == once.canaries


def test_a_fraction_that_is_no_number_is_said_with_its_value():
    with pytest.raises(UserError, match="training job a: lr = a tenth\n  a fraction is a number"):
        canaries_of_jobs([job("a", 0.01, lr="a tenth")], FractionSource("hyperparameter", "lr"))
