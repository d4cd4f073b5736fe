"""Searchers and what uses them: repeatable by seed, better than random draws, never one configuration twice, the user's points first."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest

from benchmarking.methods.searchers.base import Observation, SearcherSpec
from benchmarking.methods.searchers.registry import make_searcher
from definitions.configuration import configuration_id
from definitions.schema import Budget
from definitions.space import SearchSpace
from definitions.valid import parse_rule
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import SPACE, benchmark, experiment, kill_and_resume

KINDS = {
    "REA": {"population_size": 6, "sample_size": 3},
    "TPE": {"top_n_percent": 15, "min_bandwidth": 1e-3, "num_candidates": 16, "bandwidth_factor": 3.0, "random_fraction": 0.0},
    "BORE": {"gamma": 0.25, "feval_acq": 40, "random_prob": 0.0},
    "CQR": {"quantiles": 5, "candidates": 200},
    "GP": {"candidates": 100, "max_points": 100},
}


def searched(kind, count=40, seed=0, calls=(40, 41, 42), rules=()):
    spec = SearcherSpec(kind, SearchSpace.parse(SPACE), seed, KINDS[kind], rules)
    searcher = make_searcher(spec)
    source = random.Random(1)
    for trial in range(count):
        point = spec.space.sample(source)
        searcher.observe(Observation(trial, point, abs(point["width"] - 40) + (point["act"] != "relu")))
    return [searcher.propose(number, [])[0] for number in calls]


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_whatever_the_global_generators_are_at(kind):
    np.random.seed(1)
    random.seed(1)
    first = searched(kind)
    np.random.seed(2)
    random.seed(2)
    before = (random.getstate(), np.random.get_state()[1].tolist())
    assert searched(kind) == first
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    assert searched(kind, seed=1) != first


@pytest.mark.parametrize("kind", KINDS)
def test_calls_that_were_not_made_change_nothing(kind):
    assert searched(kind, calls=(44,))[0] == searched(kind, calls=(40, 42, 44))[2]


@pytest.mark.parametrize("kind", KINDS)
def test_proposals_are_better_than_random_ones_and_keep_the_rules(kind):
    found = searched(kind, calls=[number for number in range(40, 52) if number % 8 != 7], rules=(parse_rule("width != 40"),))
    assert all(point["width"] != 40 for point in found)
    assert statistics.median(abs(point["width"] - 40) for point in found) < 12  # of random ones: 16


def test_syne_tunes_own_searchers_are_not_decided_by_their_seed():
    from syne_tune.config_space import uniform
    from syne_tune.optimizer.schedulers.searchers.kde import KernelDensityEstimator

    def first(seed):
        np.random.seed(seed)
        return KernelDensityEstimator({"x": uniform(0, 1)}, random_seed=1).suggest()

    assert first(1) != first(2)


def test_syne_tunes_quantile_regression_imports_a_package_that_it_does_not_declare():
    from importlib.metadata import requires

    declared = [name for name in requires("syne-tune") if "extra" not in name]
    assert not any(name.startswith("huggingface") for name in declared)


CASES = {
    "BO": {"init_random": 3, "candidates": 20},
    "MOBSTER": {"init_random": 3, "candidates": 20},
    "CQR": {"init_random": 4, "candidates": 50},
    "REA": {"population_size": 4, "sample_size": 2},
    "TPE": {"num_candidates": 8},
    "BORE": {"init_random": 4, "feval_acq": 20},
    "ASHA_BORE": {"init_random": 4, "feval_acq": 20},
    "ASHA_TPE": {"num_candidates": 8, "type": "promotion"},
}


@pytest.mark.parametrize("method", CASES)
def test_resume_after_a_kill_at_many_records_ends_in_the_same_journal(method, tmp_path):
    made = benchmark(budget=Budget(max_num_trials=13 if "TPE" in method else 8))

    def run(journal, folder):
        return experiment(made, journal, method, arguments=CASES[method], checkpoints=folder)

    whole = kill_and_resume(run, tmp_path, every=41)
    again = MemoryJournal()
    run(again, tmp_path / "again").run()
    assert again.rows == whole.rows
    other = MemoryJournal()
    experiment(made, other, method, arguments=CASES[method], seed=1).run()
    assert other.rows != whole.rows


@pytest.mark.slow
@pytest.mark.parametrize("method", ["BO", "MOBSTER"])
def test_gaussian_processes_find_what_random_search_does_not(method):
    best = {}
    for name in (method, "RS"):
        run = experiment(benchmark(budget=Budget(max_num_trials=30)), MemoryJournal(), name, seed=1)
        run.run()
        best[name] = min(trial.best["loss"] for trial in run.state.trials.values())
    assert best[method] < 0.235  # the optimum is 0.222
    assert best["RS"] > 0.3


@pytest.mark.parametrize("method", ["BO", "ASHA", "REA"])
def test_a_finite_space_is_exhausted_without_repetition(method):
    space = {"lr": 0.01, "width": {"randint": [1, 4]}, "act": {"choice": ["relu", "tanh"]}}
    run = experiment(benchmark(space=space, budget=Budget()), MemoryJournal(), method)
    assert run.run().reason == "exhausted"
    assert len({configuration_id(one.configuration) for one in run.state.evaluations.values()}) == len(run.state.evaluations) == 8


@pytest.mark.parametrize("method", ["RS", "ASHA", "BO"])
def test_when_rules_leave_nothing_the_rule_is_named(method):
    ending = experiment(benchmark(), MemoryJournal(), method, refuse=lambda trial: "ruled out by valid: lr > 9").run()
    assert (ending.reason, ending.exit_code) == ("nothing_valid", 2)
    assert "lr > 9" in ending.message


def test_the_surroundings_of_the_best_are_searched_in_narrowing_rounds(monkeypatch):
    widths = []

    class Source(random.Random):
        def gauss(self, mu=0.0, sigma=1.0):
            if sigma not in widths[-1:]:
                widths.append(sigma)
            return super().gauss(mu, sigma)

    monkeypatch.setattr(SearcherSpec, "source", lambda self, number: Source(number))
    # First around the best observed, as wide as in the first of four rounds around the best candidates.
    searched("GP", calls=(40,))
    assert widths == pytest.approx([0.1, 0.04, 0.016, 0.0064])
