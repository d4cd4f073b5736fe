"""Peak memory: what a canary's peak can hide, and how far the one-sided bound allows for it."""

import numpy as np
import pytest

from benchmarking.forecasting import Canary, Question, forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.memory import in_blocks
from tests.benchmarking.forecasting.canary_tables import metric, table

MIB = 1024**2


def runs(rss, family="", ladder=(0.01, 0.01, 0.03, 0.03, 0.1)):
    return [Canary("job", fraction, number, rss_bytes=rss(fraction), family=family) for number, fraction in enumerate(ladder)]


def bound(rss, family=""):
    found = metric(forecast(table(runs(rss, family)), Question(Billing("us-east-1"))), "rss_bytes")
    return found.hi90 / found.median


def test_a_matrix_of_distances_that_the_imports_hide_lies_below_the_bound():
    # 3 MiB above 165 MiB at 10 %, and 300 MiB in full.
    def rss(fraction):
        return (165 + 2 * fraction + 300 * fraction**2) * MIB

    found = metric(forecast(table(runs(rss, "kernel")), Question(Billing("us-east-1"))), "rss_bytes")
    assert rss(1.0) < found.hi90


@pytest.mark.parametrize("family", ["linear", "epochs", "trees"])
def test_families_without_squares_have_none_in_their_bound(family):
    def flat(fraction):
        return (200 + fraction) * MIB

    def growing(fraction):
        return (200 + 2000 * fraction) * MIB

    assert bound(flat, family) < 0.8 * bound(flat, "kernel")
    assert bound(growing, family) <= bound(growing)


def test_gpu_memory_is_taken_in_blocks_of_two_mebibytes():
    taken = in_blocks(np.array([1.0, 2.0 * MIB, 2.0 * MIB + 1, 9.5 * MIB]))
    assert [*(taken / MIB)] == [2.0, 2.0, 4.0, 10.0]
