import re
from pathlib import Path

import pytest

from backends.job_input import JobInput
from backends.job_spec import Limits
from backends.local.description import LocalBlock
from backends.naming import job_prefix
from backends.sagemaker.block import SageMakerBlock
from benchmarking.planning.job_builder import JobBuilder, instance_type_of
from definitions.backend_registry import backend_description
from definitions.endpoint import EndpointBlock
from definitions.errors import UserError
from definitions.schema import Budget, PerJob, Progressive
from definitions.trial import TrialSpec, seed_of
from tests.benchmarking.experiments import definition

NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")


def builder(benchmark, **options):
    return JobBuilder(benchmark, "local", "fake-01234567", **{"region": "us-east-1", **options})


def test_what_a_back_end_consumes_is_environment_and_all_else_arguments():
    benchmark = definition(
        space={"x": {"choice": [1]}, "instance_type": {"choice": ["local.2cpu"]}, "dataset": {"choice": ["d"]}},
        arguments={"epochs": 3, "instance_count": 2, "note": None},
    )
    job = builder(benchmark, seed=17).build(4, 2, TrialSpec({"x": 1, "instance_type": "local.2cpu", "dataset": "d"}, repeat=1), None)
    assert job.arguments == ("--epochs=3", "--x=1", "--dataset=d")
    assert job.environment == {
        "OUTRIDER_INSTANCE_TYPE": "local.2cpu",
        "OUTRIDER_INSTANCE_COUNT": "2",
        "OUTRIDER_REPEAT": "1",
        "OUTRIDER_SEED": str(seed_of(17, 1)),
    }
    assert (job.instance_type, job.instance_count, job.trial, job.attempt, job.repeat) == ("local.2cpu", 2, 4, 2, 1)


def test_a_job_knows_its_script_limits_checkpoint_and_channels():
    channel = JobInput("train", "d", "files", "local", "files", "/data")
    benchmark = definition(source_dir="/code", script="a/train.py", budget=Budget(max_run=120.0), local=LocalBlock(grace_s=7.0))
    made = builder(benchmark, channels=lambda configuration: (channel,), environment={"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    job = made.build(3, 1, TrialSpec({"x": 1}), "trial-2")
    assert job.script == str(Path("/code/a/train.py"))
    assert job.limits == Limits(120.0, 7.0)
    assert (job.checkpoint, job.restore_from, job.inputs, job.exclusive) == ("trial-3", "trial-2", (channel,), False)
    assert job.environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert made.worst_s == 127.0


def test_a_prefix_is_told_when_to_end_and_limited_beyond_that():
    made = builder(definition())
    job = made.build(0, 0, TrialSpec({"x": 1}, 1.0, prefix_s=30.0), None)
    assert job.environment["OUTRIDER_STOP_AFTER_S"] == "30"
    assert job.limits.max_run_s == 90.0
    assert "OUTRIDER_STOP_AFTER_S" not in made.build(0, 0, TrialSpec({"x": 1}), None).environment
    short = builder(definition(budget=Budget(max_run=50.0))).build(0, 0, TrialSpec({"x": 1}, 1.0, prefix_s=30.0), None)
    assert short.limits.max_run_s == 50.0


def test_a_job_asks_for_the_packages_of_its_own_data_and_checkpoints_alone():
    channel = JobInput("train", "d", "shards", "none", "webdataset", "s3://b/d", requirements=("webdataset>=1.0", "s3torchconnector>=1.5"))
    saving = definition(space={"checkpoint": {"choice": ["none", "dcp_s3"]}})
    made = builder(saving, channels=lambda configuration: (channel,))
    assert made.build(0, 1, TrialSpec({"checkpoint": "none"}), None).requirements == ("s3torchconnector>=1.5", "webdataset>=1.0")
    without = builder(saving)
    assert without.build(0, 1, TrialSpec({"checkpoint": "dcp_s3"}), None).requirements == ("s3torchconnector>=1.5", "tenacity>=8")
    assert builder(definition()).build(0, 1, TrialSpec({"x": 1}), None).requirements == ()


def test_where_nobody_limits_a_jobs_time_the_back_end_does_or_the_limit_of_money():
    free = builder(definition())
    assert (free.worst_s, free.worst_case_s(TrialSpec({"x": 1})), free.worst_usd(TrialSpec({"x": 1}))) == (None, None, None)
    assert free.build(0, 1, TrialSpec({"x": 1}), None).limits.max_run_s is None
    assert builder(definition(budget=Budget(max_cost=5.0))).worst_s == 3605.0
    assert JobBuilder(definition(), "sagemaker", "p", region="us-east-1").worst_s == 3600 + 120 + 600
    assert JobBuilder(definition(), "simulated", "p", region="us-east-1").worst_s is None


@pytest.mark.parametrize(
    ("fidelity", "argument", "level"),
    [
        (PerJob(kind="per_job", argument="fraction", ladder=(0.1,), full=0.5), "--fraction=0.5", 0.5),
        (Progressive(kind="progressive", argument="epochs", reported_as="epoch", full=27), "--epochs=27", None),
    ],
)
def test_the_fidelity_is_an_argument(fidelity, argument, level):
    job = builder(definition(fidelity=fidelity)).build(0, 1, TrialSpec({"x": 5}), None)
    assert job.arguments == ("--x=5", argument)
    assert job.level == level


def test_a_script_that_cannot_be_told_how_far_to_go_is_not():
    fidelity = Progressive(kind="progressive", reported_as="epoch", full=27)
    job = builder(definition(fidelity=fidelity)).build(0, 1, TrialSpec({"x": 5}), None)
    assert (job.arguments, job.level) == (("--x=5",), None)


@pytest.mark.parametrize(
    ("objectives", "exclusive"), [({"loss": "min"}, False), ({"images_per_s": "max"}, True), ({"cost_usd": "min"}, True)]
)
def test_speed_and_cost_are_measured_alone(objectives, exclusive):
    assert builder(definition(objectives=objectives)).build(0, 1, TrialSpec({"x": 5}), None).exclusive is exclusive


@pytest.mark.parametrize(
    "benchmark", ["demo", "a_very_long.name-with_everything.in_it-and_more", "9..--__", "Z" * 63, "a" * 23 + "_b", "x-"]
)
def test_names_are_valid_wherever_jobs_have_names(benchmark):
    names = {
        JobBuilder(definition(), "local", job_prefix(benchmark, "t", "0123456789ab"), region="us-east-1").name(trial, attempt)
        for trial in (0, 9, 123456)
        for attempt in (1, 11)
    }
    assert len(names) == 6
    assert all(NAME.fullmatch(name) and len(name) <= 63 for name in names)


def test_instance_types():
    fixed = definition(arguments={"instance_type": "local.4cpu"})
    assert instance_type_of(fixed, "local", {"x": 1}) == "local.4cpu"
    assert instance_type_of(definition(), "local", {"x": 1, "instance_type": "local.2cpu"}) == "local.2cpu"
    assert instance_type_of(definition(), "local", {"x": 1}) == "local.1cpu"


@pytest.mark.parametrize("backend", ["sagemaker", "warm_pool"])
def test_on_sagemaker_somebody_has_to_say_what_jobs_run_on(backend):
    with pytest.raises(UserError, match=rf"benchmark fake on {backend}: no instance_type"):
        instance_type_of(definition(), backend, {"x": 1})
    assert instance_type_of(definition(arguments={"instance_type": "ml.m5.large"}), backend, {"x": 1}) == "ml.m5.large"


@pytest.mark.parametrize(
    ("backend", "instance_type", "problem"),
    [
        ("sagemaker", "ml.m5.large", None),
        ("sagemaker", "local.2cpu", "instance type local.2cpu is a share of this machine; sagemaker needs one that begins with ml."),
        ("warm_pool", "m5.large", "instance type m5.large is no type of SageMaker's; warm_pool needs one that begins with ml."),
        ("local", "local.2cpu", None),
        ("simulated", "anything", None),
    ],
)
def test_types_of_instances_that_a_back_end_has(backend, instance_type, problem):
    assert backend_description(backend).instance_problem(instance_type) == problem


@pytest.mark.parametrize(
    ("backend", "pool", "worst_s"),
    [("sagemaker", {}, 120 + 120 + 600), ("warm_pool", {}, 120 + 120 + 600 + 600), ("warm_pool", {"keep_alive": 60}, 120 + 120 + 600 + 60)],
)
def test_the_worst_case_of_a_training_job_holds_what_is_billed_beside_its_run(backend, pool, worst_s):
    made = JobBuilder(definition(budget=Budget(max_run=120.0), warm_pool=SageMakerBlock(**pool)), backend, "p", region="us-east-1")
    assert made.worst_s == made.worst_case_s(TrialSpec({"x": 1})) == worst_s
    assert made.build(0, 1, TrialSpec({"x": 1, "instance_type": "ml.m5.large"}), None).limits == Limits(120.0, 120.0)


@pytest.mark.parametrize(
    ("backend", "beside_s"),
    [
        ("local", 5.0),  # where the endpoint comes up within the time that its job may run
        ("sagemaker", 900.0 + 120.0 + 300.0),
        ("warm_pool", 900.0 + 120.0 + 300.0 + 600.0),
    ],
)
def test_the_worst_case_of_an_endpoint_holds_its_deployment_its_load_and_its_deletion(backend, beside_s):
    served = definition(budget=Budget(max_run=120.0), endpoint=EndpointBlock(deploy_s=900.0), models={"cnn": {"type": "small_cnn"}})
    made = JobBuilder(served, backend, "p", region="us-east-1")
    assert made.worst_s == 120.0 + beside_s


@pytest.mark.parametrize("backend", ["sagemaker", "warm_pool"])
def test_the_worst_case_of_an_endpoint_that_exists_is_its_load_alone(backend):
    served = definition(budget=Budget(max_run=120.0), endpoint=EndpointBlock(existing="e", deploy_s=900.0))
    made = JobBuilder(served, backend, "p", region="us-east-1")
    assert made.worst_s == made.worst_case_s(TrialSpec({"x": 1})) == 120.0 + 120.0


@pytest.mark.parametrize("backend", ["sagemaker", "warm_pool"])
def test_so_it_is_where_a_configuration_names_it_or_says_how_long_its_own_may_take(backend):
    def made(names, **endpoint):
        space = {"existing": {"choice": names}, "deploy_s": {"choice": [60.0, 300.0]}}
        given = {"models": {"cnn": {"type": "small_cnn"}}, "endpoint": EndpointBlock(deploy_s=900.0, **endpoint)}
        return JobBuilder(definition(budget=Budget(max_run=120.0), space=space, **given), backend, "p", region="us-east-1")

    after_s = 120.0 + 120.0 + (300.0 if backend == "sagemaker" else 900.0)
    mixed = made([None, "theirs"])
    trials = [TrialSpec({"existing": name, "deploy_s": seconds}) for name, seconds in (("theirs", 300.0), (None, 300.0), (None, 60.0))]
    assert [mixed.worst_case_s(one) for one in trials] == [120.0 + 120.0, after_s + 300.0, after_s + 60.0]
    assert mixed.worst_s == after_s + 300.0  # of any
    assert made(["theirs", "ours"]).worst_s == 120.0 + 120.0
    assert made([None], existing="theirs").worst_s == after_s + 300.0


def test_an_endpoint_is_priced_as_one():
    served = definition(endpoint=EndpointBlock(existing="e"))
    configuration = {"x": 1, "instance_type": "ml.g5.4xlarge"}
    assert JobBuilder(served, "sagemaker", "p", region="us-east-1").price(configuration) == (2.03, 1)
    assert JobBuilder(definition(), "sagemaker", "p", region="us-east-1").price({"x": 1, "instance_type": "ml.m5.large"}) == (0.115, 1)
    assert JobBuilder(served, "sagemaker", "p", region="us-east-1").price({"x": 1, "instance_type": "ml.m5.large"}) == (None, 1)


def test_a_job_without_a_script():
    made = definition(script=None, sagemaker=SageMakerBlock(algorithm_name="xgb"))
    assert (
        JobBuilder(made, "sagemaker", "p", region="us-east-1").build(0, 1, TrialSpec({"x": 1, "instance_type": "ml.m5.large"}), None).script
        == ""
    )


def test_prices_per_hour_and_instance():
    made = builder(definition())
    one, count = made.price({"x": 1})
    assert (one, count) == (pytest.approx(0.05), 1)
    assert made.price({"instance_type": "local.2cpu.1gpu", "instance_count": 3}) == (pytest.approx(0.6), 3)
    assert made.price({"instance_type": "ml.m5.xlarge"}) == (0.23, 1)
    assert made.price({"instance_type": "ml.unheard.of"}) == (None, 1)
    assert builder(definition(), region="mars-north-1").price({"instance_type": "ml.m5.xlarge"}) == (None, 1)


@pytest.mark.parametrize(
    ("working_dir", "words"),
    [
        ("job", ("${python}", "${source}/train.py", "LICENSE", "${source}/conf/a.json", "${source}/bin/run", "missing.py", "folder.d")),
        ("source", ("${python}", "train.py", "LICENSE", "conf/a.json", "bin/run", "missing.py", "folder.d")),
    ],
)
def test_words_that_name_files_of_the_source_folder_are_found_where_a_job_starts(tmp_path, working_dir, words):
    for name in ("train.py", "LICENSE", "conf/a.json", "bin/run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "folder.d").mkdir()
    given = ("python", "train.py", "LICENSE", "conf/a.json", "bin/run", "missing.py", "folder.d", "${arguments}")
    made = definition(script=None, command=given, source_dir=str(tmp_path), working_dir=working_dir)
    assert builder(made).build(0, 1, TrialSpec({"x": 5}), None).command == (*words, "--x=5")
