"""What is decided for the user is a line of its own, word for word, at the start of a run and of a dry run."""

import pytest


@pytest.fixture
def two_gpus(toy, monkeypatch):
    """A machine whose driver lists two GPUs, as `nvidia-smi -L` prints them."""
    folder = toy.folder / "bin"
    folder.mkdir()
    listed = "".join(f"echo 'GPU {number}: NVIDIA A100 (UUID: GPU-{number})'\n" for number in range(2))
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{listed}", encoding="utf-8")
    (folder / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    return toy


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr("backends.common.cpu_quota.cpu_quota", lambda: None)
    monkeypatch.setattr("benchmarking.decided.free_bytes", lambda path: 5 * 2**30)


def decided(run, *words):
    """Return the lines of a run, and check that a dry run says the same."""
    code, _, err = run("--benchmark", "toy.yaml", *words)
    assert code == 0, err
    said = [line.strip() for line in err.splitlines() if line.startswith("  ")]
    code, out, _ = run("--benchmark", "toy.yaml", "--dry_run", *words)
    assert code == 0
    assert out.split("\n\n")[1].splitlines() == said
    return said


CORES = "each trial gets 1 of 2 cores (OMP_NUM_THREADS=1); --set arguments.instance_type=local.2cpu for all"
NO_LIMIT = "a job may take as long as it takes; --max_run S limits it"
NOMINAL = "prices are nominal: nobody is billed"
DISK = "disk: 5.0 GiB are free for results"
KEPT = "checkpoints and models of the best trial stay, those of others go once it is known; --set keep=all for all"


@pytest.mark.slow
def test_a_plain_definition(toy, run):
    assert decided(run) == [CORES, NO_LIMIT, NOMINAL, DISK, KEPT]


@pytest.mark.slow
def test_gpus_that_nobody_asked_for_are_shared_out_shown_and_missed_where_they_are_gone(two_gpus, run, monkeypatch):
    assert decided(run, "--experiment_tag", "g") == [
        "each trial gets 1 of 2 GPUs; --set arguments.instance_type=local.1cpu for none",
        CORES.replace("local.2cpu", "local.2cpu.1gpu"),
        NO_LIMIT,
        NOMINAL,
        DISK,
        KEPT,
    ]
    _, out, _ = run("--show", "toy.yaml")
    assert [line.split() for line in out.splitlines() if "instance_type" in line] == [
        ["instance_type:", "local.1cpu.1gpu", "#", "this", "machine"]
    ]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    code, _, err = run("--resume", "g", "--max_num_trials", "6")
    assert code == 2
    assert "error: benchmark toy: local.1cpu.1gpu does not fit here\n  this machine has 2 cores, no GPU, " in err
