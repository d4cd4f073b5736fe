"""What people read when something is wrong."""

from definitions.errors import EXIT_USAGE, OutriderError, UserError, did_you_mean, nearest


def test_the_parts_of_an_error_are_lines_and_empty_ones_are_left_out():
    assert str(UserError("asked", "fact", "advice")) == "asked\n  fact\n  advice"
    assert str(UserError("asked", "", "advice")) == "asked\n  advice"
    assert str(UserError("asked")) == "asked"


def test_wrong_use_exits_with_2_and_a_fault_with_1():
    assert UserError("x").exit_code == EXIT_USAGE == 2
    assert OutriderError("x").exit_code == 1
    assert isinstance(UserError("x"), OutriderError)


def test_the_nearest_word():
    assert nearest("max_failure", ["max_cost", "max_failures"]) == "max_failures"
    assert nearest("zzz", ["max_cost"]) == ""
    assert nearest("x", []) == ""


def test_advice_names_one_word_or_all():
    assert did_you_mean("ASAH", ["ASHA", "RS"]) == "did you mean 'ASHA'?"
    assert did_you_mean("zzz", ["b", "a"]) == "known: a, b"
    assert did_you_mean("zzz", []) == "known: none"
