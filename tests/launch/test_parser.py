"""The parser of all verbs."""

from __future__ import annotations

import pytest

from definitions.errors import UserError
from launch.parser import VerbParser


def parser() -> VerbParser:
    made = VerbParser("outrider thing", "Do a thing.")
    made.add_results_dir()
    made.add_argument("--page_gap", type=float, default=1.0)
    made.add_argument("--no_wait", action="store_true")
    made.add_argument("name", nargs="?")
    return made


@pytest.mark.parametrize("flag", ["--page-gap", "--page_gap"])
@pytest.mark.parametrize("joined", [True, False])
def test_dashes_and_underscores_are_alike_in_flags_and_untouched_in_values(flag, joined):
    words = [f"{flag}=2.5"] if joined else [flag, "2.5"]
    given = parser().parse_args([*words, "a-b_c"])
    assert (given.page_gap, given.name) == (2.5, "a-b_c")


def test_a_flag_that_begins_with_no_is_no_negation():
    assert parser().parse_args(["--no-wait"]).no_wait is True


def test_both_spellings_of_a_negated_switch():
    import argparse

    made = parser()
    made.add_argument("--quick_look", action=argparse.BooleanOptionalAction, default=True)
    assert [made.parse_args([word]).quick_look for word in ("--no-quick-look", "--no-quick_look", "--no_quick_look")] == [False] * 3


def test_an_unknown_flag_is_answered_with_the_nearest():
    with pytest.raises(UserError, match=r"unrecognized arguments: --page_gab\n.*did you mean --page_gap\? \(see outrider thing --help\)"):
        parser().parse_args(["--page-gab", "3"])


def test_flags_are_not_abbreviated():
    with pytest.raises(UserError, match="unrecognized"):
        parser().parse_args(["--page", "3"])
