"""The block `remote:`: what is refused, what several benchmarks say together, and that no hash knows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from definitions.errors import UserError
from definitions.registry import Registry
from definitions.remote import RemoteOptions, joined_remote, remote_settings
from definitions.resolve import definition_hash, resolve
from definitions.yaml_source import parse_yaml

TEXT = """
name: one
script: s.py
space: {a: {uniform: [0, 1]}}
objectives: {loss: min}
"""


def test_requirements_add_up_and_what_one_leaves_out_the_other_says():
    found = joined_remote(
        {"a": RemoteOptions(instance_type="ml.m5.xlarge", requirements=("p", "q")), "b": RemoteOptions(spot=True, requirements=("q", "r"))}
    )
    assert (found.instance_type, found.spot, found.requirements) == ("ml.m5.xlarge", True, ("p", "q", "r"))


def test_two_benchmarks_that_want_other_controllers_are_refused_by_name():
    with pytest.raises(UserError, match=r"remote.max_run: a says 60.0, b says 90.0(.|\n)*--remote_max_run"):
        joined_remote({"a": RemoteOptions(max_run=60.0), "b": RemoteOptions(max_run=90.0)})


def test_options_come_back_from_their_settings():
    options = RemoteOptions(subnets=("s-1", "s-2"), security_groups=("g",), tags={"a.b": "x: y", "team": "1"}, spot=False, restarts=0)
    source = parse_yaml(TEXT, Path("one.yaml"))
    assert resolve(source, "local", remote_settings(options), check_files=False).definition.remote == options


def test_it_is_in_no_hash():
    plain, other = (
        resolve(parse_yaml(TEXT + more, Path("one.yaml")), "sagemaker", check_files=False).definition
        for more in ("sagemaker: {image: i}\n", "sagemaker: {image: i}\nremote: {spot: true, instance_type: ml.c5.xlarge}\n")
    )
    assert plain.remote != other.remote
    assert definition_hash(plain) == definition_hash(other)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("{spto: true}", "remote.spto: unknown key; did you mean .spot."),
        ("{volume_gb: 0}", "volume_gb"),
        ("{controllers: 0}", "controllers"),
        ("{max_run: soon}", "max_run"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(block, said):
    with pytest.raises(UserError, match=said) as raised:
        resolve(parse_yaml(f"{TEXT}remote: {block}\n", Path("one.yaml")), "local", check_files=False)
    assert "one.yaml:6: " in str(raised.value)


def test_a_built_in_benchmark_takes_it_as_a_setting():
    resolved = resolve(Registry().find("digits"), "sagemaker", ["remote.instance_type=ml.t3.medium"])
    assert resolved.definition.remote.instance_type == "ml.t3.medium"
    assert resolved.origins["remote.instance_type"] == "--set"
