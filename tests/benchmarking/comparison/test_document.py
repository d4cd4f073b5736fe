"""A comparison as rows, text, Markdown and JSON: all say the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarking.comparison.document import COLUMNS, as_json, as_markdown, as_text, document
from benchmarking.comparison.grouping import NO_SUCH_KEY
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis, MeasuredTrial
from definitions.errors import UserError
from tests.benchmarking.comparison.made_runs import run, several

ONE = [*several("RS", [2.0, 2.2, 1.8, 2.1, 1.9, 2.05, 2.02]), *several("TPE", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01, 1.03])]
TWO = [*ONE, *several("RS", [5.0, 5.1, 5.2, 4.9, 4.8, 5.05, 5.01], "c"), *several("TPE", [6.0, 6.1, 6.2, 5.9, 5.8, 6.05, 6.03], "c")]


def test_a_row_for_each_method_with_the_verdict_from_its_side():
    rows = document(TWO, ComparisonQuestion()).rows
    assert [(row["benchmark"], row["method"], row["verdict"]) for row in rows] == [
        ("b", "RS", "baseline"),
        ("b", "TPE", "better"),
        ("c", "RS", "baseline"),
        ("c", "TPE", "worse"),
    ]
    assert {tuple(row) for row in rows} == {COLUMNS}
    assert rows[1]["reached"] == "7 of 7"
    assert rows[1]["low"] < rows[1]["value"] < rows[1]["high"]
    assert [row["lead_is"] for row in rows] == [None, "ratio", None, "ratio"]
    shares = [*several("RS", [-0.2, -0.3]), *several("TPE", [-0.1, -0.4])]
    assert document(shares, ComparisonQuestion()).rows[1]["lead_is"] == "difference"
    assert "lead_is" not in as_text(document(TWO, ComparisonQuestion()))


def test_scores_over_benchmarks_need_two_that_have_any_and_what_has_none_is_not_undecided():
    nothing = [replace(one, benchmark="c", measurements=(), trials=()) for one in ONE]
    found = document([*ONE, *nothing], ComparisonQuestion())
    assert (found.across, found.profile) == ([], [])
    several_more = [*several("RS", [5.0, 5.1], "d"), *several("TPE", [4.0, 4.1], "d")]
    across = {row["method"]: row for row in document([*ONE, *nothing, *several_more], ComparisonQuestion()).across}
    assert (across["TPE"]["won"], across["TPE"]["not_decided"], across["TPE"]["benchmarks"]) == (1, 1, 2)


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
    assert (known["rows"], known["family"]) == (found.rows, 1)


def test_benchmarks_are_named_where_there_are_several():
    assert document(TWO, ComparisonQuestion()).verdicts[0].startswith("b: TPE is better than RS")


def test_a_baseline_that_a_benchmark_has_not_is_said_and_that_one_has_its_own():
    runs = [*TWO, *several("BO", [1.0, 1.2], "c")]
    found = document(runs, ComparisonQuestion(baseline="BO"))
    assert [(one.benchmark, one.baseline) for one in found.benchmarks] == [("b", "RS"), ("c", "BO")]
    assert "b: without BO, so RS is the baseline" in found.warnings
    assert [row["better_than_baseline"] for row in found.across] == [None] * 3
    with pytest.raises(UserError, match="--baseline PO: it has no experiment here"):
        document(runs, ComparisonQuestion(baseline="PO"))


def test_a_benchmark_without_the_objective_is_left_out_where_another_has_it():
    other = [replace(run, benchmark="d", objectives={"error": "min"}) for run in several("RS", [1.0, 2.0])]
    found = document([*ONE, *other], ComparisonQuestion(objective="loss"))
    assert [one.benchmark for one in found.benchmarks] == ["b"]
    assert found.warnings == ["d: it has no objective loss, and is left out"]
    with pytest.raises(UserError, match="--objective lost: b has none of this name"):
        document([*ONE, *other], ComparisonQuestion(objective="lost"))


def test_by_workers_a_number_alone_names_the_baseline():
    runs = [replace(run, facts={"workers": count}) for count in "12" for run in several("RS", [float(count), 1.1 * float(count)])]
    found = document([replace(run, tag=run.facts["workers"]) for run in runs], ComparisonQuestion(by=("workers",), baseline="2"))
    assert [row["method"] for row in found.rows] == ["workers=2", "workers=1"]


def test_more_seeds_than_are_expected_are_enough():
    runs = [*several("RS", [2.0, 2.2, 1.8]), *several("TPE", [1.0, 1.1])]
    assert not document(runs, ComparisonQuestion(expect_seeds=2)).lacks_seeds
    assert document(runs, ComparisonQuestion(expect_seeds=3)).lacks_seeds
    # Seeds of one name under two tags are no seeds of one method.
    twice = [*runs[:3], *(replace(run, tag="other") for run in runs[:1])]
    assert document(twice, ComparisonQuestion(expect_seeds=3)).lacks_seeds


def test_a_method_that_is_planned_and_has_not_begun_is_missed():
    planned = (("b", "RS"), ("b", "TPE"), ("b", "BO"))
    found = document(ONE, ComparisonQuestion(planned=planned))
    assert ("b x BO: none of its experiments has begun" in found.warnings, found.lacks_seeds) == (True, False)
    assert document(ONE, ComparisonQuestion(planned=planned, expect_seeds=6)).lacks_seeds


def test_parts_of_a_benchmark_are_no_sample_of_benchmarks():
    tagged = [replace(run, tag=tag, number=run.number) for tag in "st" for run in ONE]
    found = document(tagged, ComparisonQuestion(facet_by=("tag",)))
    assert found.is_split
    assert [one.benchmark for one in found.benchmarks] == ["b, tag=s", "b, tag=t"]
    assert sorted({(run.benchmark, run.method) for run in found.runs}) == [
        (benchmark, method) for benchmark in ("b, tag=s", "b, tag=t") for method in ("RS", "TPE")
    ]
    assert found.across == ()
    assert not document(TWO, ComparisonQuestion(facet_by=("tag",))).is_split


def without_levels(runs):
    return [replace(run, ends={axis: end for axis, end in run.ends.items() if axis is not Axis.COST}) for run in runs]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"axis": Axis.COST}, "left out: --x cost: c x RS x seed 0 of t has none; the price of some of its trials is unknown"),
        ({"at": 3.0}, "left out: --at 3: no run of c went that far; c x RS x seed 0 of t went furthest, 2 trials; all reached 2 trials"),
        ({"by": ("y",)}, "left out: --by y: c has no such key; " + NO_SUCH_KEY),
        (
            {"facet_by": ("y",)},
            "left out: --facet_by y: c has no such key; " + NO_SUCH_KEY,
        ),
    ],
)
def test_a_benchmark_that_has_not_what_is_asked_for_is_left_out_where_another_has_it(asked, said):
    b = [replace(run, benchmark="b") for run in [run("RS", 0, [2.0, 1.5, 1.0]), run("TPE", 0, [2.0, 1.5, 0.9])]]
    keyed = [one._replace(configuration={"y": 1}) for one in b[0].measurements]
    trial = MeasuredTrial({"y": 1}, 0, {"loss": 1.0})
    b = [replace(one, measurements=keyed, trials=(trial,)) for one in b]
    c = without_levels([run(method, 0, [2.0, 1.0], benchmark="c") for method in ("RS", "TPE")])
    found = document([*b, *c], ComparisonQuestion(**asked))
    assert {row["benchmark"].partition(",")[0] for row in found.rows} == {"b"}
    assert said in found.warnings
    assert {run.benchmark.partition(",")[0] for run in found.runs} == {"b"}
    # Where none has it the first is refused.
    with pytest.raises(UserError):
        document(c, ComparisonQuestion(**asked))


def test_what_the_notes_say_of_dollars_and_statistics():
    nominal = [replace(run, facts={"dollars": "nominal"}) for run in TWO]
    notes = document(nominal, ComparisonQuestion()).notes
    assert notes[:3] == [
        '2 comparisons on 2 benchmarks, one family (Holm): where nothing differs, "better" stands anywhere in at most 5 % of such studies; '
        "who was sooner is asked of those alone that are better",
        "value: the seeds' mean and its 95 % interval; lead, its interval and p: geometric mean of the pairs' ratios",
        "dollars are nominal: nobody is billed them",
    ]
    other = document(TWO, ComparisonQuestion(aggregate="median", objective="acc")).notes
    assert other[1] == (
        "value: median of the seeds, and the 95 % interval of their mean; lead, its interval and p: mean of the pairs' differences"
    )
    assert not any("dollars" in note for note in other)
