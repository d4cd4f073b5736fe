"""What a searcher is made from, in any process."""

from benchmarking.methods.searchers.base import SearcherSpec
from definitions.space import SearchSpace
from definitions.valid import parse_rule

SPACE = SearchSpace.parse({"b": {"uniform": [0, 1]}, "a": {"choice": ["x", None, 2]}, "c": {"randint": [1, 9]}})


def spec(**changes):
    given = {"kind": "GP", "space": SPACE, "seed": 3, "arguments": {"candidates": 5}, "rules": (parse_rule("c > 4"),), "full": 27.0}
    return SearcherSpec(**(given | changes))


def test_a_spec_comes_back_from_its_form_with_the_order_of_its_dimensions():
    made = spec(arguments={"candidates": 5, "points_to_evaluate": [{"b": 1}], "sampled": None})
    again = SearcherSpec.from_json(made.to_json())
    assert list(again.space.domains) == ["b", "a", "c"]
    assert again.space.spec() == SPACE.spec()
    assert (again.kind, again.seed, again.full) == ("GP", 3, 27.0)
    assert again.arguments == {"candidates": 5, "sampled": None}  # what is a list is used up before
    assert [rule.text for rule in again.rules] == ["c > 4"]


def test_a_proposals_randomness_is_of_kind_seed_and_number_alone():
    first = spec().source(7).random()
    assert first == spec(arguments={}).source(7).random()
    assert len({first, spec().source(8).random(), spec(seed=4).source(7).random(), spec(kind="REA").source(7).random()}) == 4


def test_candidates_meet_the_rules_and_are_as_many_as_asked_for():
    found = spec().candidates(spec().source(0), 50)
    assert len(found) == 50
    assert min(one["c"] for one in found) == 5


def test_rules_that_little_meets_give_fewer_candidates():
    assert spec(rules=(parse_rule("c > 9"),)).candidates(spec().source(0), 5) == []
    rare = spec(space=SearchSpace.parse({"c": {"randint": [1, 1000]}}), rules=(parse_rule("c <= 25"),))
    assert 1 <= len(rare.candidates(rare.source(0), 10)) < 10  # 200 draws of which one in 40 will do
