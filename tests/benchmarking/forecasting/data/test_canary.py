"""Canaries as data: duplicates, phases that cannot be, groups."""

import pytest

from benchmarking.forecasting.data.canary import Canary, by_configuration, canary_from, checked


def test_measurements_become_columns_and_the_rest_is_about_it():
    made = canary_from("a", 0.1, 2, {"total_s": 3.0, "io_wait": 4.0}, status="stopped", about={"trial": 7})
    assert made == Canary("a", 0.1, 2, total_s=3.0, status="stopped")
    assert made.about == {"io_wait": 4.0, "trial": 7}


def test_equal_rows_are_one_run_only_where_rows_are_numbered():
    rows = [Canary("a", 0.1, 0, total_s=1.0), Canary("a", 0.1, 0, total_s=1.0), Canary("a", 0.1, 1, total_s=1.0)]
    table = checked([*rows, rows[0]])
    assert table.canaries == (rows[0], rows[2])
    assert table.notes == {"a": ("2 duplicated rows were dropped",)}
    assert len(checked(rows, has_repeats=False).canaries) == 3


def test_notes_are_gathered_by_configuration_each_once():
    table = checked([Canary("a", 0.1)], [("a", "one"), ("", "whole"), ("a", "one"), ("a", "two")])
    assert table.notes == {"a": ("one", "two"), "": ("whole",)}


@pytest.mark.parametrize(("train_s", "used"), [(9.0, True), (9.20, True), (9.22, False)])
def test_phases_may_pass_the_total_by_two_percent_and_a_hundredth_of_a_second(train_s, used):
    (made,) = checked([Canary("a", 0.1, startup_s=1.0, train_s=train_s, total_s=10.0, steps=5, step_s=1.0, cpu_s=2.0)]).canaries
    assert (made.startup_s, made.train_s, made.steps, made.step_s) == ((1.0, train_s, 5, 1.0) if used else (None, None, None, None))
    assert (made.total_s, made.cpu_s) == (10.0, 2.0)


def test_phases_without_a_total_stay_and_the_note_names_the_fraction():
    (made,) = checked([Canary("a", 0.1, train_s=9.0)]).canaries
    assert made.train_s == 9.0
    table = checked([Canary("a", 0.03, train_s=9.0, total_s=1.0)])
    assert table.notes["a"] == ("fraction 0.03: the phases take longer than the total, so they were not used",)


def test_groups_keep_the_order_of_appearance():
    rows = [Canary("b", 0.1), Canary("a", 0.1), Canary("b", 0.2)]
    assert by_configuration(rows) == {"b": [rows[0], rows[2]], "a": [rows[1]]}
