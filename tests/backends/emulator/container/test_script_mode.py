"""Script mode: how a framework container starts a script, and what it does first."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(params=["auto", "never"])
def anywhere(request, bench, started):
    """A bench with a private /opt/ml where that is allowed, and one with relocated paths."""
    return bench if request.param == "auto" else started(settings={"namespaces": "never"})


def test_script_mode(anywhere):
    source = anywhere.source(
        {
            "train.py": "import sys, helper\nprint(sys.argv[1:], helper.WORD)\n",
            "helper.py": "WORD = 'helped'\n",
            "requirements.txt": "pip\n",
        }
    )
    name = anywhere.submit(
        None,
        HyperParameters={
            "sagemaker_program": '"train.py"',
            "sagemaker_submit_directory": json.dumps(source),
            "sagemaker_container_log_level": "20",
            "lr": "0.1",
            "b": "true",
            "text": '"a b"',
        },
    )
    anywhere.completed(name)
    assert anywhere.lines(name) == [
        "requirements.txt: all is there, so nothing is installed",
        "['-b', 'True', '--lr', '0.1', '--text', 'a b'] helped",
    ]


def script(bench, files, parameters, **rest):
    source = bench.source(files, f"source/{bench.name('source')}.tar.gz")
    program = {"sagemaker_program": '"t.py"', "sagemaker_submit_directory": json.dumps(source)}
    return bench.submit(None, HyperParameters={**program, **parameters}, **rest)


def test_requirements_that_are_not_there_fail_the_job(bench):
    name = script(bench, {"t.py": "print('ran')", "requirements.txt": "pip\nno-such-package-of-ours==9.9\n"}, {})
    reason = bench.ended(name)["FailureReason"]
    assert reason.startswith(
        'AlgorithmError: InstallRequirementsError:\nExitCode 1\nErrorMessage "not there: no-such-package-of-ours==9.9"'
    )
    assert "ran" not in bench.lines(name)


# In one write, end of line included: what several processes print in pieces is mixed.
WORLD = """import os
said = " ".join(os.environ.get(name, "") for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "GROUP_RANK"))
os.write(1, f"{said}\\n".encode())
"""


def test_torchrun_starts_the_processes_of_all_hosts(bench):
    name = script(
        bench,
        {"t.py": WORLD},
        {"sagemaker_torch_distributed_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"},
        resources={"InstanceCount": 2},
    )
    bench.completed(name)
    assert sorted(line for line in bench.lines(name) if line[:1].isdigit()) == ["0 0 4 0", "1 1 4 0", "2 0 4 1", "3 1 4 1"]


@pytest.mark.parametrize(
    ("parameter", "count", "said"),
    [
        ("sagemaker_pytorch_ddp_enabled", 1, "distribution pytorchddp is not imitated here"),
        ("sagemaker_parameter_server_enabled", 1, "distribution parameter_server is not imitated here"),
        ("sagemaker_distributed_dataparallel_enabled", 1, "distribution smdistributed dataparallel is not imitated here"),
        ("sagemaker_mpi_enabled", 2, "distribution mpi is imitated on one host only"),
    ],
)
def test_a_launcher_that_is_not_there_fails_the_job(bench, parameter, count, said):
    name = script(bench, {"t.py": "print('ran')"}, {parameter: "true"}, resources={"InstanceCount": count})
    assert bench.ended(name)["FailureReason"].startswith(f"ClientError: {said}")
    assert bench.lines(name) == []


def test_a_checkpoint_s_place_is_told(anywhere):
    name = anywhere.python(
        'import os; print(open(os.environ["SM_INPUT_CONFIG_DIR"] + "/checkpointconfig.json").read())',
        CheckpointConfig={"S3Uri": "s3://bucket/checkpoints-of-none"},
    )
    anywhere.completed(name)
    place = (
        "/opt/ml"
        if anywhere.emulator.isolation != "none"
        else json.loads(anywhere.lines(name)[0])["LocalPath"].removesuffix("/checkpoints")
    )
    assert anywhere.lines(name) == [json.dumps({"LocalPath": f"{place}/checkpoints"})]
    assert anywhere.describe(name)["CheckpointConfig"]["LocalPath"] == "/opt/ml/checkpoints"


def test_links_lead_to_what_the_script_sees(anywhere):
    code = (
        'cd "$SM_MODEL_DIR"; echo best > "$SM_OUTPUT_DATA_DIR/best"; ln -s "$SM_OUTPUT_DATA_DIR/best" absolute;'
        " ln -s ../output/data/best relative;"
        " ln -s /etc/hostname outside; ln -s ../../../../etc/hostname climbing; ln -s loop loop"
    )
    job = anywhere.completed(anywhere.shell(code))
    assert anywhere.archive(job["ModelArtifacts"]["S3ModelArtifacts"]) == {"absolute": b"best\n", "relative": b"best\n"}


def test_script_mode_s_failure_names_the_command(bench):
    source = bench.source({"t.py": "raise ValueError('a bad rate')\n"}, "source/bad.tar.gz")
    name = bench.submit(None, HyperParameters={"sagemaker_program": "t.py", "sagemaker_submit_directory": source})
    reason = bench.ended(name)["FailureReason"]
    assert reason.startswith("AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage")
    assert "ValueError: a bad rate" in reason
    assert reason.endswith('Command "python t.py", exit code: 1')
