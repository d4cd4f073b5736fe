"""Before real money is spent: what is asked, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from backends.capabilities import Capabilities
from backends.checks import Check, CheckStatus
from backends.registry import backend_class
from benchmarking.methods.registry import experiment_spec
from definitions.errors import UserError
from definitions.resolve import resolve_python
from definitions.schema import BenchmarkDefinition
from launch import confirm as module
from launch.confirm import confirm


class FakePaidBackend(backend_class("local")):  # type: ignore[misc]
    """The local back-end, as if it cost real money."""

    capabilities = Capabilities(checkpoints=True, real_money=True)
    missing: tuple[Check, ...] = ()

    @classmethod
    def problems(cls, definition, instance_types, environ):
        return list(cls.missing)


@pytest.fixture
def paid(monkeypatch):
    monkeypatch.setattr(module, "backend_class", lambda name: FakePaidBackend)
    monkeypatch.setattr(FakePaidBackend, "missing", ())
    return FakePaidBackend


def spec(folder: Path, **budget):
    script = folder / "train.py"
    script.write_text("")
    definition = BenchmarkDefinition.model_validate(
        {
            "name": "toy",
            "script": "train.py",
            "source_dir": str(folder),
            "space": {"x": {"choice": [1, 2]}},
            "objectives": {"loss": "min"},
            "budget": {"max_num_trials": 2, "max_run": 60.0, **budget},
        }
    )
    return experiment_spec(resolve_python(definition, "local"), "RS", 1, "tag", folder / "results")


def test_the_local_back_end_asks_nothing(tmp_path):
    said = []
    confirm([spec(tmp_path)], yes=False, ask=None, say=said.append)
    assert said == []


def test_real_money_needs_a_limit(tmp_path, paid):
    with pytest.raises(UserError, match="give --max_cost"):
        confirm([spec(tmp_path)], yes=True, ask=None, say=print)


@pytest.mark.parametrize(("answer", "agreed"), [("y", True), ("YES ", True), ("", False), ("n", False)])
def test_the_answer_counts(tmp_path, paid, answer, agreed):
    said = []
    ask = lambda question: answer  # noqa: E731
    if agreed:
        confirm([spec(tmp_path, max_cost=1.0)], yes=False, ask=ask, say=said.append)
    else:
        with pytest.raises(UserError, match="not agreed"):
            confirm([spec(tmp_path, max_cost=1.0)], yes=False, ask=ask, say=said.append)
    assert "worst case of all: $" in said[0]


def test_without_a_terminal_yes_is_needed(tmp_path, paid):
    with pytest.raises(UserError, match="give --yes"):
        confirm([spec(tmp_path, max_cost=1.0)], yes=False, ask=None, say=lambda line: None)
    confirm([spec(tmp_path, max_cost=1.0)], yes=True, ask=None, say=lambda line: pytest.fail(line))


def test_what_is_missing_is_named_before_a_first_start_even_with_yes(tmp_path, paid, monkeypatch):
    missing = (Check("quota", CheckStatus.FAILED, "it is 0", "ask for more"), Check("bucket", CheckStatus.FAILED, "it does not exist"))
    monkeypatch.setattr(paid, "missing", missing)
    with pytest.raises(UserError) as caught:
        confirm([spec(tmp_path, max_cost=1.0)], yes=True, ask=None, say=print)
    assert "2 things are missing" in str(caught.value)
    assert "quota: it is 0 (ask for more)" in str(caught.value)
    assert "bucket: it does not exist" in str(caught.value)


def test_who_resumes_is_not_checked_again(tmp_path, paid, monkeypatch):
    monkeypatch.setattr(paid, "missing", (Check("quota", CheckStatus.FAILED, "it is 0"),))
    monkeypatch.setattr(module, "has_records", lambda path: True)
    confirm([dataclasses.replace(spec(tmp_path, max_cost=1.0))], yes=True, ask=None, say=print)
