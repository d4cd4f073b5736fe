"""The run that a fit expects."""

import dataclasses

import pytest

from benchmarking.forecasting.model.expected_run import expected_run
from benchmarking.forecasting.model.fit import fit_all
from tests.benchmarking.forecasting.canary_tables import canaries


def expected(fraction, at=1.0, **changes):
    runs = [
        dataclasses.replace(one, rows=1e6 * one.fraction, rss_bytes=1e9, cpu_util=80.0, about={"trial": 3}, **changes)
        for one in canaries(noise=0.001, instance_type="ml.m5.large")
    ]
    return expected_run(fit_all({"job": runs}, at)["job"], fraction)


def test_each_phase_is_at_its_median_and_their_sum_is_the_total():
    run = expected(0.3)
    assert run.startup_s == pytest.approx(20, rel=0.01)
    assert run.train_s == pytest.approx(300, rel=0.03)
    assert run.total_s == pytest.approx(run.startup_s + run.train_s)


def test_sizes_go_with_the_fraction_and_what_is_not_fitted_is_absent():
    run = expected(0.3)
    assert (run.fraction, run.rows, run.bytes) == (0.3, pytest.approx(3e5), None)
    assert (run.cpu_util, run.load_s, run.steps, run.about) == (None, None, None, {})
    assert (run.configuration, run.instance_type, run.status) == ("job", "ml.m5.large", "completed")


def test_no_measured_run_is_the_same():
    assert expected(0.01).repeat == 10_000


def test_steps_go_with_the_data_where_the_runs_did():
    with_data = [dataclasses.replace(one, steps=round(1e5 * one.fraction)) for one in canaries(noise=0.001)]
    assert expected_run(fit_all({"job": with_data}, 1.0)["job"], 0.3).steps == pytest.approx(30_000)
    alike = [dataclasses.replace(one, steps=500) for one in canaries(noise=0.001)]
    assert expected_run(fit_all({"job": alike}, 1.0)["job"], 0.3).steps == 500


def test_a_total_alone_is_expected_as_a_total():
    run = expected_run(fit_all({"job": canaries(noise=0.001, timed=False)}, 1.0)["job"], 0.1)
    assert (run.startup_s, run.train_s) == (None, None)
    assert run.total_s == pytest.approx(120, rel=0.02)
