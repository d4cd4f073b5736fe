"""A wrong name of an objective is noticed with the first reports, not with the last."""

from __future__ import annotations

from benchmarking.analysis.missing_metrics import FirstReports, how_to_mend, how_to_report, missing


def test_the_nearest_name_is_said_at_the_first_report_and_once() -> None:
    first = FirstReports(["val_acc", "loss"])
    assert first.saw({"val_accuracy": 0.5, "loss": 1.0}) == [
        "objective 'val_acc' is not in the first reports (reported: loss, val_accuracy); the nearest is 'val_accuracy': "
        "name that under `objectives`"
    ]
    assert first.saw({"val_accuracy": 0.5}) == []


def test_a_metric_that_comes_a_little_later_is_awaited() -> None:
    late, never = FirstReports(["accuracy"]), FirstReports(["accuracy"])
    assert [late.saw(names) for names in (["loss"], ["loss"], ["accuracy"], ["loss"])] == [[]] * 4
    assert [len(never.saw(["loss"])) for _ in range(4)] == [0, 0, 1, 0]


def test_where_expressions_find_nothing_they_are_what_is_to_be_mended() -> None:
    found = how_to_mend({"epoch": "Epoch (.*)", "loss": r"loss (\d+)", "a": "a(.)", "b": "b(.)"}, ["loss"])
    shown = r"(loss: 'loss (\\d+)', epoch: 'Epoch (.*)', a: 'a(.)')"
    assert found == f"no line of its output is what `metrics` looks for {shown}: mend that in the definition"


def test_what_is_said_can_be_pasted() -> None:
    assert how_to_report(["loss", "val-acc"]) == "report with: from outrider_report import report; report(loss=loss)"
    assert missing("loss", []).endswith("(reported: nothing); report with: from outrider_report import report; report(loss=loss)")
    assert missing("f1", [f"m{n:02}" for n in range(14)]).endswith("m10, m11, and 2 more)")
