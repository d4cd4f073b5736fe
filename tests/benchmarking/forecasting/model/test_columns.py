"""Sizes of canaries as shares of the full job, and what their steps and start-up say."""

import dataclasses

import numpy as np
import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import column_of, sizes, sizes_in_bytes, startup_share, steps_follow, value_of


def runs(*fractions, **known):
    return [Canary("job", fraction, **{name: values(fraction) for name, values in known.items()}) for fraction in fractions]


def test_rows_scale_the_full_job_by_the_nominal_fractions():
    # 100 and 500 rows at 1 and 3 %: 600 rows are 4 % of the job, which has 15,000.
    uneven = [Canary("job", 0.01, rows=100.0), Canary("job", 0.03, rows=500.0)]
    assert sizes(uneven, 1.0).tolist() == pytest.approx([100 / 15_000, 500 / 15_000])
    assert sizes(uneven, 0.1).tolist() == pytest.approx([100 / 1_500, 500 / 1_500])


def test_bytes_count_before_rows_only_where_bytes_are_asked_for():
    both = [Canary("job", 0.01, rows=100.0, bytes=1e6), Canary("job", 0.1, rows=1000.0, bytes=2e7)]
    assert sizes(both, 1.0).tolist() == pytest.approx([0.01, 0.1])
    assert sizes_in_bytes(both, 1.0)[1] / sizes_in_bytes(both, 1.0)[0] == pytest.approx(20)


def test_a_size_that_hardly_changes_with_the_fraction_says_nothing():
    whole_files = [Canary("job", 0.01, bytes=1.0e9), Canary("job", 0.1, bytes=1.1e9)]
    assert sizes_in_bytes(whole_files, 1.0).tolist() == pytest.approx([0.01, 0.1])
    assert sizes([whole_files[0], dataclasses.replace(whole_files[1], bytes=None)], 1.0).tolist() == pytest.approx([0.01, 0.1])


def test_steps_follow_the_data_up_to_rounding():
    fractions = np.array([0.01, 0.03, 0.1])
    assert steps_follow(runs(*fractions, steps=lambda f: float(round(1000 * f))), fractions)
    assert not steps_follow(runs(*fractions, steps=lambda f: 10.0), fractions)
    assert not steps_follow(runs(*fractions, steps=lambda f: 1000 * f**1.3 * 2), fractions)
    assert not steps_follow(runs(*fractions, steps=lambda f: float(round(100 * f))), fractions)


def test_a_column_is_whole_or_not_there():
    assert column_of([Canary("job", 0.01, train_s=1.0), Canary("job", 0.1)], "train_s") is None
    assert column_of([], "train_s") is None
    assert value_of(Canary("job", 0.01, steps=20, step_s=0.5), "train_s") == 10.0
    assert value_of(Canary("job", 0.01, about={"train_cpu_s": 3}), "train_cpu_s") == 3.0


def test_the_share_of_start_up_is_a_geometric_mean():
    timed = [Canary("job", 0.01, startup_s=8.0, total_s=10.0), Canary("job", 0.1, startup_s=8.0, total_s=40.0)]
    assert startup_share(timed) == 0.4
    assert startup_share([Canary("job", 0.01, total_s=10.0)]) is None


def test_what_is_nothing_is_no_size():
    assert sizes([Canary("job", 0.01, rows=0.0), Canary("job", 0.1, rows=100.0)], 1.0).tolist() == pytest.approx([0.01, 0.1])
