"""SageMaker Experiments by unmodified boto3: names, limits, components of training jobs, metrics, what a restart keeps."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from backends.emulator import Emulator
from tests.backends.emulator.conftest import Bench

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lab():
    with Emulator() as emulator:
        yield Bench(emulator)


def refused(call, **request):
    with pytest.raises(ClientError) as caught:
        call(**request)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def trial(lab, name, experiment):
    if experiment not in [one["ExperimentName"] for one in lab.sagemaker.list_experiments(MaxResults=100)["ExperimentSummaries"]]:
        lab.sagemaker.create_experiment(ExperimentName=experiment)
    lab.sagemaker.create_trial(TrialName=name, ExperimentName=experiment)
    return name


def found(lab, trial_name):
    """Return the components of a trial as Search shows them, by name."""
    results = lab.sagemaker.search(
        Resource="ExperimentTrialComponent",
        SearchExpression={"Filters": [{"Name": "Parents.TrialName", "Operator": "Equals", "Value": trial_name}]},
        MaxResults=100,
    )["Results"]
    return {one["TrialComponent"]["TrialComponentName"]: one["TrialComponent"] for one in results}


def test_a_job_that_carries_a_config_has_its_component(lab):
    trial(lab, "jobs-0", "jobs")
    config = {"TrialName": "jobs-0", "TrialComponentDisplayName": "trial-7"}
    name = lab.submit(name="Job-A", ExperimentConfig=config, HyperParameters={"lr": "0.1"})
    assert lab.completed(name)["ExperimentConfig"] == config
    lab.completed(lab.submit(name="job-b"))
    ((component, one),) = found(lab, "jobs-0").items()
    assert (component, one["DisplayName"]) == ("job-a-aws-training-job", "trial-7")
    assert one["Source"]["SourceArn"] == lab.describe(name)["TrainingJobArn"]
    assert (one["Status"], one["EndTime"]) == ({"PrimaryStatus": "Completed"}, lab.describe(name)["TrainingEndTime"])
    assert one["Parameters"]["lr"] == {"StringValue": "0.1"}
    assert one["Parents"] == [{"TrialName": "jobs-0", "ExperimentName": "jobs"}]


def test_a_job_of_an_experiment_alone_gets_a_trial_and_one_of_nothing_known_is_refused(lab):
    lab.sagemaker.create_experiment(ExperimentName="alone")
    lab.submit(name="job-c", ExperimentConfig={"ExperimentName": "alone"})
    (made,) = lab.sagemaker.list_trials(ExperimentName="alone")["TrialSummaries"]
    assert sorted(found(lab, made["TrialName"])) == ["job-c-aws-training-job"]
    request = lab.request(name="job-d", ExperimentConfig={"TrialName": "nowhere"})
    assert refused(lab.sagemaker.create_training_job, **request) == ("ResourceNotFound", "Trial 'nowhere' does not exist.")
    assert refused(lab.sagemaker.describe_training_job, TrainingJobName="job-d")[1] == "Requested resource not found."


@pytest.mark.parametrize("kind", ["experiment", "trial", "trial_component"])
def test_a_name_is_refused_twice(lab, kind):
    trial(lab, f"twice-{kind.replace('_', '-')}", "twice")
    word = "".join(part.title() for part in kind.split("_"))
    request = {f"{word}Name": "again"} | ({"ExperimentName": "twice"} if kind == "trial" else {})
    create = getattr(lab.sagemaker, f"create_{kind}")
    create(**request)
    code, message = refused(create, **request)
    assert code == "ValidationException"
    assert message.endswith("with name (again) already exists.")


def test_a_trial_takes_50_components_and_an_experiment_300_trials(lab):
    trial(lab, "full-0", "full")
    for number in range(50):
        lab.sagemaker.create_trial_component(TrialComponentName=f"c-{number}")
        lab.sagemaker.associate_trial_component(TrialComponentName=f"c-{number}", TrialName="full-0")
    lab.sagemaker.associate_trial_component(TrialComponentName="c-0", TrialName="full-0")
    lab.sagemaker.create_trial_component(TrialComponentName="c-50")
    code, message = refused(lab.sagemaker.associate_trial_component, TrialComponentName="c-50", TrialName="full-0")
    assert code == "ResourceLimitExceeded"
    assert "'Total number of trial components allowed in a single trial' is 50 Trial Components, with current utilization of 50" in message
    job = lab.request(name="job-full", ExperimentConfig={"TrialName": "full-0"})
    assert refused(lab.sagemaker.create_training_job, **job)[0] == "ResourceLimitExceeded"
    for number in range(1, 300):
        lab.sagemaker.create_trial(TrialName=f"full-{number}", ExperimentName="full")
    code, message = refused(lab.sagemaker.create_trial, TrialName="full-300", ExperimentName="full")
    assert (code, "is 300 Trials" in message) == ("ResourceLimitExceeded", True)


def test_an_update_merges_parameters_and_replaces_the_rest(lab):
    trial(lab, "updated-0", "updated")
    lab.sagemaker.create_trial_component(
        TrialComponentName="u", Parameters={"a": {"NumberValue": 1.0}, "b": {"StringValue": "x"}}, Status={"PrimaryStatus": "InProgress"}
    )
    lab.sagemaker.update_trial_component(
        TrialComponentName="u", Parameters={"a": {"NumberValue": 2.0}}, Status={"PrimaryStatus": "Failed", "Message": "m"}
    )
    one = lab.sagemaker.describe_trial_component(TrialComponentName="u")
    assert one["Parameters"] == {"a": {"NumberValue": 2.0}, "b": {"StringValue": "x"}}
    assert one["Status"] == {"PrimaryStatus": "Failed", "Message": "m"}


def test_metrics_are_put_by_ten_to_lower_case_names(lab):
    metrics = lab.client("sagemaker-metrics")
    trial(lab, "metrics-0", "metrics")
    lab.sagemaker.create_trial_component(TrialComponentName="m")
    lab.sagemaker.associate_trial_component(TrialComponentName="m", TrialName="metrics-0")
    data = [{"MetricName": "loss", "Timestamp": 1.7e9 + step, "Step": step, "Value": 1.0 / step} for step in range(1, 11)]
    assert "Errors" not in metrics.batch_put_metrics(TrialComponentName="m", MetricData=data)
    (one,) = found(lab, "metrics-0")["m"]["Metrics"]
    assert (one["MetricName"], one["Count"], one["Last"], one["Max"]) == ("loss", 10, 0.1, 1.0)
    assert one["Avg"] == pytest.approx(sum(1 / step for step in range(1, 11)) / 10)
    code, message = refused(metrics.batch_put_metrics, TrialComponentName="m", MetricData=[*data, data[0]])
    assert (code, "less than or equal to 10" in message) == ("ValidationException", True)
    code, message = refused(metrics.batch_put_metrics, TrialComponentName="M", MetricData=data)
    assert (code, "'trialComponentName'" in message) == ("ValidationException", True)
    assert refused(metrics.batch_put_metrics, TrialComponentName="nobody", MetricData=data)[0] == "ResourceNotFound"
    nan = metrics.batch_put_metrics(TrialComponentName="m", MetricData=[{**data[0], "Value": float("nan")}, data[1]])
    assert nan["Errors"] == [{"Code": "VALIDATION_ERROR", "MetricIndex": 0}]


def test_only_what_is_empty_is_deleted(lab):
    client = lab.sagemaker
    trial(lab, "gone-0", "gone")
    client.create_trial_component(TrialComponentName="g")
    client.associate_trial_component(TrialComponentName="g", TrialName="gone-0")
    assert refused(client.delete_experiment, ExperimentName="gone")[0] == "ValidationException"
    assert refused(client.delete_trial, TrialName="gone-0")[0] == "ValidationException"
    assert refused(client.delete_trial_component, TrialComponentName="g")[0] == "ValidationException"
    client.disassociate_trial_component(TrialComponentName="g", TrialName="gone-0")
    client.delete_trial_component(TrialComponentName="g")
    client.delete_trial(TrialName="gone-0")
    client.delete_experiment(ExperimentName="gone")
    assert refused(client.describe_experiment, ExperimentName="gone") == ("ResourceNotFound", "Experiment 'gone' does not exist.")


def test_tags_are_of_one_thing_and_are_searched(lab):
    made = lab.sagemaker.create_experiment(ExperimentName="tagged", Tags=[{"Key": "outrider:tag", "Value": "a"}])
    lab.sagemaker.add_tags(ResourceArn=made["ExperimentArn"], Tags=[{"Key": "team", "Value": "b"}])
    assert lab.sagemaker.list_tags(ResourceArn=made["ExperimentArn"])["Tags"] == [
        {"Key": "outrider:tag", "Value": "a"},
        {"Key": "team", "Value": "b"},
    ]
    expression = {"Filters": [{"Name": "Tags.outrider:tag", "Operator": "Equals", "Value": "a"}]}
    results = lab.sagemaker.search(Resource="Experiment", SearchExpression=expression)["Results"]
    assert [one["Experiment"]["ExperimentName"] for one in results] == ["tagged"]


def test_what_is_there_outlives_the_process(tmp_path):
    with Emulator(tmp_path) as emulator:
        bench = Bench(emulator)
        trial(bench, "kept-0", "kept")
        bench.sagemaker.create_trial_component(TrialComponentName="k", Parameters={"x": {"NumberValue": 3.0}})
        bench.sagemaker.associate_trial_component(TrialComponentName="k", TrialName="kept-0")
        value = {"MetricName": "loss", "Timestamp": 1.7e9, "Step": 1, "Value": 0.5}
        bench.client("sagemaker-metrics").batch_put_metrics(TrialComponentName="k", MetricData=[value])
    with Emulator(tmp_path) as emulator:
        one = found(Bench(emulator), "kept-0")["k"]
    assert (one["Parameters"], one["Metrics"][0]["Last"]) == ({"x": {"NumberValue": 3.0}}, 0.5)
