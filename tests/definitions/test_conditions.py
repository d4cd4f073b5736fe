"""Dimensions that exist only beside some values of others."""

import random

import pytest

from definitions.errors import UserError
from definitions.space import SearchSpace
from definitions.valid import parse_rule

SGD = {
    "optimizer": {"choice": ["sgd", "adam"]},
    "momentum": {"when": "optimizer == 'sgd'", "choice": [0.0, 0.9]},
    "nesterov": {"when": "momentum > 0", "choice": [True, False]},
    "beta": {"when": "optimizer == 'adam'", "choice": [0.9, 0.95, 0.99]},
    "width": {"choice": [32, 64]},
}


def test_a_grid_has_each_configuration_once_without_what_does_not_exist():
    space = SearchSpace.parse(SGD)
    found = list(space.grid(0))
    # sgd: momentum 0 alone, or 0.9 with two values of nesterov: 3; adam: 3; each with 2 widths.
    assert space.size == len(found) == (3 + 3) * 2
    assert found[0] == {"optimizer": "sgd", "momentum": 0.0, "width": 32}
    assert list(found[2]) == ["optimizer", "momentum", "nesterov", "width"]
    assert len({tuple(sorted(map(str, one.items()))) for one in found}) == 12
    assert all("momentum" not in one and "nesterov" not in one for one in found if one["optimizer"] == "adam")


def test_draws_hold_what_exists_and_are_in_the_space():
    space = SearchSpace.parse({**SGD, "momentum": {"when": "optimizer == 'sgd'", "uniform": [0, 1]}})
    source = random.Random(0)
    drawn = [space.sample(source) for _ in range(200)]
    for one in drawn:
        space.check(one)
    assert space.size is None
    assert 60 < sum("momentum" in one for one in drawn) < 140


def test_one_draw_decides_nothing_about_the_random_numbers_of_others():
    plain = SearchSpace.parse({key: {kind: v for kind, v in spec.items() if kind != "when"} for key, spec in SGD.items()})
    one, other = plain.sample(random.Random(7)), SearchSpace.parse(SGD).sample(random.Random(7))
    assert other == {key: one[key] for key in other}


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"optimizer": "adam", "beta": 0.9, "width": 32, "momentum": 0.9}, "momentum = 0.9 beside values that exclude it"),
        ({"optimizer": "adam", "width": 32}, "lacks 'beta'"),
        ({"optimizer": "sgd", "momentum": 0.0, "width": 32, "nesterov": True}, "only when momentum > 0"),
    ],
)
def test_a_configuration_has_exactly_what_exists(configuration, message):
    with pytest.raises(UserError, match=message):
        SearchSpace.parse(SGD).check(configuration)


def test_the_written_form_reads_back():
    space = SearchSpace.parse(SGD)
    assert space.spec()["momentum"] == {"when": "optimizer == 'sgd'", "choice": [0.0, 0.9]}
    assert SearchSpace.parse(space.spec()) == space


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"optimizer": {"when": "momentum > 0", "choice": ["sgd", "adam"]}}, "in a circle"),
        ({"width": {"when": "width > 0", "choice": [1, 2]}}, "in a circle"),
        (
            {"beta": {"when": "optimiser == 'adam'", "choice": [1, 2]}},
            r"space\.beta: when: .* names 'optimiser'[\s\S]*did you mean 'optimizer'",
        ),
        ({"beta": {"when": "true", "choice": [1, 2]}}, "reads no other dimension"),
        ({"beta": {"when": 3, "choice": [1, 2]}}, "when = 3 is no expression"),
        ({"beta": {"when": "optimizer ==", "choice": [1, 2]}}, "is not an expression"),
        ({"beta": {"when": "optimizer == 'adam'"}}, "no domain"),
    ],
)
def test_what_is_no_condition(change, message):
    with pytest.raises(UserError, match=message):
        SearchSpace.parse({**SGD, **change})


def test_a_rule_says_nothing_of_what_does_not_exist():
    rule = parse_rule("momentum >= 0.1")
    assert [rule.holds(one) for one in ({"momentum": 0.05}, {"momentum": 0.2}, {"optimizer": "adam"})] == [False, True, True]
    with pytest.raises(UserError, match="cannot be evaluated"):
        rule.holds({"momentum": "much"})
