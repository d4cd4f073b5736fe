import json

import pytest

from backends.emulator.container.program import Launcher, ProgramError, program_of, resolve_command, script_command
from backends.emulator.core.settings import Settings


def program(script="t.py", **parameters):
    texts = {"sagemaker_program": script, "sagemaker_submit_directory": "s3://b/s.tar.gz", **parameters}
    return program_of(
        {"AlgorithmSpecification": {}, "HyperParameters": {key: json.dumps(value) for key, value in texts.items()}}, Settings()
    )


@pytest.mark.parametrize(
    ("script", "names", "command"),
    [
        ("t.py", ["t.py"], ["python", "t.py", "--lr", "0.1"]),
        ("t.py", ["setup.py", "t.py"], ["python", "-m", "t", "--lr", "0.1"]),
        ("package.train", ["setup.py"], ["python", "-m", "package.train", "--lr", "0.1"]),
        ("run.sh", ["setup.py", "run.sh"], ["/bin/sh", "-c", './"$0" "$@"', "run.sh", "--lr", "0.1"]),
        ("train", ["train"], ["/bin/sh", "-c", './"$0" "$@"', "train", "--lr", "0.1"]),
    ],
)
def test_a_script_is_started_by_its_kind(script, names, command):
    assert script_command(program(script, lr=0.1), names, ["algo-1"], "algo-1", 1, 0) == command


def test_torchrun():
    asked = program(sagemaker_torch_distributed_enabled=True, a=1)
    assert asked.launcher == Launcher("sagemaker_torch_distributed_enabled")
    one = script_command(asked, ["t.py"], ["algo-1"], "algo-1", 5, gpus=4)
    assert one == ["torchrun", "--nnodes", "1", "--nproc_per_node", "4", "--standalone", "t.py", "-a", "1"]
    two = script_command(asked, ["t.py"], ["algo-1", "algo-2"], "algo-2", 5, gpus=0)
    assert two[3:5] == ["--nproc_per_node", "1"]
    assert two[5:11] == ["--master_addr", "127.0.0.1", "--master_port", "5", "--node_rank", "1"]
    with pytest.raises(ProgramError, match="Python scripts only"):
        script_command(program("run.sh", sagemaker_torch_distributed_enabled=True), [], ["algo-1"], "algo-1", 5, 0)


def test_mpi_on_one_host():
    asked = program(sagemaker_mpi_enabled=True, sagemaker_mpi_num_of_processes_per_host=3)
    command = script_command(asked, ["t.py"], ["algo-1"], "algo-1", 5, 0)
    assert command == ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "3", "python", "t.py"]
    with pytest.raises(ProgramError, match="one host only"):
        script_command(asked, ["t.py"], ["algo-1", "algo-2"], "algo-1", 5, 0)


def test_launchers_that_are_not_imitated():
    with pytest.raises(ProgramError, match="parameter_server is not imitated here"):
        program(sagemaker_parameter_server_enabled=True)
    assert program(sagemaker_parameter_server_enabled=False).launcher is None


def test_a_launcher_is_looked_for_beside_the_interpreter(tmp_path):
    launcher = Launcher("sagemaker_mpi_enabled")
    with pytest.raises(ProgramError, match="distribution mpi needs mpirun"):
        resolve_command(["mpirun", "x"], str(tmp_path), launcher)
    (tmp_path / "mpirun").write_text("#!/bin/sh\n")
    (tmp_path / "mpirun").chmod(0o755)
    assert resolve_command(["mpirun", "x"], str(tmp_path), launcher) == [str(tmp_path / "mpirun"), "x"]
