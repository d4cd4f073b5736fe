from __future__ import annotations

import numpy as np
import pytest

from benchmarking.models.comparison import batches, difference

ONES = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(("most", "expected"), [(0, (0,)), (1, (1,)), (2, (1, 2)), (8, (1, 2, 8))])
def test_the_batches_are_one_two_and_most(most, expected):
    assert batches(most) == expected


def test_kernels_may_add_up_in_other_orders():
    assert difference([ONES * 1000], [ONES * 1000.5]) == ""
    assert difference([ONES * 0], [ONES * 5e-5]) == ""


@pytest.mark.parametrize(
    ("expected", "found", "words"),
    [
        (ONES, ONES * 1.01, "output 0: 6 of 6 numbers differ, by 0.01 at most"),
        (ONES, ONES[:1], "output 0: shape [1, 3], where torch has [2, 3]"),
        (ONES, ONES * np.nan, "6 of 6 numbers differ"),
        (ONES * np.inf, ONES * np.inf, "torch's own answer is not finite"),
    ],
)
def test_what_differs_is_said(expected, found, words):
    assert words in difference([expected], [found])


def test_outputs_that_are_missing_are_said():
    assert difference([ONES, ONES], [ONES]) == "1 outputs, where torch has 2"
