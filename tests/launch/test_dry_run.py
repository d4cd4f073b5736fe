"""The worst case before anything starts: by forecasts where there are any, never above the limits."""

import dataclasses
import re

import pytest

from benchmarking.forecasting.lookup import ForecastLookup, lookup_from
from definitions.configuration import configuration_id
from definitions.trial import TrialSpec
from launch import dry_run
from tests.benchmarking.forecasting.canary_tables import canaries

GIB = 1024**3

DEFINITION = """\
name: toy
script: toy.py
space: {x: {choice: [1, 2, 3]}, instance_type: {choice: [local.1cpu]}}
objectives: {loss: min}
fidelity: {kind: per_job, argument: fraction}
"""


def of(x):
    return {"x": x, "instance_type": "local.1cpu"}


@pytest.fixture
def forecasts(toy, monkeypatch):
    """Forecasts of x = 1 (about 1,020 s) and of x = 2, which does not fit; none of x = 3."""
    (toy.folder / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    one = canaries("x=1", instance_type="local.1cpu", about={"configuration_id": configuration_id(of(1))})
    two = canaries("x=2", instance_type="local.1cpu", about={"configuration_id": configuration_id(of(2))})
    dead = dataclasses.replace(two[-1], status="out_of_memory", total_s=None)
    forecasts = lookup_from([*one, *two[:-1], dead], "results/t/toy/CANARY-local-0", region="us-east-1")
    monkeypatch.setattr(dry_run, "latest_forecasts", lambda definition, results_dir, backend, region: forecasts)
    return forecasts


def dollars_in(text, pattern):
    return float(re.search(pattern.replace("USD", r"\$([0-9.]+)"), text)[1])


def test_a_forecasts_upper_bound_is_the_worst_case_and_an_hour_that_of_the_others(forecasts, run):
    code, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_cost", "9")
    assert code == 0
    upper_s = forecasts.upper_s(TrialSpec(of(1)))
    assert upper_s == forecasts.of(of(1), "total_s").hi90
    assert dollars_in(out, "worst case of all: USD") == pytest.approx((upper_s + 3605) / 3600 * 0.05, rel=0.03)
    assert "of it, 1 of 2 jobs at the 95 % bound of their forecast" in out
    longest_s = forecasts.longest_s(TrialSpec(of(1)))
    assert dollars_in(out, r"its limit \(three times its forecast\): USD") == pytest.approx((longest_s + 5 + 3605) / 3600 * 0.05, rel=0.03)


def test_what_does_not_fit_is_not_counted_and_said(forecasts, run):
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run")
    assert "left out, as by their forecast they do not fit: 1" in out
    assert out.splitlines()[2].split()[5] == "2"


@pytest.mark.parametrize(("max_run", "each_s"), [(100, 105.0), (7200, None)])
def test_the_smaller_of_an_explicit_max_run_and_the_bound_counts_and_the_limit_is_shown_beside_it(forecasts, run, max_run, each_s):
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_run", str(max_run))
    used_s = each_s or forecasts.upper_s(TrialSpec(of(1)))
    assert dollars_in(out, "worst case of all: USD") == pytest.approx((used_s + max_run + 5) / 3600 * 0.05, rel=0.03)
    assert dollars_in(out, r"its limit \(max_run\): USD") == pytest.approx(2 * (max_run + 5) / 3600 * 0.05, rel=0.03)


def test_a_cap_counts_and_one_that_allows_no_job_is_told_by_the_cheapest(forecasts, run):
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_cost", "0.06")
    assert "worst case of all: $0.06" in out
    code, _, err = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_cost", "0.001")
    assert code == 2
    assert "allows no trial" in err


def test_no_more_jobs_count_than_may_run(forecasts, run):
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_num_trials", "1", "--max_cost", "9")
    assert dollars_in(out, "worst case of all: USD") == pytest.approx(3605 / 3600 * 0.05, rel=0.03)


def test_canaries_are_counted_once_however_often_the_definition_repeats(toy, run):
    (toy.folder / "toy.yaml").write_text(DEFINITION + "repeats: 2\n", encoding="utf-8")
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "CANARY", "--dry_run")
    assert out.splitlines()[2].split()[5] == str(3 * 3 * 2)
    assert "95 % bound" not in out


def test_without_forecasts_the_limits_count_and_without_limits_there_is_no_worst_case(toy, run):
    (toy.folder / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run")
    assert re.search(r"local\.1cpu +3 +\d+ +no limit +no limit", out)
    assert "worst case of all: no limit (nominal prices); nothing was started" in out
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_cost", "9")
    assert dollars_in(out, "worst case of all: USD") == pytest.approx(3 * 3605 / 3600 * 0.05, rel=0.03)
    assert ForecastLookup().upper_s(TrialSpec(of(1))) is None
