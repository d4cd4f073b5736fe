"""What a back-end does that says no more than it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.base import Backend
from backends.capabilities import Capabilities
from backends.checks import CheckRequest
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition


class Plain(Backend):
    """Has room for one small job, knows of no large one, and nothing else."""

    capabilities = Capabilities()
    made: list[Plain] = []  # noqa: RUF012 (emptied by the fixture)

    def __init__(self) -> None:
        self.closed_with: list[float | None] = []
        self.made.append(self)

    @classmethod
    def create(cls, context):
        assert context.environ == {"A": "1"}
        assert context.folder.is_dir()
        return cls()

    def capacity(self, instance_type):
        if instance_type == "large":
            raise UserError("instance type large", "no machine has so many cores", "ask for less")
        return 1

    def close(self, grace_s=None):
        self.closed_with.append(grace_s)
        return ["job-1"]

    def submit(self, job): ...

    def stop(self, job, reason): ...

    def wait(self, timeout_s):
        return []

    def adopt(self, jobs, last_seen_at): ...

    def now(self):
        return 0.0

    def wake(self): ...


@pytest.fixture
def plain(monkeypatch):
    monkeypatch.setattr(Plain, "made", [])
    return Plain


def request(definition=None):
    return CheckRequest({"A": "1"}, Path("results"), definition, ("small", "large"))


def definition():
    text = {"name": "toy", "script": "toy.py", "space": {"x": {"uniform": [0, 1]}}, "objectives": {"loss": "min"}, "n_workers": 2}
    return BenchmarkDefinition.model_validate(text)


def test_its_checks_are_that_the_definition_resolves_and_how_many_jobs_fit(plain):
    found = plain.checks(request(definition()))
    assert [(check.name, str(check.verdict), check.found) for check in found] == [
        ("definition", "ok", "toy resolves for this back-end"),
        ("instance type small", "warning", "1 fit at once, 2 are asked for"),
        ("instance type large", "failed", "instance type large: no machine has so many cores"),
    ]
    (asked,) = plain.made
    assert asked.closed_with == [None]  # it was made to be asked alone


def test_without_a_definition_nothing_is_made_and_checked(plain):
    assert plain.checks(request()) == []
    assert plain.made == []


def test_where_nothing_outlives_the_controller_to_leave_is_to_close(plain):
    left = plain()
    assert left.detach() == ["job-1"]
    assert left.closed_with == [None]


def test_it_keeps_nothing_and_brings_nothing_anywhere(plain):
    back_end = plain()
    assert (back_end.idle("small", 1), back_end.storage(), back_end.written_bytes("job"), back_end.there_is()) == (0, None, 0, "")
    assert plain.expected_capabilities({}) is plain.capabilities
    assert plain.problems(definition(), ("small",), {}) == []
    assert (plain.permission_document("role", request()), plain.lift_stop(definition(), "tag", {})) == (None, "")
