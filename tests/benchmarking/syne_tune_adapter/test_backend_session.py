"""A session's jobs are made and priced as the back-end at work says."""

from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.syne_tune_adapter.backend_session import BackendSession
from definitions.schema import BenchmarkDefinition

PRICES = """\
instance_type,region,usd_per_hour,date,source
ml.m5.large,us-east-1,4,2030-01-01,test
ml.m5.large,eu-north-1,0.25,2030-01-01,test
"""


class Table:
    def run(self, configuration, level, repeat):
        return Run([(1.0, {"loss": 1.0})], 1.0, None)


class Northern(SimulatedBackend):
    region = "eu-north-1"


def opened(tmp_path, **environ):
    space = {"x": {"choice": [0, 1]}}
    definition = BenchmarkDefinition(name="north", script="t.py", space=space, objectives={"loss": "min"})
    return BackendSession(
        definition,
        "simulated",
        lambda context: Northern(Table(), seed=context.seed),
        folder=tmp_path,
        environ={"OUTRIDER_CACHE": str(tmp_path), **environ},
        seed=0,
        openings=0,
    )


def test_prices_are_those_of_the_back_ends_region(tmp_path, monkeypatch):
    (tmp_path / "prices.csv").write_text(PRICES)
    monkeypatch.setenv("OUTRIDER_PRICES", str(tmp_path / "prices.csv"))
    session = opened(tmp_path)
    assert session.price({"x": 0, "st_instance_type": "ml.m5.large", "st_instance_count": 2}) == (0.25, 2)
    session.close()


def test_jobs_carry_nothing_of_this_process_s_environment(tmp_path):
    """A cloud's job would show it to whoever may describe the job, credentials included."""
    session = opened(tmp_path, AWS_SECRET_ACCESS_KEY="secret", LANG="C")
    assert session.spec(0, 1, {"x": 0}, None).environment == {"OUTRIDER_REPEAT": "0", "OUTRIDER_SEED": "0"}
    session.close()
