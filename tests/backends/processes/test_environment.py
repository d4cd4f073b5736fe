"""What a job finds in its environment and folders."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.backend_context import BackendContext
from backends.common.activation import Activation
from backends.common.child_process import end_descriptor
from backends.common.clock import SteadyClock
from backends.job_input import JobInput
from backends.job_spec import JobSpec
from backends.local.backend import LocalBackend
from backends.processes.checkpoints import LocalCheckpoints
from backends.processes.environment import REPORTER_FOLDER, Allocation, job_environment, pasteable
from definitions.schema import BenchmarkDefinition
from tests.backends.contract import all_closed, closed, collect
from tests.backends.local_bench import LocalBench

TRAIN = JobInput("train", "photo_shards", "shards", "local", "tar", "/data/train")
EVAL = JobInput("my-eval", "photo_files", "files", "none", "s3_map", "s3://bucket/eval")
SPEC = JobSpec("job-7-1", 7, 1, "/x/train.py", instance_type="local.2cpu.1gpu", inputs=(TRAIN, EVAL))
PLACE = Allocation(Path("/e/jobs/job-7-1"), Path("/e/checkpoints/7"), (0, 1), ("3",), "abc.1;")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LocalBench]:
    bench = LocalBench(tmp_path)
    yield bench
    assert bench.backend.close() == []


def test_a_job_finds_its_identity_its_share_and_its_channels() -> None:
    spec = dataclasses.replace(SPEC, parameters={"batch_size": 32})
    found = job_environment({"HOME": "/h", "OUTRIDER_CHECKPOINT_DIR": "/of/an/outer/job"}, spec, PLACE)
    wanted = {
        "HOME": "/h",
        "OUTRIDER_JOB": "job-7-1",
        "OUTRIDER_TRIAL": "7",
        "OUTRIDER_ATTEMPT": "1",
        "OUTRIDER_INSTANCE_TYPE": "local.2cpu.1gpu",
        "OUTRIDER_INSTANCE_COUNT": "1",
        "OUTRIDER_CORES": "2",
        "OUTRIDER_CHECKPOINT_DIR": "/e/checkpoints/7",
        "OUTRIDER_CHANNEL_TRAIN": "/data/train",
        "SM_CHANNEL_TRAIN": "/data/train",
        "OUTRIDER_READER_TRAIN": "tar",
        "OUTRIDER_INPUT_MODE_TRAIN": "local",
        "OUTRIDER_LAYOUT_TRAIN": "shards",
        "OUTRIDER_DATASET_TRAIN": "photo_shards",
        "SM_CHANNEL_MY_EVAL": "s3://bucket/eval",
        "OUTRIDER_READER_MY_EVAL": "s3_map",
        "SM_CURRENT_HOST": "algo-1",
        "SM_NUM_CPUS": "2",
        "SM_NUM_GPUS": "1",
        "SM_MODEL_DIR": "/e/jobs/job-7-1/model",
        "CUDA_VISIBLE_DEVICES": "3",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "OMP_NUM_THREADS": "2",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(REPORTER_FOLDER),
    }
    assert {key: found[key] for key in wanted} == wanted
    assert json.loads(found["SM_CHANNELS"]) == ["train", "my-eval"]
    assert json.loads(found["SM_HOSTS"]) == ["algo-1"]
    assert json.loads(found["SM_HPS"]) == {"batch_size": 32}


def test_the_users_own_variables_win() -> None:
    base = {"OMP_NUM_THREADS": "8", "PYTHONPATH": "/mine", "OUTRIDER_CONTROLLER": "outer.1;"}
    found = job_environment(base, dataclasses.replace(SPEC, environment={"SM_NUM_CPUS": "9"}), dataclasses.replace(PLACE, checkpoint=None))
    assert (found["OMP_NUM_THREADS"], found["SM_NUM_CPUS"]) == ("8", "9")
    assert found["PYTHONPATH"] == f"{REPORTER_FOLDER}:/mine"
    assert found["OUTRIDER_CONTROLLER"] == "outer.1;abc.1;"
    assert "OUTRIDER_CHECKPOINT_DIR" not in found


@pytest.mark.slow
def test_a_job_runs_in_its_own_folder_with_places_for_its_output(bench: LocalBench) -> None:
    code = "import os\nreport(cwd=os.getcwd(), there=[os.path.isdir(os.environ[n]) for n in ('SM_MODEL_DIR', 'SM_OUTPUT_DATA_DIR')])\n"
    found = bench.metrics_of(bench.job("one", code))
    assert found == [{"cwd": str(bench.folder / "experiment" / "jobs" / "one"), "there": [True, True]}]


@pytest.mark.slow
def test_a_checkpoint_is_gone_on_from_only_where_that_was_asked(bench: LocalBench) -> None:
    code = """
        from outrider_report import checkpoint_dir, resumed
        report(resumed=resumed())
        (checkpoint_dir() / "state").write_text("x")
    """
    attempts = [None, "1", None, "1"]
    jobs = [bench.job(f"j{n}", code, checkpoint="2" if n == 3 else "1", restore_from=key) for n, key in enumerate(attempts)]
    assert [bench.metrics_of(job)[0]["resumed"] for job in jobs] == [False, True, False, True]


def test_checkpoints_copy_over_what_was_there_and_keep_to_their_folder(tmp_path: Path) -> None:
    store = LocalCheckpoints(tmp_path / "c")
    for key, name in (("a", "new"), ("b", "old"), ("c", ".outrider-incarnation")):
        store.path(key).mkdir(parents=True)
        (store.path(key) / name).write_text(key)
    assert [store.exists(key) for key in "abcd"] == [True, True, False, False]
    store.copy("a", "b")
    store.copy("a", "a")
    assert sorted(path.name for path in store.path("b").iterdir()) == ["new"]
    assert store.exists("a")
    for key in ("", "../x", "/etc", "a/../../x"):
        with pytest.raises(ValueError, match="checkpoint key"):
            store.path(key)


def test_a_step_of_the_wall_clock_changes_no_duration() -> None:
    wall, elapsed = [1000.0], [5.0]
    clock = SteadyClock(lambda: wall[0], lambda: elapsed[0])
    began = clock()
    assert began == 1000.0
    wall[0] -= 2.0
    elapsed[0] += 3.0
    assert clock() - began == 3.0
    wall[0] += 7200.0
    assert clock() - began == 3.0


@pytest.mark.slow
def test_durations_of_a_job_are_by_the_steady_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = LocalBench(tmp_path)
    events = bench.begin(bench.job("one", "import time\nreport(n=1)\ntime.sleep(0.3)\n"))
    monkeypatch.setattr(time, "time", lambda: 0.0)
    while (end := next((event for event in events if type(event).__name__ == "Closed"), None)) is None:
        events += bench.backend.wait(5.0)
    assert 0.3 <= end.billable_s < 60.0  # type: ignore[attr-defined]
    assert bench.backend.close() == []


@pytest.mark.slow
def test_the_end_of_a_process_is_noticed_without_pidfds_too(bench: LocalBench) -> None:
    import select

    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    descriptor = end_descriptor(process, pidfd=False)
    assert select.select([descriptor], [], [], 0.0)[0] == []
    assert process.stdin is not None
    process.stdin.close()
    assert select.select([descriptor], [], [], 90.0)[0] == [descriptor]
    assert process.returncode == 0


def test_programs_find_the_interpreter_that_a_definition_names() -> None:
    activation = Activation("/v/bin", {"VIRTUAL_ENV": "/v"})
    base = {"PATH": "/outer/bin:/bin", "VIRTUAL_ENV": "/outer"}
    found = job_environment(base, SPEC, PLACE, activation)
    assert (found["PATH"], found["VIRTUAL_ENV"]) == ("/v/bin:/outer/bin:/bin", "/v")
    # What a definition sets itself wins, and the line to paste has both.
    own = job_environment(base, dataclasses.replace(SPEC, environment={"PATH": "/mine"}), PLACE, activation)
    assert own["PATH"] == "/mine"
    line = pasteable(["bash", "run.sh"], Path("/e"), {name: found[name] for name in base}, base)
    assert line == "cd /e && env PATH=/v/bin:/outer/bin:/bin VIRTUAL_ENV=/v bash run.sh"
    assert job_environment(base, SPEC, PLACE)["VIRTUAL_ENV"] == "/outer"


@pytest.mark.slow
def test_a_shell_around_python_runs_the_named_one(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    definition = BenchmarkDefinition(
        name="b", script="t.sh", trials=({"x": 1},), objectives={"duration_s": "min"}, python=str(tmp_path / "v/bin/python")
    )
    environ = {"PATH": "/usr/bin:/bin", "OUTRIDER_LEASES": str(tmp_path / "leases")}
    backend = LocalBackend.create(BackendContext(definition, tmp_path / "e", environ=environ))
    (tmp_path / "t.sh").write_text('python -c "import sys; print(sys.prefix)"\necho "$VIRTUAL_ENV"\n', encoding="utf-8")
    backend.submit(JobSpec("one", 0, 1, str(tmp_path / "t.sh"), is_silent=True, instance_type="local.1cpu"))
    events = collect(backend, all_closed("one"))
    assert closed(events, "one").log_tail == (str(tmp_path / "v"), str(tmp_path / "v"))
    assert backend.close() == []


def test_one_is_created_from_a_definition(tmp_path: Path) -> None:
    definition = BenchmarkDefinition(name="b", script="t.py", trials=({"x": 1},), objectives={"loss": "min"}, local={"grace_s": 1.5})
    environ = {"PATH": "/usr/bin:/bin", "OUTRIDER_LEASES": str(tmp_path / "leases")}
    backend = LocalBackend.create(BackendContext(definition, tmp_path / "e", environ=environ))
    assert backend.close() == []
    assert (tmp_path / "leases").is_dir()
