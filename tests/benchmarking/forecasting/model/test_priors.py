"""What is known beforehand of algorithms."""

import pytest

from benchmarking.forecasting.model.priors import FAMILIES, exponents_of
from definitions.errors import UserError


def test_an_unknown_family_is_answered_with_the_nearest_one():
    with pytest.raises(UserError, match="did you mean 'trees'"):
        exponents_of("tree")


def test_the_components_of_a_family_are_shares_of_one():
    assert {family: sum(weight for weight, _, _ in parts) for family, parts in FAMILIES.items()} == pytest.approx(
        dict.fromkeys(FAMILIES, 1.0)
    )


def test_what_the_literature_says_of_exponents_is_the_likeliest():
    likeliest = {family: max(parts)[1] for family, parts in FAMILIES.items()}
    assert likeliest == {
        "": 1.0, "constant": 0.0, "epochs": 1.0, "linear": 1.0, "trees": 1.02, "sort": 1.08, "iterative": 1.05, "clustering": 1.05,
        "neighbours": 2.0, "kernel": 2.0, "gaussian_process": 3.0,
    }  # fmt: skip
