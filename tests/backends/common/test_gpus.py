"""GPUs are found by NVIDIA's tool, by the devices that there are, or by the variables that hide some."""

from pathlib import Path

import pytest

from backends.common.gpus import gpu_ids, visible_variables


def test_gpus_that_are_hidden_from_the_controller_are_not_there() -> None:
    assert gpu_ids({"CUDA_VISIBLE_DEVICES": "2, GPU-ab"}) == ("2", "GPU-ab")
    assert gpu_ids({"CUDA_VISIBLE_DEVICES": "-1"}) == ()
    assert gpu_ids({"CUDA_VISIBLE_DEVICES": ""}) == ()
    assert gpu_ids({"HIP_VISIBLE_DEVICES": "1,2"}) == ("1", "2")


@pytest.mark.slow
def test_gpus_are_counted_by_the_drivers_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    lines = ("GPU 0: NVIDIA H200 (UUID: GPU-1)", "  MIG 1g.18gb Device 0: (UUID: MIG-1)", "GPU 1: NVIDIA H200 (UUID: GPU-2)")
    tool.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert gpu_ids({}) == ("0", "1")
    tool.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    assert gpu_ids({}) == ()
    assert gpu_ids({"CUDA_VISIBLE_DEVICES": "GPU-2"}) == ("GPU-2",)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without NVIDIA's tool; return where its file system begins."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "dev").mkdir()
    return tmp_path


def test_a_container_may_have_devices_and_no_tool(machine: Path) -> None:
    assert gpu_ids({}, machine) == ()
    for name in ("nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm"):
        (machine / "dev" / name).touch()
    assert gpu_ids({}, machine) == ("0", "1")


def test_gpus_of_amd_are_the_nodes_that_are_no_processors(machine: Path) -> None:
    for node, number in enumerate(("0", "0", "51424", "12832")):
        folder = machine / "sys/class/kfd/kfd/topology/nodes" / str(node)
        folder.mkdir(parents=True)
        (folder / "gpu_id").write_text(f"{number}\n", encoding="utf-8")
    assert gpu_ids({}, machine) == ()  # none of them was given to this container
    (machine / "dev" / "kfd").touch()
    assert gpu_ids({}, machine) == ("0", "1")


def test_a_job_sees_its_own_by_each_variable_that_would_show_it_others() -> None:
    assert visible_variables({"PATH": "/bin"}, "1") == {"CUDA_VISIBLE_DEVICES": "1"}
    assert visible_variables({"HIP_VISIBLE_DEVICES": "1,2"}, "") == {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
