import json

import pytest

from backends.common import script_mode

RESOURCES = {
    "current_host": "algo-2",
    "current_instance_type": "ml.m5.large",
    "current_group_name": "homogeneousCluster",
    "hosts": ["algo-1", "algo-2"],
    "instance_groups": [{"instance_group_name": "homogeneousCluster", "instance_type": "ml.m5.large", "hosts": ["algo-1", "algo-2"]}],
    "network_interface_name": "eth0",
}
DEVICES = {"cpus": 4, "gpus": 1, "neurons": 0}


def shown(parameters=None, resources=None, **others):
    inputs = {"train": {"TrainingInputMode": "File"}, "a-b": {"TrainingInputMode": "Pipe"}}
    found = {"sagemaker_program": "t.py", **(parameters or {})}
    given = {"script": None, "devices": DEVICES, **others}
    return script_mode.script_variables("/opt/ml", resources or RESOURCES, inputs, found, **given)


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [
        ({"lr": 0.1, "b": True}, ["-b", "True", "--lr", "0.1"]),
        ({"opt": {"b": "z", "a": 1}}, ["--opt", "a=1,b=z"]),
        ({"layers": [1, "x"], "none": None}, ["--layers", "[1, 'x']", "--none", ""]),
        ({"sagemaker_program": "t.py", "default_user_module_name": "x", "_tuning_objective_metric": "y", "z": 1}, ["-z", "1"]),
        ({"B": 1, "a": 2, "é": "ü"}, ["-B", "1", "-a", "2", "-é", "ü"]),
        ({}, []),
    ],
)
def test_arguments(parameters, arguments):
    assert script_mode.arguments_of(parameters) == arguments


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1),
        ("true", True),
        ("plain words", "plain words"),
        ('"3"', "3"),
        ("", ""),
        ("[1, 2]", [1, 2]),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_hyperparameters_are_decoded_where_they_are_json(text, value):
    assert script_mode.decoded({"a": text}) == {"a": value}


def test_variables_are_those_of_the_toolkit():
    found = shown({"lr": 0.1, "opt": {"b": 2, "a": 1}, "text": "é"}, job_name="job-1")
    assert (found["SM_HPS"], found["SM_HP_OPT"], found["SM_HP_LR"]) == (
        '{"lr":0.1,"opt":{"a":1,"b":2},"text":"\\u00e9"}',
        '{"a":1,"b":2}',
        "0.1",
    )
    assert (found["SM_USER_ENTRY_POINT"], found["SM_MODULE_NAME"], found["SM_MODULE_DIR"]) == ("t.py", "t", "/opt/ml/code")
    assert found["SM_CHANNELS"] == '["a-b","train"]'
    assert (found["SM_CHANNEL_A-B"], found["SM_CHANNEL_TRAIN"]) == ("/opt/ml/input/data/a-b", "/opt/ml/input/data/train")
    assert (found["SM_IS_HETERO"], found["SM_FRAMEWORK_MODULE"], found["SM_NUM_GPUS"], found["SM_LOG_LEVEL"]) == ("false", "", "1", "20")
    assert json.loads(found["SM_INSTANCE_GROUPS_DICT"])["homogeneousCluster"]["hosts"] == ["algo-1", "algo-2"]
    assert "SM_TOPOLOGY" not in found
    whole = json.loads(found["SM_TRAINING_ENV"])
    assert (whole["job_name"], whole["is_master"], whole["master_hostname"]) == ("job-1", False, "algo-1")
    assert whole["hyperparameters"] == {"lr": 0.1, "opt": {"a": 1, "b": 2}, "text": "é"}
    assert whole["channel_input_dirs"]["train"] == "/opt/ml/input/data/train"


def test_a_launcher_is_told_where_it_counts():
    found = shown({"sagemaker_torch_distributed_enabled": True, "sagemaker_instance_type": "ml.m5.large"})
    assert json.loads(found["SM_FRAMEWORK_PARAMS"]) == {
        "sagemaker_torch_distributed_enabled": True,
        "sagemaker_instance_type": "ml.m5.large",
    }
    assert json.loads(found["SM_DISTRIBUTION_INSTANCE_GROUPS"]) == ["homogeneousCluster"]
    assert json.loads(shown()["SM_DISTRIBUTION_INSTANCE_GROUPS"]) == []
    assert script_mode.launchers_of({"sagemaker_mpi_enabled": False, "sagemaker_parameter_server_enabled": True}) == [
        "sagemaker_parameter_server_enabled"
    ]


def test_groups_of_instances():
    groups = [
        {"instance_group_name": "cpu", "instance_type": "ml.m5.large", "hosts": ["algo-1"]},
        {"instance_group_name": "gpu", "instance_type": "ml.p3.2xlarge", "hosts": ["algo-2", "algo-3"]},
    ]
    resources = {**RESOURCES, "current_group_name": "gpu", "hosts": ["algo-1", "algo-2", "algo-3"], "instance_groups": groups}
    found = shown({"sagemaker_distribution_instance_groups": ["gpu"]}, resources)
    assert (found["SM_IS_HETERO"], found["SM_CURRENT_INSTANCE_GROUP_HOSTS"]) == ("true", '["algo-2","algo-3"]')
    whole = json.loads(found["SM_TRAINING_ENV"])
    assert (whole["master_hostname"], whole["is_master"], whole["distribution_hosts"]) == ("algo-2", True, ["algo-2", "algo-3"])
