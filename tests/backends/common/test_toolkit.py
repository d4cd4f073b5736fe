"""Side by side with sagemaker-training, which starts scripts in the containers of frameworks: the same variables and arguments.

It needs an environment of its own with that package, whose interpreter OUTRIDER_TOOLKIT_PYTHON names.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from backends.common import script_mode

PYTHON = os.environ.get("OUTRIDER_TOOLKIT_PYTHON", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="OUTRIDER_TOOLKIT_PYTHON names no interpreter that has sagemaker-training"),
]

THEIRS = """
import json, sys
from sagemaker_training import environment
found = environment.Environment()
json.dump([found.to_env_vars(), found.to_cmd_args()], sys.stdout)
"""

ONE = {"current_host": "algo-1", "hosts": ["algo-1"], "current_instance_type": "ml.m5.large", "current_group_name": "homogeneousCluster"}
ONE["instance_groups"] = [{"instance_group_name": "homogeneousCluster", "instance_type": "ml.m5.large", "hosts": ["algo-1"]}]
TWO = {**ONE, "current_host": "algo-2", "hosts": ["algo-1", "algo-2"], "network_interface_name": "eth9"}
TWO["instance_groups"] = [{"instance_group_name": "homogeneousCluster", "instance_type": "ml.m5.large", "hosts": ["algo-1", "algo-2"]}]
MIXED = {**TWO, "hosts": ["algo-1", "algo-2", "algo-3"], "current_group_name": "gpu"}
MIXED["instance_groups"] = [
    {"instance_group_name": "cpu", "instance_type": "ml.m5.large", "hosts": ["algo-1"]},
    {"instance_group_name": "gpu", "instance_type": "ml.p3.2xlarge", "hosts": ["algo-2", "algo-3"]},
]
TRAIN = {"train": {"TrainingInputMode": "File", "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"}}

VALUES = [
    *("0.1", "1", "-3", "1e-7", "1E400", "NaN", "Infinity", "-Infinity", "true", "false", "null", "", " ", '"3"', '"true"', '"null"', '""'),
    *(
        "plain",
        "two words",
        "it's",
        '"quoted \\"inside\\""',
        "a=b",
        "--flag",
        "-1",
        "$HOME",
        "`x`",
        "ünïcödé",
        '"\\u00fc"',
        "日本",
        '"a\\nb"',
    ),
    *("[]", "[1, 2]", '[1, "x", null]', "{}", '{"b": 1, "a": "z"}', '{"a": {"b": [1]}}', '{"a": null}', "[1,", "{'a': 1}", "0x10", "1_000"),
    *("99999999999999999999", "x" * 2500, "\\", "\t", "#011"),
]
INPUTS = [({"value": value}, ONE, TRAIN) for value in VALUES] + [
    ({}, ONE, {}),
    ({"a": "1", "B": "2", "with-dash": "3", "dot.ted": "4", "é": "5"}, ONE, {**TRAIN, "a-b": TRAIN["train"], "UPPER": TRAIN["train"]}),
    ({"default_user_module_name": "x", "_tuning_objective_metric": "y", "sagemaker_s3_output": '"s3://b/o"', "lr": "1"}, ONE, TRAIN),
    ({"sagemaker_container_log_level": "10", "sagemaker_region": '"eu-west-1"', "sagemaker_job_name": '"j"'}, ONE, TRAIN),
    ({"sagemaker_torch_distributed_enabled": "true", "sagemaker_instance_type": '"ml.m5.large"'}, TWO, TRAIN),
    ({"sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"}, TWO, TRAIN),
    ({"sagemaker_mpi_enabled": "false", "sagemaker_parameter_server_enabled": "true"}, TWO, TRAIN),
    ({"sagemaker_distribution_instance_groups": '["gpu"]', "sagemaker_mpi_enabled": "true"}, MIXED, TRAIN),
    ({"sagemaker_program": '"package.train"'}, MIXED, TRAIN),
    ({"sagemaker_program": '"run.sh"', "sagemaker_submit_directory": '"/opt/ml/input/data/code/s.tar.gz"'}, ONE, TRAIN),
]


@pytest.mark.parametrize(("parameters", "resources", "inputs"), INPUTS)
def test_variables_and_arguments_are_the_same(tmp_path, parameters, resources, inputs):
    ml = tmp_path / "ml"
    config = ml / "input" / "config"
    config.mkdir(parents=True)
    given = {"sagemaker_program": '"t.py"', "sagemaker_submit_directory": '"s3://b/s.tar.gz"', **parameters}
    for name, content in (("hyperparameters", given), ("resourceconfig", resources), ("inputdataconfig", inputs)):
        (config / f"{name}.json").write_text(json.dumps(content))
    environment = {"PATH": "/usr/bin:/bin", "SAGEMAKER_BASE_DIR": str(ml), "TRAINING_JOB_NAME": "job-1", "HOME": str(tmp_path)}
    done = subprocess.run([PYTHON, "-c", THEIRS], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    variables, arguments = json.loads(done.stdout)
    decoded = script_mode.decoded(given)
    devices = {name: int(variables[f"SM_NUM_{name.upper()}"]) for name in ("cpus", "gpus", "neurons")}
    found = script_mode.script_variables(
        str(ml),
        resources,
        inputs,
        decoded,
        script=None,
        module_dir=str(decoded["sagemaker_submit_directory"]),
        job_name="job-1",
        devices=devices,
    )
    assert script_mode.arguments_of(decoded) == arguments
    assert {name: _value(text) for name, text in found.items()} == {name: _value(text) for name, text in variables.items()}


def _value(text):
    """Return a variable as a script reads it; two numbers that are none are the same one."""
    try:
        return repr(json.loads(text))
    except ValueError:
        return text
