"""Whole experiments on warm pools: money booked once however often the controller dies, pools used, pools gone, and words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backends.emulator import Settings
from backends.emulator.core.settings import TRAINING_QUOTA, WARM_POOL_QUOTA, Delays
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.report.warm import warm_text
from definitions.schema import BenchmarkDefinition
from tests.backends.sagemaker.cloud_bench import CloudBench
from tests.benchmarking.experiments import Killed, MemoryJournal, tuner

pytestmark = pytest.mark.slow

TYPES = ("ml.m5.large", "ml.m5.xlarge")
PREFIX = "bench"


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., CloudBench]]:
    open_: list[CloudBench] = []

    def make(pools: int) -> CloudBench:
        quotas = {WARM_POOL_QUOTA.format("*"): pools, TRAINING_QUOTA.format("*"): 50}
        bench = CloudBench(tmp_path, Settings(quotas=quotas, delays=Delays(10.0, 0.5)), backend="warm_pool").__enter__()
        open_.append(bench)
        for name, value in bench.emulator.environment.items():
            monkeypatch.setenv(name, value)
        return bench

    yield make
    for bench in open_:
        bench.__exit__(None, None, None)


class Experiment:
    """Trials of one list of configurations, by one controller after another."""

    def __init__(self, bench, types, n_workers=2):
        self.bench, self.n_workers = bench, n_workers
        given = {
            "name": "bench",
            "script": "run.py",
            "arguments_style": "two_words",
            "source_dir": str(bench.source),
            "objectives": {"loss": "min"},
            "trials": [{"kind": "reports3", "n": n, "instance_type": name} for n, name in enumerate(types)],
            "budget": {"max_run": 300, "max_cost": 100.0},
            "warm_pool": {"image": "image:1", "bucket": "bench"},
        }
        self.definition = BenchmarkDefinition.model_validate(given)
        self.rows: list = []

    def run(self, limit=None):
        """Run until the end, or until the controller dies before it has appended so many records; return the loop, None then."""
        backend = self.bench.backend(prefix=PREFIX)
        journal = MemoryJournal(self.rows, limit)
        jobs = JobBuilder(self.definition, "warm_pool", PREFIX, region="us-east-1")
        one = tuner(self.definition, journal, backend=backend, jobs=jobs, method="LISTED", n_workers=self.n_workers)
        try:
            one.run()
        except Killed:
            return None
        finally:
            self.rows = journal.rows
        assert backend.close() == []
        return one

    def described(self):
        client = self.bench.emulator.client("sagemaker")
        pages = client.get_paginator("list_training_jobs").paginate(NameContains=PREFIX)
        names = [one["TrainingJobName"] for page in pages for one in page["TrainingJobSummaries"]]
        return [client.describe_training_job(TrainingJobName=name) for name in names]


def check_books(experiment, state):
    """Assert that what was booked is what the service says."""
    jobs = experiment.described()
    pools = [job["WarmPoolStatus"] for job in jobs]
    assert {pool["Status"] for pool in pools} <= {"Reused", "Terminated"}
    assert state.money.retained_s == sum(pool.get("ResourceRetainedBillableTimeInSeconds", 0) for pool in pools)
    assert state.money.pools == {}
    assert state.money.reserved_usd == pytest.approx(0.0, abs=1e-12)
    assert sum(trial.billable_s for trial in state.trials.values()) == sum(job.get("BillableTimeInSeconds", 0) for job in jobs)
    trials_usd = sum(trial.cost_usd for trial in state.trials.values())
    assert state.money.spent_usd == pytest.approx(trials_usd + state.money.retained_usd)
    assert state.warm.figures().warm == sum("ReusedByJob" in pool for pool in pools)


def test_every_trial_after_the_first_wave_starts_warm_and_the_books_are_the_services(make):
    experiment = Experiment(make(pools=10), TYPES[:1] * 8)
    one = experiment.run()
    check_books(experiment, one.state)
    figures = one.state.warm.figures()
    assert (figures.jobs, figures.hit_rate) == (8, 1.0)
    assert figures.warm >= 6
    assert warm_text(one.state).startswith(f"Warm pools: of {figures.eligible} jobs that came after the first instances were kept")


def test_trials_that_find_warm_instances_go_first(make):
    experiment = Experiment(make(pools=10), (TYPES[0], TYPES[1]) * 3, n_workers=1)
    one = experiment.run()
    started = [trial.configuration["n"] for trial in one.state.trials.values()]
    assert sorted(started) == list(range(6))
    assert started == [0, 2, 4, 1, 3, 5]
    assert one.state.warm.figures().warm == 4
    check_books(experiment, one.state)


def test_without_quota_all_is_evaluated_and_the_summary_says_why_it_was_cold(make):
    experiment = Experiment(make(pools=0), TYPES[:1] * 3)
    one = experiment.run()
    assert [str(trial.status) for trial in one.state.trials.values()] == ["completed"] * 3
    assert warm_text(one.state) == "No warm pools: the quota 'ml.m5.large for training warm pool usage' is 0. Every job started cold."
    assert (one.state.money.retained_s, one.state.money.pools) == (0.0, {})


def test_a_controller_that_dies_again_and_again_books_kept_instances_once(make):
    experiment = Experiment(make(pools=10), TYPES[:1] * 8)
    deaths, one = 0, None
    while one is None:
        one = experiment.run(limit=len(experiment.rows) + 23)
        deaths += one is None
    assert deaths >= 3
    assert len(one.state.trials) == 8
    assert {str(trial.status) for trial in one.state.trials.values()} == {"completed"}
    assert len(experiment.described()) == 8
    check_books(experiment, one.state)
