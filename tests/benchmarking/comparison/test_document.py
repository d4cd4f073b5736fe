"""A comparison as rows, text, Markdown and JSON: all say the same."""

from __future__ import annotations

import json

from benchmarking.comparison.document import COLUMNS, as_json, as_markdown, as_text, document
from benchmarking.comparison.methods import ComparisonQuestion
from tests.benchmarking.comparison.made_runs import several

ONE = [*several("RS", [2.0, 2.2, 1.8, 2.1, 1.9, 2.05]), *several("TPE", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01])]
TWO = [*ONE, *several("RS", [5.0, 5.1, 5.2, 4.9, 4.8, 5.05], "c"), *several("TPE", [6.0, 6.1, 6.2, 5.9, 5.8, 6.05], "c")]


def test_a_row_for_each_method_with_the_verdict_from_its_side():
    rows = document(TWO, ComparisonQuestion()).rows
    assert [(row["benchmark"], row["method"], row["verdict"]) for row in rows] == [
        ("b", "RS", "baseline"),
        ("b", "TPE", "better"),
        ("c", "RS", "baseline"),
        ("c", "TPE", "worse"),
    ]
    assert {tuple(row) for row in rows} == {COLUMNS}
    assert rows[1]["reached"] == "6 of 6"
    assert rows[1]["low"] < rows[1]["value"] < rows[1]["high"]


def test_over_all_benchmarks_wins_and_losses_are_counted():
    found = document(TWO, ComparisonQuestion())
    across = {row["method"]: row for row in found.across}
    assert (across["TPE"]["won"], across["TPE"]["lost"], across["TPE"]["tied"], across["TPE"]["not_decided"]) == (1, 1, 0, 0)
    assert across["TPE"]["better_than_baseline"] == 0.5
    assert across["RS"]["better_than_baseline"] is None
    assert across["RS"]["mean_rank"] == across["TPE"]["mean_rank"] == 1.5
    assert document(ONE, ComparisonQuestion()).across == ()


def test_text_markdown_and_json_hold_the_same_verdict():
    found = document(ONE, ComparisonQuestion())
    verdict = found.verdicts[0]
    assert as_text(found).startswith(verdict + "\n\nbenchmark")
    assert as_markdown(found).startswith(f"* {verdict}\n")
    assert f"| {' | '.join(COLUMNS)} |" in as_markdown(found)
    known = json.loads(as_json(found))
    assert known["verdicts"][0] == verdict
    assert known["rows"] == found.rows


def test_benchmarks_are_named_where_there_are_several():
    assert document(TWO, ComparisonQuestion()).verdicts[0].startswith("b: TPE is better than RS")
