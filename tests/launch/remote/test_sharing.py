from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from benchmarking.remote.controller_word import ControllerState, ControllerWord, WordWriter
from benchmarking.remote.generations import claim_generation
from launch.remote.sharing import KEPT_S, is_gone, shared_list
from tests.backends.memory_store import MemoryStore


class Service:
    def __init__(self, **statuses: str) -> None:
        self.statuses, self.asked = statuses, 0

    def describe_training_job(self, TrainingJobName: str) -> dict:  # noqa: N803
        self.asked += 1
        if TrainingJobName not in self.statuses:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "DescribeTrainingJob")
        return {"TrainingJobStatus": self.statuses[TrainingJobName]}


@dataclass(frozen=True)
class Spec:
    method: str
    number: int = 0
    backend: str = "sagemaker"

    @property
    def definition(self) -> SimpleNamespace:
        return SimpleNamespace(name="digits")


def launched(*jobs: tuple[int, int, str]) -> MemoryStore:
    store = MemoryStore()
    for controller, generation, job in jobs:
        claim_generation(store, "n", controller, generation, job, "")
    return store


@pytest.mark.parametrize(
    ("status", "gone"), [("InProgress", False), ("Stopping", False), ("Failed", True), ("Stopped", True), ("Completed", True)]
)
def test_a_controller_is_gone_when_the_job_of_its_last_generation_is_over(status, gone):
    store = launched((1, 1, "g1"), (1, 2, "g2"))
    assert is_gone(store, 1, Service(g1="Completed", g2=status)) is gone


def test_where_the_service_does_not_say_its_own_last_word_counts_if_it_is_of_the_last_generation():
    store = launched((1, 1, "g1"))
    assert not is_gone(store, 1, Service())
    writer = WordWriter(store, 1, 1, print)
    writer.say(ControllerWord(1, 1, "g1", 1.0, ControllerState.RUNNING))
    assert not is_gone(store, 1, Service())
    writer.say(ControllerWord(1, 1, "g1", 2.0, ControllerState.FAILED))
    assert is_gone(store, 1, Service())
    claim_generation(store, "n", 1, 2, "g2", "")
    assert not is_gone(store, 1, Service())


def test_one_that_was_never_claimed_holds_nothing():
    assert is_gone(MemoryStore(), 4, Service())


def shared(store: MemoryStore, service: Service, controller: int, clock: list[float]) -> object:
    environ = {"OUTRIDER_REMOTE_CONTROLLER": str(controller), "OUTRIDER_REMOTE_GENERATION": "1"}
    return shared_list("s3://b/runs/t", environ, lambda uri, environ: store, lambda environ: service, lambda: clock[0])


def test_controllers_share_a_list_and_one_goes_on_with_what_another_had_that_is_gone():
    store, clock = launched((1, 1, "g1"), (2, 1, "h1")), [100.0]
    service = Service(g1="InProgress", h1="InProgress")
    one, two = shared(store, service, 1, clock), shared(store, service, 2, clock)
    assert one.holder(Spec("RS")) == ""
    assert two.holder(Spec("RS")) == "controller 1, generation 1"
    assert two.holder(Spec("ASHA")) == ""
    service.statuses["g1"] = "Failed"
    assert two.holder(Spec("RS")) == "controller 1, generation 1"  # as it was asked a moment ago
    assert service.asked == 1
    clock[0] = 100.0 + KEPT_S
    assert two.holder(Spec("RS")) == ""


def test_a_process_of_no_controllers_job_shares_nothing():
    assert shared_list("s3://b/runs/t", {}, lambda uri, environ: MemoryStore(), lambda environ: None) is None
    assert shared_list("", {"OUTRIDER_REMOTE_CONTROLLER": "1"}, lambda uri, environ: MemoryStore(), lambda environ: None) is None
