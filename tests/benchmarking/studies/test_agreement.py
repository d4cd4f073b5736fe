"""What may be asked of a study that is there, and what contradicts it."""

from __future__ import annotations

import pytest

from benchmarking.studies.agreement import agreed, check_flags, limit_given, raised
from benchmarking.studies.record import StudyFlags
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.yaml_source import read_yaml

DEFINITION = """\
name: toy
script: toy.py
space: {x: {choice: %s}}
objectives: {loss: min}
budget: {max_num_trials: 4, max_cost: 1}
"""
VALUES = [0.123456789 + number for number in range(40)]


@pytest.fixture
def defined(tmp_path):
    (tmp_path / "toy.py").write_text("")
    (tmp_path / "toy.yaml").write_text(DEFINITION % VALUES)

    def make(*settings):
        return resolve(read_yaml(tmp_path / "toy.yaml"), "local", settings)

    return make


def unknown():
    return None


def test_what_is_asked_for_alike_goes_on_and_a_budget_is_raised(defined):
    stored = defined()
    assert agreed("s", stored, [defined()], unknown).definition == stored.definition
    found = agreed("s", stored, [defined("budget.max_num_trials=9", "budget.max_cost=2")], unknown)
    assert (found.definition.budget.max_num_trials, found.definition.budget.max_cost) == (9, 2.0)
    with pytest.raises(UserError, match=r"max_num_trials 3: it has 4, and budgets may only be raised"):
        agreed("s", stored, [defined("budget.max_num_trials=3")], unknown)


def test_another_definition_is_refused_with_the_values_that_differ_cut_where_they_are_long(defined):
    with pytest.raises(UserError) as told:
        agreed("tag 's'", defined(), [defined("objectives.loss=max", "space.x.choice=[1, 2]", "space.x={choice: [1, 2]}")], unknown)
    text = str(told.value)
    assert text.startswith("tag 's' measured toy by another definition than is asked for now")
    assert "now [1,2]" in text
    assert " ... " in text
    assert max(map(len, text.splitlines()[:3])) < 200
    assert "outrider compare TAG OTHER" in text


@pytest.mark.parametrize(
    ("stored", "wanted", "here", "said"),
    [
        (2, 2, None, ""),
        (2, 1, None, "n_workers 1: it has 2"),
        (None, 1, 1, ""),
        (None, 2, 1, "n_workers 2: it has none given, which is 1 here"),
        (None, 2, None, "n_workers 2: it has none given"),
    ],
)
def test_workers_may_be_named_where_they_are_as_many_as_there_were(defined, stored, wanted, here, said):
    known = defined() if stored is None else defined(f"n_workers={stored}")
    if said:
        with pytest.raises(UserError, match=said):
            agreed("s", known, [defined(f"n_workers={wanted}")], lambda: here)
    else:
        assert agreed("s", known, [defined(f"n_workers={wanted}")], lambda: here).definition.n_workers == stored


def test_a_form_that_has_the_same_results_is_enough(defined):
    stored = defined()
    assert agreed("s", stored, [defined("objectives.loss=max"), defined()], unknown).definition == stored.definition


def test_limits_of_a_file_are_passed_over_as_a_study_keeps_its_own(defined):
    stored, now = defined("budget.max_num_trials=9"), defined()
    assert raised("s", stored.definition.budget, now.definition.budget, now.origins).max_num_trials == 9


def test_flags_that_differ_are_named_each_with_what_the_study_has():
    flags = StudyFlags("local", random_seed=3)
    check_flags("s", flags, {"backend": "local", "random_seed": 3})
    with pytest.raises(UserError, match=r"backend simulated: it has local\n  method_args {'points': 3}: it has none"):
        check_flags("s", flags, {"backend": "simulated", "random_seed": 3, "method_args": {"points": 3}})


def test_a_limit_of_money_counts_where_it_was_given_now(defined):
    assert limit_given([defined()]) is None
    assert limit_given([defined(), defined("budget.max_cost=3")]) == 3.0
