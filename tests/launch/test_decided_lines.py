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


@pytest.mark.slow
def test_each_thing_that_the_definition_leaves_open_has_its_line(toy, run):
    assert decided(run, "--n_workers", "8", "--max_run", "60") == [
        CORES,
        "n_workers 8 -> 2: no more of local.1cpu fit here at once",
        NOMINAL,
        DISK,
        KEPT,
    ]
    assert decided(run, "--exclusive", "--set", "keep=all")[1:] == [
        "exclusive: nothing runs beside a trial, so that nothing disturbs it; --set exclusive=false for more at once",
        NO_LIMIT,
        NOMINAL,
        DISK,
    ]
    assert decided(run, "--set", "preload=[json]")[2:] == [
        NOMINAL,
        "preload json: Python scripts are forked from a process that has imported it",
        DISK,
        KEPT,
    ]
    assert decided(run, "--max_cost", "5")[1] == (
        "a job may take 3600 s (default, as max_cost needs a limit); --max_run S for another limit"
    )


@pytest.mark.slow
def test_no_budget_at_all(toy, run):
    toy.define(budget="")
    _, out, _ = run("--benchmark", "toy.yaml", "--dry_run")
    assert out.split("\n\n")[1].splitlines()[1] == (
        "no budget: it goes on until it is interrupted; --max_num_trials, --max_wallclock_time or --max_cost end it"
    )


@pytest.mark.slow
def test_a_quota_and_a_disk_that_will_not_do(toy, run, monkeypatch):
    for place in ("backends.common.cpu_quota.cpu_quota", "backends.local.checks.cpu_quota"):
        monkeypatch.setattr(place, lambda: 0.5)
    monkeypatch.setattr("benchmarking.decided.free_bytes", lambda path: 2**20)
    code = "import os\nopen(os.path.join(os.environ['SM_MODEL_DIR'], 'w'), 'wb').write(os.urandom(1 << 20))\n"
    (toy.folder / "toy.py").write_text((toy.folder / "toy.py").read_text() + code, encoding="utf-8")
    first = decided(run, "--experiment_tag", "first")
    assert "CPU quota of this container: 0.5 of a core, so what runs is throttled, and times and speeds are of the throttling" in first
    assert "only 1.0 MiB of disk are free for results; make room, or give another --results_dir" in first
    _, out, _ = run("--benchmark", "toy.yaml", "--dry_run", "--set", "keep=all", "--n_workers", "1")
    (line,) = [line for line in out.splitlines() if line.startswith("disk: ")]
    assert line.startswith("disk: 4 trials that leave what those of first left need about 4.")
    assert line.endswith(" MiB at once, 1.0 MiB are free in results; make room, give another --results_dir, or keep less (keep: none)")
