"""How many experiments run at once, and which may begin now."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarking.studies.record import StudyFlags
from definitions.errors import UserError
from launch.at_once import AtOnce, Stage, changed_text, check_parallel, may_begin, most_at_once, why_not_at_once

EQUAL = StudyFlags("local", max_cost=3.0)


@pytest.mark.parametrize(
    ("parallel", "experiments", "elsewhere", "most"),
    [
        (None, 9, False, 1),
        (1, 9, False, 1),
        (3, 9, False, 3),
        (3, 2, False, 2),
        ("auto", 9, False, 6),
        ("auto", 9, True, 4),
        ("auto", 2, True, 2),
    ],
)
def test_as_many_as_were_asked_for_or_have_room(parallel, experiments, elsewhere, most):
    assert most_at_once(parallel, experiments, cores=6, elsewhere=elsewhere) == most


@pytest.mark.parametrize("parallel", [0, -1, "many", True, 2.0, "2"])
def test_another_number_is_refused_by_name(parallel):
    with pytest.raises(UserError, match=f"--parallel {parallel}"):
        check_parallel(parallel)


def test_what_is_shared_first_come_cannot_run_at_once_where_money_is_limited():
    first_come = dataclasses.replace(EQUAL, shares="first_come")
    assert "first_come" in why_not_at_once(first_come, limited=True)
    assert why_not_at_once(first_come, limited=False) == ""
    assert why_not_at_once(EQUAL, limited=True) == ""


@pytest.mark.parametrize(
    ("stages", "at_once", "one_by_one"),
    [
        ([], True, True),
        ([Stage.PREPARES], True, False),
        ([Stage.RUNS], True, True),
        ([Stage.WAITS], False, False),
        ([Stage.RUNS, Stage.WAITS], False, False),
        ([Stage.RUNS, Stage.PREPARES], True, False),
        ([Stage.RUNS] * 3, False, False),
    ],
)
def test_the_next_one_begins_where_there_is_a_place_and_none_waits_for_cores(stages, at_once, one_by_one):
    assert may_begin(3, stages, one_by_one=False) is at_once
    assert may_begin(3, stages, one_by_one=True) is one_by_one


@pytest.mark.parametrize(
    ("found", "one_by_one", "text"),
    [
        (AtOnce(1, None, "", elsewhere=False), False, "one experiment at a time (--parallel N runs N at once)"),
        (AtOnce(1, 4, "", elsewhere=False), False, "one experiment at a time"),
        (AtOnce(1, 4, "why", elsewhere=False), False, "--parallel 4: one after the other: why"),
        (
            AtOnce(6, "auto", "", elsewhere=False),
            True,
            "up to 6 experiments at once (--parallel auto), each as soon as this machine has cores for all its workers",
        ),
        (AtOnce(4, "auto", "", elsewhere=True), False, "up to 4 experiments at once (--parallel auto)"),
    ],
)
def test_a_sentence_says_how_many(found, one_by_one, text):
    assert (found.text, found.one_by_one) == (text, one_by_one)
    assert found.refusal == (text if found.why_not else "")


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        (None, 4, "--parallel 4: kept in study.json in place of 1, so that later resumes go by it too"),
        (4, 1, "--parallel 1: kept in study.json in place of 4, so that later resumes go by it too"),
        (2, "auto", "--parallel auto: kept in study.json in place of 2, so that later resumes go by it too"),
        (2, 2, ""),
        (None, 1, ""),
    ],
)
def test_another_number_than_the_study_has_is_said(before, now, text):
    assert changed_text(StudyFlags("local", parallel=before), StudyFlags("local", parallel=now)) == text
    assert changed_text(None, StudyFlags("local", parallel=now)) == ""
