import math

import pytest

from benchmarking.report.text import configuration_text, dollars, duration, shown, table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        ("", "-"),
        (0, "0"),
        (0.0, "0"),
        (123456789, "123456789"),
        (True, "True"),
        (0.5, "0.5000"),
        (math.pi, "3.142"),
        (-12.3456, "-12.35"),
        (1234.5678, "1235"),
        (123456.7, "123457"),
        (0.00012345, "0.0001234"),
        (0.0000123456, "1.235e-05"),
        (1.5e7, "1.5e+07"),
        (1e7, "1e+07"),
        (1e-4, "0.0001000"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        ("text", "text"),
    ],
)
def test_values(value, text):
    assert shown(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "unknown"), (0, "$0.00"), (1.25, "$1.25"), (1234.5, "$1234.50"), (0.1, "$0.10"), (0.0123, "$0.012"), (0.00012, "$0.00012")],
)
def test_money(value, text):
    assert dollars(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (42.0, "42 s"),
        (119.4, "119 s"),
        (119.6, "2 min 0 s"),
        (190, "3 min 10 s"),
        (7199.4, "119 min 59 s"),
        (7200, "2 h 0 min"),
        (7500, "2 h 5 min"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_numbers_stand_to_the_right_and_text_to_the_left():
    assert table(["n", "name", "loss"], [[1, "a", 0.5], [200, "long", None]]).splitlines() == [
        "  n  name    loss",
        "---  ----  ------",
        "  1  a     0.5000",
        "200  long       -",
    ]


def test_a_column_with_one_text_is_text():
    assert table(["x"], [[10], ["abc"]]).splitlines() == ["x", "---", "10", "abc"]


def test_an_empty_table_is_its_header():
    assert table(["a", "bb"], []).splitlines() == ["a  bb", "-  --"]


def test_configurations():
    assert (
        configuration_text({"lr": 0.001, "b": True, "c": None, "e": ""}, ["b", "lr", "c", "d", "e"]) == "b=True lr=0.001000 c=null d=- e=''"
    )


def test_a_value_stays_on_its_line():
    assert table(["text", "n"], [["a\nb", 1], ["tab\t\x1b[1m", 2]]).splitlines()[2:] == [
        r"a\nb          1",
        r"tab\t\x1b[1m  2",
    ]
