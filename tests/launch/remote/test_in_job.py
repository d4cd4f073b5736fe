from __future__ import annotations

import dataclasses
import io
import queue
import signal
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.controllers.request import controller_name
from benchmarking.remote.controller_word import ControllerState, Restart, read_word
from benchmarking.remote.generations import claim_generation, generations
from benchmarking.remote.launch_record import LaunchRecord, SentPackage, as_json
from benchmarking.studies.record import StudyFlags, StudyRecord
from benchmarking.studies.record import as_json as study_as_json
from definitions.errors import OutriderError
from launch.remote import in_job
from launch.remote.in_job import ControllerIdentity, InJob, run_controller
from launch.remote.supervisor import ControllerEnded, JobTold
from tests.backends.memory_store import MemoryStore

NAMES = {generation: controller_name("t", "n0nce", 1, generation) for generation in (1, 2, 3)}
WHO = ControllerIdentity("s3://bucket/outrider/runs/t", 1, 1, NAMES[1])
RECORD = LaunchRecord("t", "n0nce", "2026-01-01T00:00:00Z", "1", SentPackage("code/x", "x"), controller={"max_run_s": 3600.0})


def refusal(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 400}}, operation)


class Service:
    """SageMaker as far as a controller asks it, with what it was asked to create."""

    def __init__(self) -> None:
        self.created: list[dict[str, Any]] = []
        self.problem: Exception | None = None
        self.started = datetime(2026, 1, 1, tzinfo=UTC)

    def get(self, service: str, attempts: int | None = None) -> Service:
        return self

    def describe_training_job(self, TrainingJobName: str) -> dict[str, Any]:  # noqa: N803
        if TrainingJobName not in (WHO.job, *(one["TrainingJobName"] for one in self.created)):
            raise ClientError({"Error": {"Code": "ValidationException", "Message": "Requested resource not found."}}, "DescribeTrainingJob")
        now = self.started + timedelta(seconds=600)
        return {
            "TrainingJobArn": "arn",
            "TrainingJobStatus": "InProgress",
            "RoleArn": "role",
            "AlgorithmSpecification": {
                "TrainingImage": "image:1",
                "ContainerEntrypoint": ["python3", "start.py"],
                "ContainerArguments": ["launch/remote/entry.py", WHO.uri, "--controller", "1", "--generation", "1"],
            },
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
            "SecondaryStatusTransitions": [{"Status": "Training", "StartTime": self.started}],
            "ResponseMetadata": {"HTTPHeaders": {"date": now.strftime("%a, %d %b %Y %H:%M:%S GMT")}},
        }

    def list_tags(self, ResourceArn: str) -> dict[str, Any]:  # noqa: N803
        return {"Tags": [{"Key": "outrider:tag", "Value": "t"}, {"Key": "outrider:generation", "Value": "1"}]}

    def create_training_job(self, **request: Any) -> None:
        if self.problem is not None:
            raise self.problem
        self.created.append(request)


@pytest.fixture
def service() -> Service:
    return Service()


def job_of(service: Service, store: MemoryStore, who: ControllerIdentity = WHO, folder: Path = Path("/nowhere")) -> InJob:
    environ = {"SM_OUTPUT_DIR": str(folder / "output")}
    return InJob(who, RECORD, store, MemoryStore(), service, environ, folder, folder / "controller", queue.SimpleQueue())  # type: ignore[arg-type]


def test_its_time_is_the_services_and_that_of_the_launch_where_the_service_does_not_say(service, capsys):
    assert job_of(service, MemoryStore()).time() == (3600.0, 600.0)
    unknown = dataclasses.replace(WHO, job="ctl-unknown-g1")
    assert job_of(service, MemoryStore(), unknown).time() == (3600.0, 0.0)
    assert "generation 1: how much time is left is not known: " in capsys.readouterr().err


def test_the_next_generation_is_claimed_and_created_as_this_one_was(service, capsys):
    store = MemoryStore()
    job = job_of(service, store)
    assert not job.is_succeeded()
    job.succeed()
    assert capsys.readouterr().err == f"controller 1, generation 1: {NAMES[2]} follows\n"
    assert job.is_succeeded()
    (request,) = service.created
    assert request["TrainingJobName"] == NAMES[2]
    assert request["AlgorithmSpecification"]["ContainerArguments"][-4:] == ["--controller", "1", "--generation", "2"]
    assert {one["Key"]: one["Value"] for one in request["Tags"]} == {"outrider:tag": "t", "outrider:generation": "2"}
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": 3600}


def test_what_was_claimed_and_never_created_is_created_and_nothing_is_claimed_beyond_it(service):
    store = MemoryStore()
    claim_generation(store, "n0nce", 1, 2, NAMES[2], "")
    job_of(service, store).succeed()
    assert [one["TrainingJobName"] for one in service.created] == [NAMES[2]]
    assert generations(store) == {1: 2}


def test_it_is_succeeded_once_a_later_generation_than_its_own_is_claimed(service):
    store = MemoryStore()
    job = job_of(service, store)
    for generation, is_succeeded in ((1, False), (2, True)):
        claim_generation(store, "n0nce", 1, generation, NAMES[generation], "")
        assert job.is_succeeded() is is_succeeded


def test_a_creation_that_was_not_answered_is_repeated_without_a_second_job(service):
    store = MemoryStore()
    job = job_of(service, store)
    service.problem = refusal("ResourceInUse", "CreateTrainingJob")
    job.succeed()
    assert generations(store) == {1: 2}
    service.problem = refusal("ResourceLimitExceeded", "CreateTrainingJob")
    with pytest.raises(OutriderError, match="ResourceLimitExceeded"):
        job_of(service, store).succeed()


def test_a_mark_of_the_whole_run_ends_it_and_one_of_an_experiment_does_not(service, capsys):
    store = MemoryStore()
    job = job_of(service, store)
    assert not job.is_marked()
    store.put(".stop", b'{"schema_version": 1, "at": 1.0, "by": "somebody", "experiments": ["toy/RS-sagemaker-0"]}')
    assert not job.is_marked()
    store.put(".stop", b'{"schema_version": 1, "at": 1.0, "by": "somebody", "experiments": null}')
    assert job.is_marked()
    store.failing = lambda operation, key: "refused"
    assert job.is_marked() is False
    assert "whether the run is to end is not known" in capsys.readouterr().err


def test_restarts_of_an_earlier_life_of_the_same_generation_are_kept_and_others_are_not(service):
    store = MemoryStore()
    job_of(service, store).word(ControllerState.WAITING, "killed", (Restart(5.0, "killed"),), 100.0)
    assert read_word(store, 1).restarts == (Restart(5.0, "killed"),)
    job = job_of(service, store)
    job.utc = lambda: 1e12  # type: ignore[method-assign]
    assert job.earlier() == (Restart(5.0, "killed"),)
    # It began when its first life did.
    began_at = read_word(store, 1).started_at
    job.word(ControllerState.RUNNING, "", (), 1.0)
    assert read_word(store, 1).started_at == began_at
    assert read_word(store, 1).at == 1e12
    assert job_of(service, store, dataclasses.replace(WHO, generation=2)).earlier() == ()


def test_the_cause_is_left_for_the_service_and_what_is_said_names_the_controller(service, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())
    job = job_of(service, MemoryStore(), folder=tmp_path)
    job.fail("no restarts: killed")
    assert (tmp_path / "output" / "failure").read_text(encoding="utf-8") == "no restarts: killed"
    job.say("it ends")
    assert said.getvalue() == "controller 1, generation 1: it ends\n"


def test_it_waits_for_what_happens_and_no_longer(service):
    happenings: queue.SimpleQueue[Any] = queue.SimpleQueue()
    job = InJob(WHO, RECORD, MemoryStore(), MemoryStore(), service, {}, Path(), Path(), happenings)  # type: ignore[arg-type]
    assert job.wait(0.0) is None
    happenings.put(JobTold())
    assert job.wait(60.0) == JobTold()


@dataclasses.dataclass(frozen=True)
class Started:
    """What a controller's process would have been started as."""

    words: list[str]
    folder: Path
    environ: dict[str, str]
    errors: Any
    ended: Any


def launched(record: LaunchRecord = RECORD) -> MemoryStore:
    store = MemoryStore(WHO.uri)
    store.put("launch.json", as_json(record).encode())
    store.put("study.json", study_as_json(StudyRecord(StudyFlags("sagemaker"), {}, ())).encode())
    return store


def test_each_life_begins_in_an_empty_folder_with_the_run_as_it_is_in_s3(service, tmp_path, monkeypatch):
    monkeypatch.setattr(in_job, "ControllerProcess", Started)
    record = dataclasses.replace(RECORD, child=("--verbose",), controller={**RECORD.controller, "tuning_metrics": True})
    store, happenings = launched(record), queue.SimpleQueue[Any]()
    environ = {"A": "b", "SM_CHECKPOINT_DIR": "/opt/ml/checkpoints"}
    job = InJob(WHO, record, store, MemoryStore(), service, environ, Path("/root"), tmp_path / "controller", happenings)  # type: ignore[arg-type]
    followed: list[Path] = []
    looks: list[int] = []
    monkeypatch.setattr(job._console, "follow", followed.append)  # noqa: SLF001 (it starts a thread)
    monkeypatch.setattr(job._console, "look", lambda: looks.append(1))  # noqa: SLF001
    one = job.start()
    first = tmp_path / "controller" / "life-1"
    assert (first / "t" / "study.json").is_file()
    assert one.words[1:] == [
        *("-m", "launch", "run", "--resume", "t", "--results_dir", str(first)),
        *("--launched_remotely", WHO.uri, "--yes", "--verbose"),
    ]
    assert (one.folder, one.errors) == (Path("/root"), sys.stderr.buffer)
    assert one.environ == {
        **environ,
        "OUTRIDER_REMOTE_CONTROLLER": "1",
        "OUTRIDER_REMOTE_GENERATION": "1",
        "OUTRIDER_CHECKPOINTS": "/opt/ml/checkpoints",
    }
    one.ended(-9)
    assert job.wait(60.0) == ControllerEnded(-9)
    assert (job.finished(), looks) == (0, [1])
    two = job.start()
    second = tmp_path / "controller" / "life-2"
    assert two.words[two.words.index("--results_dir") + 1] == str(second)
    assert not first.exists()
    assert followed == [first / "t", second / "t"]


def test_without_metrics_nothing_follows_and_without_a_checkpoint_folder_none_is_named(service, tmp_path, monkeypatch):
    monkeypatch.setattr(in_job, "ControllerProcess", Started)
    job = InJob(WHO, RECORD, launched(), MemoryStore(), service, {}, tmp_path, tmp_path / "controller", queue.SimpleQueue())  # type: ignore[arg-type]
    monkeypatch.setattr(job._console, "follow", lambda folder: pytest.fail("nothing is shown"))  # noqa: SLF001
    assert job.start().environ == {"OUTRIDER_REMOTE_CONTROLLER": "1", "OUTRIDER_REMOTE_GENERATION": "1"}


class Supervising:
    """In a supervisor's place."""

    made: list[Supervising]

    def __init__(self, job: InJob, restarts: Any, max_run_s: float, used_s: float, *, may_succeed: bool, earlier: Any) -> None:
        self.job, self.given = job, (restarts.most, max_run_s, used_s, may_succeed, earlier)
        self.made.append(self)

    def run(self) -> int:
        folder = self.job._folder  # noqa: SLF001
        (folder / "life-1").mkdir(parents=True)
        return 7


@pytest.mark.parametrize(
    ("controller", "words", "given"),
    [
        ({"max_run_s": 3600.0}, (), (3, 3600.0, 600.0, False, ())),
        ({"max_run_s": 3600.0, "generations": 2, "restarts": 0}, (), (0, 3600.0, 600.0, True, ())),
        ({"max_run_s": 3600.0, "generations": 2}, ("--generation", "2"), (3, 3600.0, 600.0, False, ())),
    ],
)
def test_a_life_is_supervised_as_it_was_launched_and_leaves_no_folder(service, tmp_path, monkeypatch, controller, words, given):
    store, handlers = launched(dataclasses.replace(RECORD, controller=controller)), dict[Any, Any]()
    Supervising.made = []
    monkeypatch.setattr(in_job, "Supervisor", Supervising)
    monkeypatch.setattr(in_job, "store_at", lambda uri, environ: store if uri == WHO.uri else MemoryStore(uri))
    monkeypatch.setattr(in_job, "Clients", lambda region, environ: service)
    monkeypatch.setattr(in_job.signal, "signal", handlers.__setitem__)
    environ = {"SM_OUTPUT_DIR": str(tmp_path / "output"), "TRAINING_JOB_NAME": WHO.job}
    assert run_controller([WHO.uri, *words], environ, Path("/root")) == 7
    (made,) = Supervising.made
    assert made.given == given
    assert not (tmp_path / "controller").exists()
    assert {*handlers} == {signal.SIGTERM, signal.SIGINT}
    handlers[signal.SIGTERM](signal.SIGTERM, None)
    assert made.job.wait(60.0) == JobTold()


def test_where_nothing_was_launched_the_job_fails_with_that(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(in_job, "store_at", lambda uri, environ: MemoryStore(uri))
    monkeypatch.setattr(in_job.signal, "signal", lambda *words: None)
    (tmp_path / "output").mkdir()
    assert run_controller([WHO.uri], {"SM_OUTPUT_DIR": str(tmp_path / "output")}, Path("/root")) == 2
    assert "nothing was launched here, or it was cleaned" in capsys.readouterr().err
    assert f"{WHO.uri}/launch.json" in (tmp_path / "output" / "failure").read_text(encoding="utf-8")
