"""The environment as a table: a row for each value of a field, and one for all loads together."""

from __future__ import annotations

from benchmarking.figures.surroundings import environment_figure
from tests.benchmarking.comparison.made_runs import run


def test_each_field_and_value_has_a_row_with_how_many_have_it_and_who_is_the_first():
    runs = [
        run("RS", 3, [1.0], facts={"machine": "one", "cores": "2"}),
        run("RS", 4, [1.0], facts={"machine": "two", "cores": "2"}),
        run("TPE", 3, [1.0], facts={"machine": "two", "cores": "2", "region": ""}),
    ]
    (table,) = environment_figure(runs).panels
    assert table.columns == ("field", "value", "experiments", "first of them")
    assert table.rows == (
        ("machine", "one", 1, "RS seed 3 on b"),
        ("machine", "two", 2, "RS seed 4 on b"),
        ("cores", "2", 3, "RS seed 3 on b"),
    )


def test_loads_which_hardly_ever_are_the_same_have_one_row():
    runs = [run("RS", number, [1.0], facts={"load": load}) for number, load in enumerate(["0.30 a core", "0.05 a core", "10.20 a core"])]
    (table,) = environment_figure(runs).panels
    assert table.rows == (("load", "0.05 to 10.20 a core", 3, "RS seed 0 on b"),)
    assert environment_figure(runs[:1]).panels[0].rows == (("load", "0.30 a core", 1, "RS seed 0 on b"),)


def test_nothing_known_is_said():
    assert (environment_figure([run("RS", 0, [1.0])]).panels, environment_figure([]).notes) == (
        (),
        ("Nothing is known of the surroundings.",),
    )
