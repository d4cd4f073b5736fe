"""Which arguments are searched, and where."""

from __future__ import annotations

import pytest

from backends.scripts.interface import ScriptArgument
from benchmarking.scripts.ranges import Role, powers_of_two, proposal_for
from definitions.space import parse_domain


def argument(name, kind, default, **more):
    return ScriptArgument(name, (f"--{name}",), kind, default, **more)


@pytest.mark.parametrize(
    ("name", "kind", "default", "domain"),
    [
        ("lr", "number", 1e-3, {"loguniform": [3e-5, 1e-2]}),
        ("optim.lr", "number", 0.1, {"loguniform": [3e-3, 1.0]}),
        ("learning_rate", "number", None, {"loguniform": [1e-5, 1e-1]}),
        ("batch_size", "whole", 32, {"logordinal": [8, 16, 32, 64, 128]}),
        ("batch_size", "whole", 100, {"logordinal": [32, 64, 100, 256, 512]}),
        ("dropout", "number", 0.1, {"uniform": [0.0, 0.6]}),
        ("dropout", "number", 0.8, {"uniform": [0.0, 0.95]}),
        ("momentum", "number", 0.9, {"reverseloguniform": [0.5, 0.99]}),
        ("weight_decay", "number", 0.0, {"loguniform": [1e-6, 1e-2]}),
        ("weight_decay", "number", 0.01, {"loguniform": [3e-4, 0.3]}),
        ("hidden_size", "whole", 128, {"logordinal": [32, 64, 128, 256, 512]}),
        ("hidden_size", "whole", 100, {"lograndint": [25, 400]}),
        ("num_layers", "whole", 2, {"randint": [1, 4]}),
        ("subsample", "number", 0.8, {"uniform": [0.5, 1.0]}),
        ("alpha", "number", 3.0, {"loguniform": [1.0, 9.0]}),
    ],
)
def test_ranges_lie_around_the_script_s_own_value(name, kind, default, domain):
    found = proposal_for(argument(name, kind, default))
    assert (found.role, found.domain) == (Role.SEARCHED, domain)
    assert default in (None, 0.0) or parse_domain(found.domain, name).contains(default)


@pytest.mark.parametrize(
    "name",
    [
        "data_dir",
        "num_workers",
        "log_interval",
        "eval_batch_size",
        "gpu",
        "checkpoint_every",
        "output",
        "in_channels",
        "num_classes",
        "num_labels",
        "port",
    ],
)
def test_places_machines_and_what_is_shown_are_left_alone(name):
    assert proposal_for(argument(name, "whole", 4)).role is Role.LEFT


@pytest.mark.parametrize(
    ("name", "role"), [("seed", Role.SEED), ("epochs", Role.LEVEL), ("trainer.max_epochs", Role.LEVEL), ("max_steps", Role.LEVEL)]
)
def test_seeds_and_levels_are_no_dimensions(name, role):
    assert proposal_for(argument(name, "whole", 10)).role is role


def test_a_number_of_steps_that_means_none_is_no_level():
    assert proposal_for(argument("max_steps", "whole", -1)).role is Role.LEFT


def test_choices_are_choices_unless_they_name_a_machine():
    assert proposal_for(argument("optimizer", "text", "sgd", choices=("sgd", "adam"))).domain == {"choice": ["sgd", "adam"]}
    assert proposal_for(argument("device", "text", "cpu", choices=("cpu", "cuda"))).role is Role.LEFT


def test_switches_that_change_a_model_are_searched_and_others_not():
    assert proposal_for(argument("nesterov", "switch", False)).domain == {"choice": [True, False]}
    assert proposal_for(argument("save_model", "switch", False)).role is Role.LEFT


def test_powers_of_two_begin_with_one():
    assert powers_of_two(1) == [1, 2, 4]
    assert powers_of_two(48) == [16, 32, 48, 128, 256]
