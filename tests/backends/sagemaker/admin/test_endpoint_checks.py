"""Servers that endpoints of an account can have, and what configurations ask for."""

from __future__ import annotations

import pytest

from backends.checks import CheckStatus
from backends.sagemaker.admin.endpoint_checks import asked_for, server_checks
from definitions.schema import BenchmarkDefinition

GIVEN = {
    "name": "served",
    "script": "load.py",
    "objectives": {"max_rate_per_s": "max"},
    "models": {"cnn": {"type": "small_cnn"}},
    "space": {"copies": {"choice": [1, 2]}},
    "sagemaker": {"bucket": "b"},
}


def definition(endpoint=None, **changed):
    return BenchmarkDefinition(**{**GIVEN, "endpoint": {"mode": "multi", **(endpoint or {})}, **changed})


def statuses(made, emulated=False):
    return [one.verdict for one in server_checks(made, "sagemaker", "us-east-1", emulated)]


@pytest.mark.parametrize("server", ["ort", "mms"])
def test_a_server_that_aws_has_no_image_of_is_refused_on_an_account_alone(server):
    (found,) = server_checks(definition({"server": server}), "sagemaker", "us-east-1", False)
    assert (found.verdict, found.name) == (CheckStatus.FAILED, "server")
    assert (
        found.found
        == f"server {server} on an endpoint in us-east-1: AWS has an image of triton that loads these packages, and none of {server}"
    )
    assert "use server triton" in found.advice
    assert statuses(definition({"server": server}), emulated=True) == [CheckStatus.OK]
    assert statuses(definition({"server": server}, sagemaker={"image": "mine:1"})) == [CheckStatus.OK]


def test_without_a_word_of_it_the_server_is_the_services():
    assert statuses(definition()) == [CheckStatus.OK]


def test_servers_of_which_some_can_be_had_are_a_warning():
    choice = {"server": {"choice": ["ort", "triton"]}}
    assert statuses(definition(space=choice)) == [CheckStatus.WARNING]
    assert statuses(definition(space={"server": {"choice": ["ort", "mms"]}})) == [CheckStatus.FAILED] * 2


def test_what_is_made_by_nobody_or_is_no_endpoint_needs_no_server():
    assert statuses(definition({"existing": "theirs", "server": "ort"})) == []
    plain = {key: value for key, value in GIVEN.items() if key != "models"}
    assert statuses(BenchmarkDefinition(**plain)) == []


def test_values_of_listed_trials_count_in_place_of_the_space():
    listed = {"space": {}, "trials": [{"server": "ort"}, {"server": "triton"}, {"server": "ort"}, {"copies": 2}]}
    assert asked_for(definition(**listed), "server") == ["ort", "triton"]
    assert asked_for(definition(), "server") == []
    assert sorted(asked_for(definition(), "copies")) == [1, 2]
