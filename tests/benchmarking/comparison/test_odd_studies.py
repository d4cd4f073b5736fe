"""Studies as they should not be: each is compared as far as it can be, in every form, and what is lacking is said, never filled in."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from benchmarking.comparison.document import as_json, as_markdown, as_text, document
from benchmarking.comparison.question import ComparisonQuestion
from tests.benchmarking.comparison.made_runs import run, several

SIX = [2.0, 2.2, 1.8, 2.1, 1.9, 2.05]
BETTER = [value / 2 for value in SIX]


def rows_of(runs, **question):
    """Return the rows by method, after each form of the comparison was made."""
    found = document(runs, ComparisonQuestion(**question))
    json.loads(as_json(found), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    for text in (as_text(found), as_markdown(found)):
        assert "nan" not in text.lower().split()
        assert all(sentence in text for sentence in found.verdicts)
    return {row["method"]: row for row in found.rows}, found


def test_one_seed_decides_nothing_whatever_the_lead():
    rows, found = rows_of([*several("RS", [9.0]), *several("TPE", [0.001])])
    assert (rows["TPE"]["verdict"], rows["TPE"]["low"], rows["TPE"]["p"]) == ("one run only", None, None)
    assert "one run only" in found.verdicts[0]


def test_of_unequal_seeds_those_in_common_are_pairs():
    rows, found = rows_of([*several("RS", SIX), *several("TPE", BETTER[:4])])
    assert rows["TPE"]["lead"] == pytest.approx(2.0)
    assert rows["TPE"]["verdict"] == "not decided"  # four pairs cannot reach the level
    assert any("4, 5" in warning for warning in found.warnings), found.warnings


def test_without_a_seed_in_common_two_samples_are_compared():
    shifted = [dataclasses.replace(one, number=one.number + 10) for one in several("TPE", BETTER)]
    rows, _ = rows_of([*several("RS", SIX), *shifted])
    # Of the 924 ways to draw six of twelve two are as far apart as these.
    assert (rows["TPE"]["verdict"], rows["TPE"]["p"]) == ("better", pytest.approx(2 / 924))
    # One seed in common is one pair, and one run of a method is no sample.
    overlapping = [dataclasses.replace(one, number=one.number + 5) for one in several("TPE", BETTER)]
    rows, found = rows_of([*several("RS", SIX), *overlapping])
    assert rows["TPE"]["verdict"] == "one run only"
    assert found.verdicts[0] == "TPE and RS: one run only (TPE has 6, RS 6, in common 1), so nothing is said of loss; more seeds would."


def test_what_both_had_done_alike_is_no_tie():
    # A start of two configurations that both share; one of three seeds went on.
    start = [[9.0, 2.0 + 0.1 * seed] for seed in range(3)]
    longer = [[*start[0], 1.5], start[1], start[2]]
    rows, found = rows_of(
        [*(run("RS", seed, losses) for seed, losses in enumerate(start)), *(run("TPE", s, x) for s, x in enumerate(longer))]
    )
    assert (rows["TPE"]["verdict"], rows["TPE"]["p"]) == ("same by construction", None)
    assert found.verdicts[0] == (
        "TPE and RS: same by construction after 2 trials: with all 3 pairs of seeds both had done the same, as within a start that they "
        "share; nothing is said of loss, a larger budget would tell."
    )
    # Where enough of them differ a verdict is given, and the others are counted.
    other = [[9.0, 3.0 + 0.1 * seed] for seed in range(4)]
    rows, found = rows_of(
        [
            *(run("RS", seed, losses) for seed, losses in enumerate([*start, *other])),
            *(run("TPE", seed, losses) for seed, losses in enumerate([*start, *other[1:], other[0]])),
        ]
    )
    assert rows["TPE"]["verdict"] == "not decided"
    assert "TPE and RS: in 3 of 7 pairs of seeds both had done the same after 2 trials." in found.verdicts


def test_one_method_under_two_settings_tries_the_same_and_may_differ_all_the_same():
    def of(tag, values):
        made = [run("RS", seed, [9.0, value]) for seed, value in enumerate(values)]
        tried = [[each._replace(configuration={"x": f"{one.number} {n}"}) for n, each in enumerate(one.measurements)] for one in made]
        return [dataclasses.replace(one, tag=tag, measurements=found) for one, found in zip(made, tried, strict=True)]

    rows, _ = rows_of([*of("old", SIX), *of("new", BETTER)], by=("tag",), baseline="old")
    assert rows["new"]["verdict"] == "better"


def test_a_few_pairs_that_are_all_equal_are_no_tie():
    def differing(one):
        tried = tuple(each._replace(configuration={"x": f"{one.method} {one.number}"}) for each in one.measurements)
        return dataclasses.replace(one, measurements=tried)

    for seeds, word in ((2, "not decided"), (5, "not decided"), (6, "tie")):
        runs = [differing(run(method, number, [9.0, 0.9 + number])) for method in ("RS", "TPE") for number in range(seeds)]
        rows, _ = rows_of(runs)
        assert rows["TPE"]["verdict"] == word
    # As few pairs as could have been significant are enough, and so many are asked for.
    rows, _ = rows_of(runs[:2] + runs[6:8])
    assert rows["TPE"]["seeds_needed"] == 6


def test_a_method_that_never_completed_has_no_value_and_does_not_set_the_budget():
    nothing = [dataclasses.replace(run("TPE", number, []), ended_by="failures") for number in range(6)]
    rows, found = rows_of([*several("RS", SIX), *nothing])
    assert (rows["TPE"]["value"], rows["TPE"]["lead"], rows["TPE"]["p"], rows["TPE"]["verdict"]) == (None, None, None, "no result")
    assert found.verdicts[0] == "TPE and RS: nothing is said of loss, as TPE had no result after 2 trials."
    assert rows["RS"]["value"] == pytest.approx(2.02, abs=0.05)
    assert found.benchmarks[0].at == 2.0
    # Also where it is the baseline.
    rows, _ = rows_of([*several("RS", SIX), *nothing], baseline="TPE")
    assert rows["RS"]["value"] == pytest.approx(2.02, abs=0.05)
    assert rows["RS"]["lead"] is None


def test_all_failed():
    rows, found = rows_of([run(method, number, []) for method in ("RS", "TPE") for number in range(3)])
    assert {row["value"] for row in rows.values()} == {None}
    assert not any("better" in verdict for verdict in found.verdicts)


def test_values_that_are_no_numbers_are_no_results():
    odd = [run("TPE", number, [math.nan, math.inf, value]) for number, value in enumerate(BETTER)]
    odd[0] = run("TPE", 0, [math.nan, math.nan, math.nan])
    rows, found = rows_of([*[run("RS", number, [9.0, 9.0, value]) for number, value in enumerate(SIX)], *odd])
    assert rows["TPE"]["lead"] == pytest.approx(2.0)
    assert any("seed 0" in verdict and "TPE" in verdict for verdict in found.verdicts), found.verdicts


@pytest.mark.parametrize("value", [3.0, 0.0, -4.5])
def test_a_constant_metric_is_a_tie(value):
    def differing(one):
        # Runs that tried other configurations are samples of their own, though all measured the same.
        tried = tuple(each._replace(configuration={"x": f"{one.method} {one.number}"}) for each in one.measurements)
        return dataclasses.replace(one, measurements=tried)

    runs = [run(method, number, [value, value]) for method in ("RS", "TPE") for number in range(6)]
    rows, found = rows_of([differing(one) for one in runs])
    assert rows["TPE"]["verdict"] == "tie"
    assert found.benchmarks[0].best_known == value


def rotated(runs, by):
    """Return runs of equal values that tried other configurations."""
    return [
        dataclasses.replace(one, measurements=tuple(each._replace(configuration={"x": by}) for each in one.measurements)) for one in runs
    ]


def test_ties_everywhere_share_all_ranks_and_nobody_wins():
    names = [f"b{index}" for index in range(6)]
    _, found = rows_of(
        [one for name in names for number, method in enumerate(("RS", "TPE", "BO")) for one in rotated(several(method, SIX, name), number)]
    )
    across = {row["method"]: row for row in found.across}
    assert {row["mean_rank"] for row in across.values()} == {2.0}
    assert [(row["won"], row["tied"], row["lost"]) for method, row in across.items() if method != "RS"] == [(0, 6, 0)] * 2
    assert across["TPE"]["better_than_baseline"] == 0.5


def test_zero_and_negative_values_are_compared_by_differences():
    rows, found = rows_of([*several("RS", [1.0, -1.0, 0.5, 0.0, 0.1, -0.2]), *several("TPE", [0.0, -2.0, -0.5, -1.0, -0.9, -1.2])])
    assert rows["TPE"]["lead"] == pytest.approx(1.0)
    assert rows["TPE"]["verdict"] == "better"
    assert "times" not in found.verdicts[0]


def test_budgets_that_differ_by_ten_are_compared_at_the_smaller_one_and_said():
    short, long = [run("RS", number, [9.0, value]) for number, value in enumerate(SIX)], []
    for number, value in enumerate(SIX):
        # Equal at two trials; the rest of its twenty would look better.
        long.append(run("TPE", number, [9.0, value * 1.001, *[value / (2 + index) for index in range(18)]]))
    _, found = rows_of([*short, *long], axis=None)
    assert found.benchmarks[0].at == 2.0
    assert found.rows[1]["verdict"] == "tie"
    assert (
        "RS x seed 0 of t and 5 more went least far (done), so all are compared at 2 trials: 6 others went further, half of them to "
        "20 trials or more (see --at)."
    ) in found.verdicts


@pytest.mark.parametrize("name", ["a b%", "<script>alert(1)</script>", "größe | pipe", "m" * 10_000, "=1+1"])
def test_names_of_any_kind(name):
    def named(one):
        found = tuple(each._replace(values={name: each.values["loss"]}) for each in one.measurements)
        return dataclasses.replace(one, objectives={name: "min"}, measurements=found)

    rows, found = rows_of([named(one) for one in [*several("RS", SIX), *several("TPE", BETTER)]], objective=name)
    assert rows["TPE"]["objective"] == name
    assert rows["TPE"]["verdict"] == "better"
    assert found.verdicts[0].startswith(f"TPE is better than RS: {name} 2 times better after 2 trials")
