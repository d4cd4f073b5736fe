"""The worst case before anything starts: by forecasts where there are any, never above the limits."""

import dataclasses
import re

import pytest

from benchmarking.forecasting.lookup import ForecastLookup, lookup_from
from benchmarking.planning.worst_case import WorstCase
from benchmarking.report.text import dollars
from definitions.configuration import configuration_id
from definitions.trial import TrialSpec
from launch import dry_run
from tests.benchmarking.forecasting.canary_tables import canaries
from tests.launch.conftest import rows

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
    assert dollars_in(out, r"its limit \(3 times its forecast and 120 s\): USD") == pytest.approx(
        (longest_s + 5 + 3605) / 3600 * 0.05, rel=0.03
    )


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
    code, _, err = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_cost", "0.002", "--num_seeds", "2")
    assert code == 2
    assert "max_cost = $0.0010, its share of $0.002 for 2 experiments, allows no trial" in err
    assert "or ask for fewer experiments" in err


def test_no_more_jobs_count_than_may_run(forecasts, run):
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_num_trials", "1", "--max_cost", "9")
    assert dollars_in(out, "worst case of all: USD") == pytest.approx(3605 / 3600 * 0.05, rel=0.03)


def test_canaries_are_counted_once_however_often_the_definition_repeats(toy, run):
    (toy.folder / "toy.yaml").write_text(DEFINITION + "repeats: 2\n", encoding="utf-8")
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "CANARY", "--dry_run")
    # At most the beginning of each full job, and then each of three rungs twice.
    assert out.splitlines()[2].split()[5] == str(3 * (1 + 3 * 2))
    assert "95 % bound" not in out


def test_without_forecasts_the_limits_count_and_without_limits_there_is_no_worst_case(toy, run):
    (toy.folder / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run")
    assert re.search(r"local\.1cpu +3 +\d+ +no limit +no limit", out)
    assert "worst case of all: no limit (nominal prices); nothing was started" in out
    _, out, _ = run("--benchmark", "toy.yaml", "--method", "GRID", "--dry_run", "--max_cost", "9")
    assert dollars_in(out, "worst case of all: USD") == pytest.approx(3 * 3605 / 3600 * 0.05, rel=0.03)
    assert ForecastLookup().upper_s(TrialSpec(of(1))) is None


WHOLE = WorstCase(longest_s=100.0, usd=0.5, limit_usd=0.8, forecast=0, jobs=4)


@pytest.mark.parametrize(
    ("limit", "spent", "is_over", "usd", "limit_usd"),
    [
        (None, 0.2, False, 0.5, 0.8),
        (0.6, 0.0, False, 0.5, 0.8),
        (0.6, 0.2, False, 0.4, 0.4),
        (0.9, 0.2, False, 0.5, 0.7),
        (0.6, 0.7, False, 0.0, 0.0),
        (0.6, 0.2, True, 0.0, 0.0),
        (None, 0.2, True, 0.0, 0.0),
    ],
)
def test_what_was_spent_is_taken_off_what_may_be_spent(limit, spent, is_over, usd, limit_usd):
    left = dry_run.still_to_spend(WHOLE, limit, spent, is_over=is_over)
    assert (left.usd, left.limit_usd) == (pytest.approx(usd), pytest.approx(limit_usd))


def test_what_of_the_data_cannot_be_read_is_said_before_anything_starts(toy, run):
    data = """\
name: toy
script: toy.py
space: {ingestion: {choice: [local, webdataset]}}
objectives: {loss: min}
datasets: {pictures: {type: path, path: pictures}}
inputs: {train: {}}
"""
    (toy.folder / "toy.yaml").write_text(data, encoding="utf-8")
    code, _, err = run("--benchmark", "toy.yaml", "--dry_run")
    assert code != 0
    assert "there is no such folder" in err
    (toy.folder / "pictures").mkdir()
    (toy.folder / "pictures" / "1.JPG").touch()
    code, out, _ = run("--benchmark", "toy.yaml", "--dry_run")
    assert code == 0
    assert "left out of the space: inputs.train: ingestion 'webdataset' reads shards, not files" in out


@pytest.mark.slow
def test_a_study_that_goes_on_shows_what_it_spent_and_never_more_than_its_cap(toy, run):
    words = ("--method", "RS", "--max_run", "60", "--experiment_tag", "s")
    run("--benchmark", "toy.yaml", *words, "--num_seeds", "2", "--max_cost", "0.008")
    trials = [rows(toy.results / f"s/toy/RS-local-{number}/trials.csv") for number in range(2)]
    before = [sum(float(row["cost_usd"]) for row in one) for one in trials]
    code, out, _ = run("--resume", "s", "--num_seeds", "4", "--max_cost", "0.016", "--dry_run")
    assert code == 0
    # Two are over; each of the new ones has four jobs of a minute and ten seconds at most, which is below its share of 0.004.
    assert re.search(
        r"worst case of all: \$0\.0072 \(nominal prices\), beside \$0\.0000\d+ that were spent before; nothing was started", out
    )
    assert [line.split()[7:] for line in out.splitlines() if " RS  " in line][:2] == [["over", "$0.00", dollars(usd)] for usd in before]
    assert 0 < sum(before) < 0.001


SERVED = """\
name: served
script: load.py
models: {net: {type: small_cnn}}
endpoint: {mode: multi, deploy_s: 1200}
space: {platform: {choice: [onnx, trt]}, instance_type: {choice: [ml.g4dn.xlarge]}}
objectives: {max_rate_per_s: max}
budget: {max_run: 600}
n_workers: 1
"""


@pytest.mark.slow
def test_an_endpoint_costs_its_deployment_load_and_deletion_as_one_and_its_engine_as_training(toy, run, monkeypatch):
    (toy.folder / "load.py").write_text("", encoding="utf-8")
    (toy.folder / "served.yaml").write_text(SERVED, encoding="utf-8")
    words = ("--benchmark", "served.yaml", "--method", "GRID", "--backend", "sagemaker", "--emulate", "--dry_run")
    code, out, err = run(*words)
    assert code == 0, err
    jobs_s = 2 * (1200 + 600 + 120 + 300)
    assert dollars_in(out, "worst case of all: USD") == pytest.approx((jobs_s / 3600 + 1) * 0.7364, rel=0.01)
    assert "TensorRT engines are made before, by 1 training job on ml.g4dn.xlarge: of what is shown up to 60 min 0 s and $0.74;" in out
    assert "travel" not in out
    _, out, _ = run(*words, "--max_cost", "1.5")
    assert "worst case of all: $1.50" in out
