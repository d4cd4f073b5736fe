"""`outrider stop` beside a controller that runs on another machine: it starts no more, and a resume goes on."""

from __future__ import annotations

import csv
import os
import socket
import time

import pytest

from backends.naming import controller_mark
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.stop_mark import left
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord, as_json
from launch.__main__ import main
from tests.backends.tag_bench import BUCKET, TagBench, tag_bench, use

pytestmark = pytest.mark.slow

BLOCK = "{image: 'image:1'}"


@pytest.fixture
def bench(monkeypatch, tmp_path):
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        yield TagBench(emulator)


@pytest.fixture
def cloudy(toy):
    toy.define(arguments="{seconds: 0.2, instance_type: ml.m5.large}", sagemaker=BLOCK, budget="{max_num_trials: 12}", n_workers="2")
    return toy


def words(*more):
    return ("--benchmark", "toy.yaml", "--backend", "sagemaker", "--experiment_tag", "t", *more)


def store_of(bench):
    return S3ObjectStore(f"s3://{BUCKET}/outrider/runs/t", bench.clients())


def jobs(bench):
    page = bench.sagemaker.list_training_jobs(MaxResults=100)
    return {one["TrainingJobName"]: one["TrainingJobStatus"] for one in page["TrainingJobSummaries"]}


def wait_for(condition, longest_s=180.0):
    until = time.monotonic() + longest_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def statuses(folder):
    rows = csv.DictReader((folder / "trials.csv").open())
    return [row["status"] for row in rows]


def test_a_controller_elsewhere_starts_no_more_and_a_resume_does_the_rest(bench, cloudy, controller, run, tmp_path, capfd):
    process = controller(*words())
    wait_for(lambda: "Completed" in jobs(bench).values())
    assert main(["stop", "--tag", "t", "--results_dir", str(tmp_path / "elsewhere")]) == 0
    known = jobs(bench)
    assert not {"InProgress", "Stopping"} & {*known.values()}
    assert left(store_of(bench)).is_of_all
    code, _, said = process.finish()
    assert code == 130
    assert "asked for its end from elsewhere" in said
    assert jobs(bench) == known
    folder = cloudy.results / "t" / "toy" / "RS-sagemaker-0"
    assert "stopped" not in statuses(folder)
    assert "completed" in statuses(folder)
    code, _, said = run("--resume", "t")
    assert code == 0
    assert "that is taken back" in said
    assert left(store_of(bench)) is None
    assert statuses(folder) == ["completed"] * 12
    started = [name.split("-t", 1)[1] for name in jobs(bench)]
    assert len(started) == len({*started})


def test_twice_and_without_anything_that_runs_is_fine_and_a_start_takes_a_mark_of_an_earlier_run_away(bench, cloudy, run, capfd):
    assert main(["stop", "--tag", "t"]) == 0
    assert main(["stop", "--tag", "t"]) == 0
    assert left(store_of(bench)).is_of_all
    code, _, said = run(*words("--max_num_trials", "2"))
    assert code == 0
    assert "that is taken back" in said


def test_one_experiment_of_a_study_ends_and_the_others_go_on(bench, cloudy, controller, tmp_path, capfd):
    process = controller(*words("--num_seeds", "2", "--parallel", "2", "--max_num_trials", "8"))
    wait_for(lambda: len([name for name, status in jobs(bench).items() if status == "Completed"]) >= 2)
    wait_for(lambda: (cloudy.results / "t" / "toy" / "RS-sagemaker-1" / "journal.sqlite").exists())
    # From elsewhere: where what the run's controllers know of its experiments is in a folder that nobody runs in.
    copy = tmp_path / "copy" / "t" / "toy"
    copy.mkdir(parents=True)
    for number in (0, 1):
        (copy / f"RS-sagemaker-{number}").mkdir()
        for name in ("experiment.json", "definition.yaml", "environment.json"):
            source = cloudy.results / "t" / "toy" / f"RS-sagemaker-{number}" / name
            if source.exists():
                (copy / f"RS-sagemaker-{number}" / name).write_bytes(source.read_bytes())
    assert main(["stop", "--tag", "t", "--experiment", "RS-sagemaker-1", "--results_dir", str(tmp_path / "copy")]) == 0
    code, _, _ = process.finish()
    assert code == 130
    assert statuses(cloudy.results / "t" / "toy" / "RS-sagemaker-0") == ["completed"] * 8
    ended = statuses(cloudy.results / "t" / "toy" / "RS-sagemaker-1")
    assert len(ended) < 8
    assert "stopped" not in ended
    assert left(store_of(bench)).experiments == ("toy/RS-sagemaker-1",)


def test_controllers_in_jobs_end_first_and_wind_down_what_they_run(bench, capfd):
    trial = bench.job("t")
    name = f"{controller_mark('t')}0123abcd-g1"
    bench.sagemaker.create_training_job(
        TrainingJobName=name,
        AlgorithmSpecification={
            "TrainingImage": "image:1",
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["sh", "-c", "trap 'sleep 1; exit 0' TERM; while :; do sleep 0.1; done"],
        },
        RoleArn="arn:aws:iam::123456789012:role/trainer",
        OutputDataConfig={"S3OutputPath": f"s3://{BUCKET}/outrider/output/t"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        StoppingCondition={"MaxRuntimeInSeconds": 3600},
        Tags=[{"Key": "outrider:tag", "Value": "t"}],
    )
    bench.until(name, lambda job: job["SecondaryStatus"] == "Training")
    assert main(["stop", "--tag", "t"]) == 0
    ended = {one: bench.describe(one)["TrainingEndTime"] for one in (name, trial)}
    assert ended[name] < ended[trial]
    assert "waiting for 1 controller to wind down" in capfd.readouterr().err


def test_a_mark_that_cannot_be_left_is_said_and_told_by_the_exit_code(bench, capfd):
    name = bench.job("t")
    bench.emulator.add_faults([{"kind": "s3_error", "operation": "PutObject", "code": "AccessDenied", "status": 403}])
    assert main(["stop", "--tag", "t"]) == 5
    assert "no mark could be left" in capfd.readouterr().err
    assert bench.status(name) == "Stopped"


def test_a_machine_that_is_offline_stops_nothing_and_says_so_and_once_online_it_does(bench, monkeypatch, capfd):
    name, online = bench.job("t"), os.environ["AWS_ENDPOINT_URL"]
    with socket.socket() as nobody:
        # A port that nobody listens on, and nobody else can have meanwhile.
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{nobody.getsockname()[1]}")
        assert main(["stop", "--tag", "t"]) == 5
    assert "check the region's name, the network" in capfd.readouterr().err
    assert left(store_of(bench)) is None
    assert bench.status(name) == "InProgress"
    monkeypatch.setenv("AWS_ENDPOINT_URL", online)
    assert main(["stop", "--tag", "t"]) == 0
    assert left(store_of(bench)).is_of_all
    assert bench.status(name) == "Stopped"


def test_an_experiment_that_nobody_knows_is_refused_with_those_there_are(bench, capfd):
    assert main(["stop", "--tag", "t", "--experiment", "RS-sagemaker-7"]) == 2
    assert "neither this machine nor S3 knows of one" in capfd.readouterr().err


def test_one_that_has_not_begun_is_marked_and_no_job_of_the_others_is_touched(bench, capfd):
    experiments = tuple(PlannedExperiment("toy", "RS", number, number, "h", hears_levels=False, repeats=1) for number in (0, 1))
    study = StudyRecord(StudyFlags("sagemaker"), {}, experiments)
    store_of(bench).put("study.json", as_json(study).encode())
    name = bench.job("t")
    assert main(["stop", "--tag", "t", "--experiment", "RS-sagemaker-1"]) == 0
    assert left(store_of(bench)).experiments == ("toy/RS-sagemaker-1",)
    assert bench.status(name) == "InProgress"
