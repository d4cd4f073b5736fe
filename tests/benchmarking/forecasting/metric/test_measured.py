"""What an experiment measured of an objective."""

from benchmarking.controller.journal import Record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.metric.measured import metric_curves
from definitions.schema import BenchmarkDefinition


def led(records):
    state = ExperimentState(StateSetup({"loss": "min"}))
    rows = [Record(number, float(number), kind, body) for number, (kind, body) in enumerate(records, 1)]
    for row in rows:
        state.apply(row)
    return state, rows


def begun(trial, x, level=None):
    return [
        ("suggest", {"evaluation": trial, "configuration": {"x": x}, "level": level, "repeat": 0, "block_of": 1}),
        ("start", {"trial": trial, "attempt": 1, "job": f"j{trial}", "restore_from": None, "worst_usd": None}),
    ]


def reported(trial, sequence, **metrics):
    return "reported", {
        "job": f"j{trial}",
        "sequence": sequence,
        "metrics": metrics,
        "elapsed_s": float(sequence),
        "incarnation": 0,
        "rank": 0,
    }


def definition(**more):
    return BenchmarkDefinition(name="b", script="s.py", space={"x": {"choice": [1, 2]}}, objectives={"loss": "min"}, **more)


def test_epochs_that_jobs_passed_are_levels_by_configuration():
    first = [(1, 0.5), (2, 0.4), (2, 0.3), (3, float("nan"))]
    told = [reported(0, number, epoch=epoch, loss=loss) for number, (epoch, loss) in enumerate(first)]
    state, rows = led([*begun(0, 1), *begun(1, 2), *told, reported(1, 0, epoch=1, loss=0.9)])
    made = definition(fidelity={"kind": "progressive", "reported_as": "epoch", "full": 27})
    curves, full = metric_curves(made, state, rows, "loss")
    assert full == 27
    assert {name: list(zip(one.x, one.y, strict=True)) for name, one in curves.items()} == {
        "x=1": [(1.0, 0.5), (2.0, 0.3)],
        "x=2": [(1.0, 0.9)],
    }


def test_a_definition_without_levels_has_none():
    state, rows = led([*begun(0, 1), reported(0, 0, epoch=1, loss=0.5)])
    assert metric_curves(definition(), state, rows, "loss") == ({}, 1.0)
