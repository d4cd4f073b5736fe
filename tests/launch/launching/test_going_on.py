"""What going on with a launched run refuses, in which order it changes what, and what launch.json says afterwards."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from benchmarking.remote.launch_record import LaunchRecord, RunMoney, SentPackage, as_json, from_json
from definitions.errors import UserError
from launch.launching import going_on
from launch.launching.going_on import go_on
from launch.request import RunRequest
from tests.backends.memory_store import MemoryStore

CONTROLLER = {"instance_type": "ml.m5.large", "count": 1, "max_run_s": 3600.0, "generations": 2}
RECORD = LaunchRecord("t", "n", "", "1", SentPackage("code/x", "x"), controller=CONTROLLER, money=RunMoney(5.0, 0.2, 4.8))
STEPS = ("refuse_live", "requests_of", "extend", "renew", "resume")


class Run:
    """A run, and what was done about it, in order."""

    def __init__(self, monkeypatch):
        self.store = MemoryStore()
        self.store.put("launch.json", as_json(RECORD).encode())
        self.done: list[str] = []
        self.refusing = ""
        self.said: list[str] = []
        self.money: RunMoney | None = None
        place = SimpleNamespace(
            store=self.store, clients=SimpleNamespace(region="us-east-1", emulated=True), uri="s3://b/outrider/runs/t", tag="t"
        )
        self.where: dict[str, str | None] = {}
        monkeypatch.setattr(going_on, "place_named", lambda tag, environ, **where: self.where.update(where) or place)
        monkeypatch.setattr(going_on, "standings", lambda place, record: ())
        for name in STEPS:
            monkeypatch.setattr(going_on, name, self.step(name))

    @property
    def record(self) -> LaunchRecord:
        return from_json(self.store.get("launch.json").body, "")

    def step(self, name):
        def do(place, *words):
            self.done.append(name)
            if name == self.refusing:
                raise UserError(f"{name} refuses")
            if name == "extend" and self.money is not None:
                self.store.put("launch.json", as_json(dataclasses.replace(self.record, money=self.money)).encode())
            return {"extend": "added: a seed", "renew": (self.record, "sent: toy"), "resume": "launched"}.get(name)

        return do

    def go_on(self, *settings, **more):
        return go_on(RunRequest(resume="t", settings=settings, **more), {}, "now", self.said.append)


@pytest.fixture
def run(monkeypatch):
    return Run(monkeypatch)


def test_where_nothing_is_asked_for_nothing_is_changed(run):
    assert run.go_on("remote.bucket=mine", "remote.region=eu-west-1") == "launched"
    assert run.where == {"region": "eu-west-1", "bucket": "mine", "prefix": None}
    assert run.done == ["refuse_live", "requests_of", "resume"]
    assert run.store.calls["put"] == 1
    assert run.said == []


def test_what_is_added_comes_before_what_is_sent_and_both_before_the_jobs(run):
    run.go_on("budget.max_num_trials=9", "remote.volume_gb=70", accept_changes=True, verbose=True)
    assert run.done == [*STEPS]
    assert run.said == ["added: a seed", "sent: toy"]
    assert run.record == dataclasses.replace(RECORD, controller={**CONTROLLER, "volume_gb": 70}, child=("--verbose",))


def test_the_division_of_a_limit_that_is_given_now_stays_as_the_study_has_it(run):
    run.money = RunMoney(9.0, 0.8, 8.2)
    run.go_on("budget.max_cost=9", "remote.instance_type=ml.m5.2xlarge")
    assert run.record.money == RunMoney(9.0, 0.8, 8.2)
    assert run.record.controller["instance_type"] == "ml.m5.2xlarge"


@pytest.mark.parametrize("refusing", ["refuse_live", "requests_of", "extend"])
def test_what_is_refused_changes_nothing(run, refusing):
    run.refusing = refusing
    with pytest.raises(UserError, match=f"{refusing} refuses"):
        run.go_on("budget.max_num_trials=9", "remote.volume_gb=70")
    assert run.record == RECORD
    assert "resume" not in run.done


@pytest.mark.parametrize(
    ("settings", "more", "said"),
    [
        ((), {"dry_run": True}, "launch --resume t with --dry_run"),
        ((), {"track": ("mlflow",)}, "a run has the trackers with which it was launched\n  once collected: `.*export t --to mlflow`"),
        (('remote.requirements=["a==1"]',), {}, "add --accept_changes, which sends both anew"),
        (("remote.instance_type=ml.m5.2xlarge",), {}, "give --max_cost, the limit for all of the run, as well"),
    ],
)
def test_what_cannot_go_together_is_refused_before_anything_is_changed(run, settings, more, said):
    with pytest.raises(UserError, match=said):
        run.go_on(*settings, **more)
    assert run.record == RECORD
    assert not {"extend", "renew", "resume"} & {*run.done}
