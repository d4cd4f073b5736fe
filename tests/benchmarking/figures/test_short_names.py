"""Names of any length stay readable and their own."""

from __future__ import annotations

from benchmarking.figures.short_names import MOST, changed, short_names


def test_what_fits_stays():
    assert short_names(["RS", "größe <b>", "RS"]) == {"RS": "RS", "größe <b>": "größe <b>"}
    assert changed(short_names(["RS"])) == {}


def test_long_ones_keep_begin_and_end_and_stay_apart():
    names = ["a" * 5000 + "one" + "b" * 5000, "a" * 5000 + "two" + "b" * 5000, "c" * 10_000]
    short = short_names(names)
    assert [len(short[name]) <= MOST for name in names] == [True] * 3
    assert len({short[name] for name in names}) == 3
    assert short[names[0]].startswith("aaa")
    assert short[names[0]].endswith("bbb")
    assert short[names[1]].endswith("bbb (2)")
    assert changed(short) == {short[name]: name for name in names}


def test_a_cut_name_never_takes_that_of_another():
    long = "x" * 100
    taken = short_names([long])[long]
    found = short_names([long, taken])
    assert found[taken] == taken
    assert found[long] != taken


def test_signs_that_move_the_cursor_are_blanks():
    assert short_names(["a\nb\x1b[0m"]) == {"a\nb\x1b[0m": "a b [0m"}
