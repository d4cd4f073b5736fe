"""Facets, names of groups, seeds that are lacking, definitions that are two."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.comparison.document import document
from benchmarking.comparison.grouping import facets, having_objective, named, unequal_seeds
from benchmarking.comparison.question import ComparisonQuestion
from definitions.errors import UserError
from tests.benchmarking.comparison.made_runs import run, several

SIX = [2.0, 2.2, 1.8, 2.1, 1.9, 2.05]


def tagged(runs, tag):
    return [replace(one, tag=tag) for one in runs]


def test_a_seed_of_one_name_under_two_tags_is_two_experiments():
    (group,) = named([*tagged(several("RS", SIX[:2]), "a"), *tagged(several("RS", SIX[2:4]), "b")], ("method",))
    assert [one.method for one in group] == ["RS (a)", "RS (a)", "RS (b)", "RS (b)"]


def test_tags_are_compared_method_by_method():
    runs = [*tagged(several("RS", SIX) + several("TPE", SIX), "a"), *tagged(several("RS", [v / 2 for v in SIX]), "b")]
    found = document(runs, ComparisonQuestion(by=("tag",)))
    assert [(row["benchmark"], row["method"], row["verdict"]) for row in found.rows] == [
        ("b, method=RS", "a", "baseline"),
        ("b, method=RS", "b", "better"),
        ("b, method=TPE", "a", "baseline"),
    ]


def test_facets_split_experiments_or_what_they_measured():
    runs = [*tagged(several("RS", SIX[:1]), "a"), *tagged(several("RS", SIX[:1]), "b")]
    assert [(part[0].benchmark, len(part)) for part in facets(runs, ["tag"])] == [("b, tag=a", 1), ("b, tag=b", 1)]
    assert [part[0].benchmark for part in facets(runs, ["benchmark"])] == ["b"], "it is a comparison of its own already"
    split = facets([run("RS", 0, [9.0, 2.0])], ["x"])
    assert [(part[0].benchmark, [one.values["loss"] for one in part[0].measurements]) for part in split] == [
        ("b, x=2.0", [2.0]),
        ("b, x=9.0", [9.0]),
    ]


def test_unequal_and_lacking_seeds_are_named():
    runs = [*several("RS", SIX[:4]), *several("TPE", SIX[:2]), run("BO", 0, [])]
    assert unequal_seeds(runs) == [
        "b x TPE: no results with seeds 2, 3, which other methods have: there it is no pair with them",
        "b x BO: no results with seeds 0, 1, 2, 3, which other methods have: there it is no pair with them",
    ]
    assert unequal_seeds(runs, 4)[0] == "b x TPE: 2 of 4 seeds have results"
    assert document(runs, ComparisonQuestion(expect_seeds=4)).lacks_seeds
    assert not document(several("RS", SIX), ComparisonQuestion(expect_seeds=6)).lacks_seeds


def test_seeds_that_nobody_has_in_common_are_two_samples_which_is_said():
    other = [replace(one, number=one.number + 10) for one in several("TPE", SIX)]
    found = document([*several("RS", SIX), *other], ComparisonQuestion())
    assert (found.rows[1]["lead"], found.rows[1]["correlation"], found.rows[1]["p"]) == (1.0, None, 1.0)
    assert "6 and 6 runs without a seed in common, p = 1" in found.verdicts[0]


def test_two_definitions_under_one_tag_are_flagged_or_refused():
    other = replace(run("TPE", 0, [1.0]), objectives={"gain": "max"})
    kept, said = having_objective([run("RS", 0, [1.0]), other], "")
    assert [one.method for one in kept] == ["RS"]
    assert said == ["without loss, and left out: b x TPE x seed 0 of t"]
    turned = replace(run("TPE", 0, [1.0]), objectives={"loss": "max"})
    with pytest.raises(UserError, match="loss of b: max in b x TPE x seed 0 of t, min in b x RS x seed 0 of t"):
        document([run("RS", 0, [1.0]), turned], ComparisonQuestion())
    hashes = [run("RS", number, [1.0 + number], facts={"definition": "ab"[number]}) for number in range(2)]
    assert document(hashes, ComparisonQuestion()).warnings[0].startswith("b: not all alike in definition")
