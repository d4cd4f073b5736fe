"""An experiment read for a comparison: what is read of its journal, and what of its definition."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarking.archive.stored import load
from benchmarking.comparison.reading import facts_of, read_run
from tests.benchmarking.archive.stored_folders import copied


def test_what_has_to_be_alike_is_told_by_name(tmp_path):
    stored = load(copied(tmp_path, "repeated"))
    found = facts_of(stored, ["abc", "def"])
    assert (found["back-end"], found["region"], found["script"]) == ("simulated", "us-east-1", "abc, def")
    assert found["definition"] == stored.spec.resolved.hash_for("GRID")
    assert read_run(stored, {"machine": "m", "region": "elsewhere"}).facts == {
        **facts_of(stored, []),
        "machine": "m",
        "region": "elsewhere",
    }


@pytest.mark.parametrize(("n_workers", "text"), [(None, "default"), (3, "3")])
def test_a_number_of_workers_that_was_not_given_is_called_so(tmp_path, n_workers, text):
    stored = load(copied(tmp_path, "repeated"))
    definition = stored.spec.definition.model_copy(update={"n_workers": n_workers})
    resolved = dataclasses.replace(stored.spec.resolved, definition=definition)
    changed = dataclasses.replace(stored, spec=dataclasses.replace(stored.spec, resolved=resolved))
    assert facts_of(changed, [])["workers"] == text


def test_the_budget_is_told_by_what_was_limited_in_one_order(tmp_path):
    stored = load(copied(tmp_path, "repeated"))
    budget = stored.spec.definition.budget.model_copy(update={"max_num_trials": 8, "max_cost": 0.5, "max_wallclock_time": None})
    definition = stored.spec.definition.model_copy(update={"budget": budget})
    resolved = dataclasses.replace(stored.spec.resolved, definition=definition)
    changed = dataclasses.replace(stored, spec=dataclasses.replace(stored.spec, resolved=resolved))
    assert facts_of(changed, [])["budget"] == "max_cost 0.5, max_num_trials 8"


def test_one_that_was_not_started_has_measured_nothing(tmp_path):
    folder = copied(tmp_path, "repeated")
    (folder / "journal.sqlite").unlink()
    found = read_run(load(folder))
    assert (found.measurements, found.trials, found.ends, found.ended, found.ended_by) == ((), (), {}, "", "")
    assert found.title == "stored x GRID x seed 0 of repeated"


def test_an_observer_sees_each_record_after_it_was_taken_in(tmp_path):
    seen = []
    stored = load(copied(tmp_path, "repeated"))
    found = read_run(stored, observer=lambda record, state: seen.append((record.sequence, state.sequence)))
    assert seen == [(number, number) for number in range(1, len(seen) + 1)]
    assert found == read_run(stored)
