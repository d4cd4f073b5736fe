"""Real money is asked about: what is missing is said first, and nobody who is not asked has agreed."""

from __future__ import annotations

import types

import pytest

from benchmarking.archive.identity import ExperimentSpec
from definitions.errors import UserError
from definitions.registry import Registry
from definitions.resolve import resolve
from launch.launching import agreement
from launch.launching.agreement import agree, missing


@pytest.fixture
def plan(monkeypatch, tmp_path):
    """Return what makes a plan of two back-ends; `checked` are the experiments whose first start was checked."""
    checked = []
    monkeypatch.setattr(agreement, "dry_run_text", lambda plan: "what it costs")
    monkeypatch.setattr(agreement, "check_first_starts", checked.extend)
    monkeypatch.setattr(agreement, "check_controllers", lambda plan: None)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)

    def make(*settings, emulated=False):
        specs = [
            ExperimentSpec(resolve(Registry().find("digits"), backend, settings), "RS", 0, "t", tmp_path, hears_levels=False, repeats=1)
            for backend in ("sagemaker", "local")
        ]
        clients = types.SimpleNamespace(emulated=emulated)
        return types.SimpleNamespace(place=types.SimpleNamespace(clients=clients), specs=specs)

    make.checked = checked  # type: ignore[attr-defined]
    return make


def never(question):
    raise AssertionError(question)


def test_an_emulator_needs_no_agreement(plan):
    agree(plan(emulated=True), yes=False, ask=None, say=never)
    assert plan.checked == []


def test_without_a_cap_nothing_is_launched(plan):
    with pytest.raises(UserError, match="no max_cost is given"):
        agree(plan(), yes=True, ask=None, say=never)


def test_only_trials_elsewhere_are_checked_and_what_they_lack_is_said_before_anybody_is_asked(plan, monkeypatch):
    capped = plan("budget.max_cost=5")
    agree(capped, yes=True, ask=None, say=never)
    assert [spec.backend for spec in plan.checked] == ["sagemaker"]

    def lacks(specs):
        raise UserError("digits: 1 thing is missing for a first start", "role: it may not read the bucket")

    monkeypatch.setattr(agreement, "check_first_starts", lacks)
    with pytest.raises(UserError, match="may not read the bucket"):
        agree(capped, yes=False, ask=never, say=never)
    assert "may not read the bucket" in missing(capped)
    assert missing(plan(emulated=True)) == ""


@pytest.mark.parametrize(("answer", "said"), [(None, "there is no terminal"), ("", "not agreed"), ("n", "not agreed")])
def test_who_does_not_say_yes_has_not_agreed(plan, answer, said):
    shown = []
    with pytest.raises(UserError, match=said):
        agree(plan("budget.max_cost=5"), yes=False, ask=None if answer is None else lambda question: answer, say=shown.append)
    assert shown == ["what it costs"]


def test_yes_is_enough(plan):
    agree(plan("budget.max_cost=5"), yes=False, ask=lambda question: " Y ", say=lambda line: None)


def test_what_controllers_lack_is_said_beside_what_trials_lack(plan, monkeypatch):
    capped = plan("budget.max_cost=5")

    def lacks(plan):
        raise UserError("launch: 1 thing is missing for its controllers", "controllers' role may: not create jobs")

    monkeypatch.setattr(agreement, "check_controllers", lacks)
    with pytest.raises(UserError, match="missing for its controllers"):
        agree(capped, yes=True, ask=None, say=never)
    monkeypatch.setattr(agreement, "check_first_starts", lacks)
    assert missing(capped).count("not create jobs") == 2
