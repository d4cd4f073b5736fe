"""The loop, the race, the forecasts and the dry run agree on prices: of a region other than us-east-1, and of a back-end's own block."""

import csv

import pytest

from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.experiment import run_experiment
from benchmarking.forecasting.lookup import latest_forecasts
from benchmarking.forecasting.model.billing import tables
from benchmarking.surroundings import Surroundings
from definitions.errors import UserError
from definitions.resolve import resolve_python
from definitions.schema import BenchmarkDefinition
from launch.dry_run import describe
from launch.outcome import as_text
from launch.verbs.forecast import main

pytestmark = pytest.mark.slow

PRICES = """\
instance_type,region,usd_per_hour,date,source
ml.m5.xlarge,us-east-1,4,2030-01-01,test
ml.c5.xlarge,us-east-1,0.5,2030-01-01,test
ml.m5.xlarge,eu-north-1,0.25,2030-01-01,test
ml.c5.xlarge,eu-north-1,2,2030-01-01,test
"""


class Table:
    """The same 20 s of start-up and 1000 s of work on each instance type, so that the price alone decides."""

    def run(self, configuration, level, repeat):
        duration_s = 20 + 1000 * level * (1 + 0.01 * (repeat % 2))
        return Run([(duration_s, {"rows": 1e6 * level})], duration_s, None)


class Northern(SimulatedBackend):
    region = "eu-north-1"

    @classmethod
    def create(cls, context):
        return cls(Table(), seed=context.seed)


@pytest.fixture
def spec(tmp_path, monkeypatch):
    (tmp_path / "prices.csv").write_text(PRICES)
    (tmp_path / "t.py").write_text("")
    monkeypatch.setenv("OUTRIDER_PRICES", str(tmp_path / "prices.csv"))
    tables.cache_clear()
    definition = BenchmarkDefinition(
        name="north",
        script="t.py",
        source_dir=str(tmp_path),
        space={"instance_type": {"choice": ["ml.m5.xlarge", "ml.c5.xlarge"]}},
        objectives={"cost_usd": "min"},
        fidelity={"kind": "per_job", "argument": "fraction", "ladder": [0.01, 0.03, 0.1]},
        sagemaker={"image": "my/image:1", "region": "eu-north-1"},
    )
    yield ExperimentSpec(
        resolve_python(definition, "sagemaker"),
        "RACE",
        0,
        "north",
        tmp_path / "results",
        {"stretch_s": 0},
        0,
        hears_levels=False,
        repeats=1,
    )
    tables.cache_clear()


def trials_cost(result, usd):
    for trial in result.state.trials.values():
        assert trial.cost_usd == pytest.approx(trial.duration_s / 3600 * usd[trial.configuration["instance_type"]])


def forecast_medians(spec):
    with (spec.folder / "forecasts.csv").open() as file:
        return {(row["configuration"], row["metric"]): float(row["median"]) for row in csv.DictReader(file) if row["median"]}


def test_all_of_them_agree(spec, tmp_path, monkeypatch):
    surroundings = Surroundings({}, tmp_path / "cache", make_backend=lambda name, context: Northern.create(context))
    result = run_experiment(spec, surroundings)
    usd = {"ml.m5.xlarge": 0.25, "ml.c5.xlarge": 2.0}
    trials_cost(result, usd)
    assert "ml.m5.xlarge" in result.ending.message
    assert "ml.c5.xlarge" not in result.ending.message
    median = forecast_medians(spec)
    for name, price in usd.items():
        seconds, cost = (next(value for (shown, what), value in median.items() if name in shown and what == metric)
                         for metric in ("total_s", "cost_usd"))  # fmt: skip
        assert cost == pytest.approx(seconds / 3600 * price, rel=0.02)
    assert sorted(latest_forecasts(spec.definition, spec.results_dir, "sagemaker", "eu-north-1").prices.values()) == [0.25, 2.0]
    assert "$0.25" in as_text([result])
    monkeypatch.setattr("launch.dry_run.make_backend", lambda name, context: Northern.create(context))
    assert "$0.25" in describe([spec], {})
    assert "$4" not in describe([spec], {})


class Cluster(SimulatedBackend):
    region = "us-east-1"

    @classmethod
    def create(cls, context):
        return cls(Table(), seed=context.seed)


def test_all_of_them_agree_on_prices_that_a_definition_gives(tmp_path, monkeypatch, capsys):
    (tmp_path / "t.py").write_text("")
    asked = {
        "name": "own",
        "script": "t.py",
        "source_dir": str(tmp_path),
        "space": {"instance_type": {"choice": ["ray.1gpu.a10g", "ray.8cpu"]}},
        "objectives": {"cost_usd": "min"},
        "fidelity": {"kind": "per_job", "argument": "fraction", "ladder": [0.01, 0.03, 0.1]},
        # The same by another of its names, as a GPU has a core where nobody says how many.
        "ray": {"usd_per_hour": {"ray.1cpu.1gpu.a10g": 2.0, "ray.8cpu": 0.25}},
    }
    resolved = resolve_python(BenchmarkDefinition(**asked), "ray")
    spec = ExperimentSpec(resolved, "RACE", 0, "own", tmp_path / "results", {"stretch_s": 0}, 0, hears_levels=False, repeats=1)
    monkeypatch.setattr("launch.dry_run.make_backend", lambda name, context: Cluster.create(context))
    assert "ray.1gpu.a10g $2" in describe([spec], {})
    surroundings = Surroundings({}, tmp_path / "cache", make_backend=lambda name, context: Cluster.create(context))
    result = run_experiment(spec, surroundings)
    usd = {"ray.1gpu.a10g": 2.0, "ray.8cpu": 0.25}
    trials_cost(result, usd)
    assert "ray.8cpu" in result.ending.message
    median = forecast_medians(spec)
    costs = {name: next(value for (shown, what), value in median.items() if name in shown and what == "cost_usd") for name in usd}
    for (shown, what), seconds in median.items():
        if what == "total_s":
            (name,) = (name for name in usd if name in shown)
            assert costs[name] == pytest.approx(seconds / 3600 * usd[name], rel=0.02)
    assert sorted(latest_forecasts(spec.definition, spec.results_dir, "ray", "us-east-1").prices.values()) == [0.25, 2.0]
    assert main(["own", "--results_dir", str(spec.results_dir), "--format", "csv"]) == 0
    said = [row for row in csv.DictReader(capsys.readouterr().out.splitlines()) if row["metric"] == "cost_usd"]
    assert sorted(float(row["median"]) for row in said) == pytest.approx(sorted(costs.values()), rel=1e-3)


def test_a_price_under_no_name_of_an_instance_type_is_refused(tmp_path):
    asked = {"name": "own", "script": "t.py", "space": {"x": {"uniform": [0, 1]}}, "objectives": {"loss": "min"}}
    with pytest.raises(UserError, match=r"ray\.usd_per_hour\.a10g.* is no instance type of a Ray cluster"):
        resolve_python(BenchmarkDefinition(**asked, ray={"usd_per_hour": {"a10g": 1.0}}), "ray", check_files=False)
