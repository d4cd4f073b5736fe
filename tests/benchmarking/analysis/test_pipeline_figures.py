import pytest

from benchmarking.analysis.pipeline_figures import bound_text, ceilings_in, is_disturbed, is_epoch, own_share, seconds_apart


def test_seconds_spent_for_others_are_none_of_a_trials_own():
    usage = {"phases_s": {"train": 8.0, "ceilings": 2.5}}
    assert seconds_apart(usage) == 2.5
    assert own_share(usage, 10.0) == pytest.approx(0.75)
    assert own_share(usage, 2.0) == 0.0
    assert own_share(usage, 0.0) == 1.0
    assert [seconds_apart(other) for other in ({}, {"phases_s": None}, {"phases_s": {"ceilings": "x"}})] == [0.0] * 3


def test_ceilings_are_found_with_their_errors():
    found = ceilings_in({"ceiling_decode": 500.0, "ceiling_decode_error": 0.02, "ceiling_compute": 10, "ceiling_odd": "x", "loss": 1.0})
    assert found == {"decode": (500.0, 0.02), "compute": (10.0, None)}


def test_bounds_of_repeats_in_words():
    assert bound_text(["decode", "decode"]) == "decode"
    assert bound_text(["compute", "decode", "decode"]) == "decode (2), compute"
    assert bound_text([None, ""]) == ""


def test_only_true_is_disturbed():
    assert [is_disturbed(last) for last in ({"disturbed": True}, {"disturbed": False}, {"disturbed": None}, {})] == [
        True,
        False,
        False,
        False,
    ]
    assert is_epoch({"first_batch_s": 0.1})
    assert is_epoch({"checkpoint_load_s": 0.1})
    assert not is_epoch({"bound_by": "decode"})
