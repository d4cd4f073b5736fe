"""Colours are told apart from what they are drawn on, from each other by more than colour, and mean the same in all figures."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from benchmarking.page.palette import COLOURS, PAPERS, look, styles


def luminance(colour):
    """Return the relative luminance of `#rrggbb`, as WCAG 2.2 defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_measure_is_that_of_the_guidelines():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("colour", COLOURS)
def test_each_colour_is_seen_on_light_and_on_dark(colour, paper):
    assert contrast(colour, paper) >= 3.0


def test_the_papers_are_those_of_the_page():
    text = files("benchmarking.page").joinpath("page.css").read_text(encoding="utf-8")
    assert tuple(re.findall(r"--paper: (#\w{6})", text)) == PAPERS


def test_words_of_the_page_are_read_on_their_paper():
    text = files("benchmarking.page").joinpath("page.css").read_text(encoding="utf-8")
    for number, paper in enumerate(PAPERS):
        for name in ("ink", "soft", "link", "good", "bad"):
            assert contrast(re.findall(rf"--{name}: (#\w{{6}})", text)[number], paper) >= 4.5, (name, paper)


def test_whoever_sees_no_colour_tells_eight_names_apart_by_marker_and_pattern():
    assert len({look(number).symbol for number in range(8)}) == len({look(number).pattern for number in range(8)}) == 8
    assert len({(look(number).colour, look(number).dash) for number in range(24)}) == 24


def test_a_method_keeps_its_look_and_what_became_of_jobs_has_one_by_its_name():
    methods = ["RS", "TPE", "BO"]
    first, second = styles(["TPE", "RS"], methods), styles(["loss", "TPE", "failed"], methods)
    assert first["TPE"] == second["TPE"] == look(1)
    assert second["loss"] == look(0)
    assert styles(["failed"], [])["failed"] == second["failed"] == styles(["completed", "stopped", "failed"], methods)["failed"]
    assert styles(["Training"], [])["Training"] == styles(["train"], [])["train"]
