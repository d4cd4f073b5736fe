import math

import pytest

from benchmarking.controller.aggregation import ResultAggregator, Tell


def folder(repeats=1, objectives=("loss",), level_name="epoch"):
    return ResultAggregator(objectives, repeats, level_name)


def levels(found):
    return [tell.level for tell in found if tell is not None]


def test_repeats_are_folded_into_their_mean_once_all_have_reported():
    fold = folder(repeats=3)
    assert fold.reported(0, 0, {"epoch": 1, "loss": 1.0}) is None
    assert fold.reported(0, 2, {"epoch": 1, "loss": "4.5"}) is None
    assert fold.reported(0, 1, {"epoch": 1, "loss": 2.0}) == Tell("result", 0, 1.0, {"loss": 2.5, "epoch": 1.0})


def test_evaluations_do_not_mix():
    fold = folder(repeats=2)
    assert fold.reported(0, 0, {"epoch": 1, "loss": 1.0}) is None
    assert fold.reported(1, 0, {"epoch": 1, "loss": 5.0}) is None
    assert fold.reported(1, 1, {"epoch": 1, "loss": 7.0}).result["loss"] == 6.0


def test_levels_are_told_once_and_only_upwards():
    fold = folder()
    found = [fold.reported(0, 0, {"epoch": epoch, "loss": 1.0}) for epoch in (1, 1, 2, 4, 3, 4, 5)]
    assert levels(found) == [1.0, 2.0, 4.0, 5.0]


def test_after_a_retry_only_levels_above_the_last_seen_are_told():
    fold = folder()
    before = [fold.reported(0, 0, {"epoch": epoch, "loss": 1.0 / epoch}) for epoch in (1, 2)]
    again = [fold.reported(0, 0, {"epoch": epoch, "loss": 9.0 / epoch}) for epoch in (1, 2, 3)]
    assert levels(before) == [1.0, 2.0]
    assert levels(again) == [3.0]


def test_a_repeat_that_is_retried_does_not_count_twice():
    fold = folder(repeats=2)
    assert fold.reported(0, 0, {"epoch": 1, "loss": 1.0}) is None
    assert fold.reported(0, 0, {"epoch": 1, "loss": 1.0}) is None
    assert fold.reported(0, 1, {"epoch": 1, "loss": 3.0}).result["loss"] == 2.0


@pytest.mark.parametrize("loss", [math.nan, math.inf, "nan", None, "text", True])
def test_what_is_no_finite_number_is_never_told(loss):
    fold = folder()
    assert fold.reported(0, 0, {"epoch": 1, "loss": loss}) is None
    # the level may still be told by a later report that has it
    assert fold.reported(0, 0, {"epoch": 1, "loss": 0.5}) == Tell("result", 0, 1.0, {"loss": 0.5, "epoch": 1.0})


@pytest.mark.parametrize("epoch", [None, math.nan, math.inf, "first"])
def test_reports_without_a_level_are_not_told(epoch):
    assert folder().reported(0, 0, {"epoch": epoch, "loss": 1.0}) is None


def test_without_a_level_name_nothing_is_told_before_the_end():
    fold = folder(level_name=None)
    assert fold.reported(0, 0, {"epoch": 1, "loss": 1.0}) is None
    assert fold.finished(0, 0, {"loss": 0.25}) == Tell("complete", 0, None, {"loss": 0.25})


def test_all_repeats_failed_is_one_error():
    fold = folder(repeats=3)
    assert [fold.finished(0, repeat, None) for repeat in range(3)] == [None, None, Tell("error", 0)]


def test_a_partial_failure_leaves_the_mean_of_the_rest():
    fold = folder(repeats=3, level_name=None)
    assert fold.finished(0, 1, {"loss": 1.0}) is None
    assert fold.finished(0, 0, None) is None
    assert fold.finished(0, 2, {"loss": 4.0}) == Tell("complete", 0, None, {"loss": 2.5})


def test_a_final_value_that_is_not_finite_counts_as_failed():
    fold = folder(repeats=2)
    assert fold.finished(0, 0, {"loss": math.nan}) is None
    assert fold.finished(0, 1, {"loss": None}) == Tell("error", 0)


def test_the_end_names_the_last_level_that_was_told():
    fold = folder()
    fold.reported(0, 0, {"epoch": 2, "loss": 0.5})
    assert fold.finished(0, 0, {"loss": 0.5}) == Tell("complete", 0, 2.0, {"loss": 0.5, "epoch": 2.0})


def test_derived_objectives_are_there_at_the_end_only():
    fold = folder(objectives=("loss", "cost_usd"))
    early = fold.reported(0, 0, {"epoch": 1, "loss": 0.5})
    assert early is None or set(early.result) == {"loss", "epoch"}
    final = fold.finished(0, 0, {"loss": 0.5, "cost_usd": 0.01})
    assert (final.call, final.result["loss"], final.result["cost_usd"]) == ("complete", 0.5, 0.01)


def test_nothing_is_told_before_the_primary_objective_is_there():
    fold = folder(objectives=("cost_usd", "loss"))
    assert fold.reported(0, 0, {"epoch": 1, "loss": 0.5}) is None
    assert fold.finished(0, 0, {"cost_usd": 0.01, "loss": 0.5}) == Tell("complete", 0, None, {"cost_usd": 0.01, "loss": 0.5})


def test_a_removed_evaluation_starts_afresh():
    fold = folder(repeats=2)
    fold.reported(0, 0, {"epoch": 1, "loss": 1.0})
    fold.removed(0)
    fold.removed(7)
    assert fold.reported(0, 1, {"epoch": 1, "loss": 3.0}) is None
