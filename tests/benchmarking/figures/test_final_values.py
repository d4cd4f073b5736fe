"""Final values: a point for each seed or measurement, and one with an interval for each row of the comparison."""

from __future__ import annotations

from benchmarking.comparison.configurations import compare_configurations, rows_of
from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.final_values import final_values_figure
from benchmarking.figures.matrix import matrix_figure, ranks_figure
from tests.benchmarking.comparison.made_runs import run, several
from tests.benchmarking.comparison.made_trials import swept


def test_seeds_and_their_aggregate_stand_at_their_method():
    found = document([*several("RS", [2.0, 4.0]), *several("TPE", [1.0, 3.0]), run("BO", 0, [])], ComparisonQuestion(aggregate="mean"))
    (panel,) = final_values_figure(found.benchmarks).panels
    assert panel.title == "b: after 2 trials"
    assert panel.x.categories == ("RS", "TPE", "BO")
    points = {group.name: (group.x, group.y, group.kind) for group in panel.points}
    assert points == {
        "RS, each seed": (("RS", "RS"), (2.0, 4.0), "result"),
        "RS": (("RS",), (3.0,), "aggregate"),
        "TPE, each seed": (("TPE", "TPE"), (1.0, 3.0), "result"),
        "TPE": (("TPE",), (2.0,), "aggregate"),
    }
    assert [(line.at, line.name) for line in panel.references] == [(1.0, "best known value")]
    assert final_values_figure(found.benchmarks).notes == ("b: BO had no result after 2 trials with seed 0.",)


def test_configurations_have_their_measurements_and_the_interval_of_their_row():
    points = [({"type": "a", "x": 1}, [2.0, 2.2, 2.1]), ({"type": "b", "x": 1}, [1.0, 1.1, 1.2])]
    made = compare_configurations([swept(points)], ComparisonQuestion(by=("type",)))
    (panel,) = final_values_figure([], [made]).panels
    assert (panel.title, panel.x.title, panel.x.categories, panel.y.title) == ("b: over all repeats", "type", ("type=b", "type=a"), "loss")
    assert [(group.name, group.y) for group in panel.points if group.kind == "result"] == [
        ("type=b, each of its repeats", (1.0, 1.1, 1.2)),
        ("type=a, each of its repeats", (2.0, 2.2, 2.1)),
    ]
    drawn = [(group.name, group.y[0], group.y_low[0], group.y_high[0]) for group in panel.points if group.kind == "aggregate"]
    assert drawn == [tuple(row[name] for name in ("method", "value", "low", "high")) for row in rows_of(made)]
    nothing = compare_configurations([swept([({"type": "a"}, [])])], ComparisonQuestion(by=("tag",)))
    assert (final_values_figure([], [nothing]).panels, final_values_figure([], [nothing]).notes) == ((), ("b: nothing was completed.",))


def test_parts_of_a_benchmark_have_a_matrix_each_and_no_ranks():
    runs = [one for tag in "st" for name, base in (("A", 1.0), ("B", 2.0)) for one in several(name, [base + 0.001 * k for k in range(8)])]
    runs = [one if number < 16 else type(one)(**{**vars(one), "tag": "u"}) for number, one in enumerate(runs)]
    question = ComparisonQuestion(facet_by=("tag",))
    found = document(runs, question)
    figure = matrix_figure(found.benchmarks, question, is_split=found.is_split)
    assert [(panel.title, panel.texts) for panel in figure.panels] == [
        ("b, tag=t", (("", "1, 0, 0"), ("0, 0, 1", ""))),
        ("b, tag=u", (("", "1, 0, 0"), ("0, 0, 1", ""))),
    ]
    assert ranks_figure(found.benchmarks, question, is_split=found.is_split).panels == ()
