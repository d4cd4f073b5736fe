"""Methods over several benchmarks, of which some ran only a part."""

from __future__ import annotations

from benchmarking.comparison.across import over_benchmarks, word_for
from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from tests.benchmarking.comparison.made_runs import several

QUESTION = ComparisonQuestion()


def over(*runs):
    made = document([run for group in runs for run in group], QUESTION).benchmarks
    rows, lines = over_benchmarks(made, QUESTION)
    return {row["method"]: row for row in rows}, lines


BOTH = (
    several("RS", [3.0, 5.0]), several("TPE", [2.0, 4.0]),
    several("RS", [8.0, 9.0], "c"), several("TPE", [7.0, 9.0], "c"),
)  # fmt: skip


def test_who_ran_one_of_two_benchmarks_stands_last_beside_the_baseline_there():
    # The best on b by far, which is no reason to lead over both.
    rows, lines = over(*BOTH, several("ASHA", [1.0, 1.0]))
    assert [*rows] == ["TPE", "RS", "ASHA"]
    assert {name: (row["benchmarks"], row["mean_rank"]) for name, row in rows.items()} == {
        "TPE": (2, 1.0),
        "RS": (2, 2.0),
        "ASHA": (1, None),
    }
    # b from 5 to 1, c from 9 to 7: RS has 0.5, 0, 0.5, 0; TPE 0.75, 0.25, 1, 0; the middle halves are 0.25 and 0.5.
    assert (rows["RS"]["iqm"], rows["TPE"]["iqm"], rows["TPE"]["iqm_of_baseline"]) == (0.25, 0.5, 0.25)
    assert (rows["ASHA"]["iqm"], rows["ASHA"]["iqm_of_baseline"], rows["ASHA"]["better_than_baseline"]) == (1.0, 0.25, 1.0)
    assert lines == ["over benchmarks ASHA is not ranked: it ran 1 of 2 (b), and its row, the last, is of these."]


def test_where_no_two_ran_all_those_count_that_all_ran():
    rows, lines = over(several("RS", [3.0]), several("TPE", [2.0]), several("RS", [3.0], "c"), several("TPE", [2.0], "d"))
    assert {name: row["benchmarks"] for name, row in rows.items()} == {"TPE": 1, "RS": 1}
    assert lines == ["over benchmarks methods are compared on 1 of 3, which all of them ran: b."]


def test_nothing_in_common_is_nothing_said():
    assert over(several("RS", [3.0]), several("TPE", [2.0], "c")) == (
        {},
        ["over benchmarks nothing is said: none was run by all methods."],
    )
    assert over_benchmarks([], QUESTION) == ([], [])


def test_a_word_is_from_the_method_s_own_side():
    (made,) = document(
        [*several("RS", [1.0 + 0.01 * n for n in range(8)]), *several("TPE", [2.0 + 0.01 * n for n in range(8)])], QUESTION
    ).benchmarks
    assert [word_for(row) for row in made.rows] == ["baseline", "worse"]
