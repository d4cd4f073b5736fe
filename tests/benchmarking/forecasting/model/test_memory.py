"""Peak memory: what a canary's peak can hide, and how far the one-sided bound allows for it."""

import math

import numpy as np
import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.memory import in_blocks, peak_line
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


def test_the_line_goes_on_and_its_spread_is_that_of_what_must_still_grow():
    canaries = [Canary("job", f, n, rss_bytes=(100 + 1000 * f) * MIB) for n, f in enumerate((0.01, 0.01, 0.03, 0.1))]
    line = peak_line(canaries, 1.0)
    assert line is not None
    assert line.slope == pytest.approx(1000 * MIB)
    drawn = line.draws(20_000, np.random.default_rng(0)) / MIB
    assert np.median(drawn) == pytest.approx(1100, rel=0.01)
    sd = 0.04 * 1100 + 0.35 * math.sqrt(math.log(10)) * 900
    assert np.quantile(drawn, 0.95) == pytest.approx(1100 + 1.645 * sd, rel=0.02)
    # Never below what was measured, but for the noise.
    assert drawn.min() == pytest.approx(0.96 * 200)


def test_what_has_only_just_come_out_from_under_the_imports_goes_on_as_its_last_piece():
    line = peak_line(runs(lambda f: max(165.0, 100 + 1000 * f) * MIB), 1.0)
    assert line is not None
    assert line.slope == pytest.approx((200 - 165) / 0.07 * MIB)


def test_a_peak_at_one_size_may_grow_with_the_data_or_not_at_all():
    line = peak_line(runs(lambda f: 500 * MIB, ladder=(0.1, 0.1)), 1.0)
    assert line is not None
    assert line.slope is None
    drawn = line.draws(5_000, np.random.default_rng(0)) / MIB
    assert np.quantile(drawn, 0.05) < 700
    assert np.quantile(drawn, 0.95) > 4500


def test_a_peak_of_the_full_job_is_its_own():
    line = peak_line(runs(lambda f: 500 * MIB * (1 + f), ladder=(0.1, 1.0)), 1.0)
    assert line is not None
    assert np.quantile(line.draws(5_000, np.random.default_rng(0)), 0.95) / MIB == pytest.approx(1000 * (1 + 1.645 * 0.04), rel=0.01)
    assert peak_line([Canary("job", 0.1, total_s=1.0)], 1.0) is None


def test_gpu_memory_is_taken_in_blocks_of_two_mebibytes():
    taken = in_blocks(np.array([1.0, 2.0 * MIB, 2.0 * MIB + 1, 9.5 * MIB]))
    assert [*(taken / MIB)] == [2.0, 2.0, 4.0, 10.0]
