"""The built-in experiments on endpoints: what they serve, and that they fit two cores and two minutes."""

from __future__ import annotations

import pytest

from definitions.registry import Registry
from definitions.resolve import resolve

NAMES = ("endpoint", "mme_vision", "mme_text")


def definition(name, backend="local"):
    return resolve(Registry().find(name), backend).definition


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_each_serves_its_models_under_a_search(name, backend):
    made = definition(name, backend)
    assert made.endpoint is not None
    assert made.objectives == {"max_rate_per_s": "max", "usd_per_million": "min"}
    assert (made.fidelity.reported_as, made.fidelity.full) == ("rung", 4)
    valid = [one for one in made.search_space.grid(2) if all(rule.holds(one) for rule in made.rules)]
    assert len(valid) <= (made.budget.max_num_trials or 0)


@pytest.mark.parametrize("name", NAMES)
def test_on_this_machine_a_core_is_left_for_the_load_and_all_ends_within_its_limit(name):
    made = definition(name)
    assert made.search_space.domains["instance_type"].grid(0) == ("local.1cpu",)
    assert made.endpoint.client_cores == 1
    trials = [one for one in made.search_space.grid(2) if all(rule.holds(one) for rule in made.rules)]
    # Beside the search there are seconds in which the endpoint comes up, and the last probe may begin just before the search is over.
    longest_s = made.arguments["search_s"] + made.arguments["probe_s"] + 5
    assert len(trials) * longest_s <= 130


@pytest.mark.parametrize("name", ["mme_vision", "mme_text"])
def test_elsewhere_the_notebooks_instance_and_sizes_are_used(name):
    made = definition(name, "sagemaker")
    assert made.search_space.domains["instance_type"].grid(0) == ("ml.g4dn.2xlarge",)
    assert {"pt", "trt"} <= {*made.search_space.domains["platform"].grid(0)}
    assert made.endpoint.mode == "multi"
    (model,) = made.models.values()
    assert (model.max_batch_size, model.preferred_batch_sizes) == (32, (16,))


def test_every_key_of_the_load_is_one_that_its_script_takes():
    from benchmarking.workloads.load.options import parse_options

    for name in NAMES:
        for backend in ("local", "sagemaker"):
            made = definition(name, backend)
            words = [word for key, value in made.arguments.items() for word in (f"--{key}", str(value))]
            assert parse_options(words).percentile == made.arguments["percentile"]
