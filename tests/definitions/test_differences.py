"""In what two definitions differ, value by value."""

from __future__ import annotations

from definitions.differences import differences
from definitions.schema import BenchmarkDefinition


def of(**keys):
    return BenchmarkDefinition(
        **{"name": "a", "script": "a.py", "space": {"x": {"uniform": [0, 1]}}, "objectives": {"loss": "min"}, **keys}
    )


def test_values_that_determine_results_are_named_with_both_values():
    assert differences(of(), of()) == []
    assert differences(of(arguments={"epochs": 4, "kind": "big"}), of(arguments={"epochs": 1})) == [
        "arguments.epochs: 4, now 1",
        "arguments.kind: big, now not given",
    ]


def test_what_results_do_not_depend_on_is_no_difference():
    assert differences(of(description="one"), of(description="two", budget={"max_num_trials": 3})) == []


def test_of_a_long_value_begin_and_end_are_shown_and_of_many_values_eight():
    (line,) = differences(of(space={"x": {"choice": [*range(100)]}}), of(space={"x": {"choice": [1, 2]}}))
    before, now = line.split(", now ")
    assert now == "[1,2]"
    assert before.startswith("space.x.choice: [0,1,2,3")
    assert before.endswith("97,98,99]")
    assert len(before) < 130
    many = differences(of(), of(arguments={f"a{number}": number for number in range(12)}))
    assert many[-1] == "and 4 more"
    assert len(many) == 9
