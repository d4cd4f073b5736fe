"""Controllers whose own instance runs the trials get the benchmark's image and instance type, unless somebody says others."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarking.archive.identity import ExperimentSpec
from definitions.errors import UserError
from definitions.remote import RemoteOptions
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml
from launch.launching.trials_inside import with_benchmarks_own
from launch.request import RunRequest

TEXT = """
name: {name}
script: s.py
space: {{a: {{uniform: [0, 1]}}}}
objectives: {{loss: min}}
sagemaker: {{{block}}}
"""
GPU = "framework: pytorch, framework_version: '2.9', arguments: {instance_type: ml.g5.xlarge}"


def found(tmp_path, asked=None, backend="local", **blocks):
    sources = [parse_yaml(TEXT.format(name=name, block=block), Path("x.yaml")) for name, block in blocks.items()]
    specs = [
        ExperimentSpec(resolve(one, backend, check_files=False), "RS", 0, "t", tmp_path, hears_levels=False, repeats=1) for one in sources
    ]
    return with_benchmarks_own(asked or RemoteOptions(), RunRequest(tuple(sources)), specs)


def test_a_benchmark_that_needs_a_gpu_gets_one_and_its_framework(tmp_path):
    own = found(tmp_path, one=GPU)
    assert (own.instance_type, own.framework, own.framework_version) == ("ml.g5.xlarge", "pytorch", "2.9")


def test_what_is_asked_for_wins(tmp_path):
    own = found(tmp_path, RemoteOptions(instance_type="ml.m5.xlarge", image="mine"), one=GPU)
    assert (own.instance_type, own.image, own.framework) == ("ml.m5.xlarge", "mine", None)


def test_trials_that_are_jobs_of_their_own_say_nothing_of_their_controller(tmp_path):
    assert found(tmp_path, backend="sagemaker", one=GPU) == RemoteOptions()


def test_two_that_want_different_ones_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"remote.instance_type: one says ml.g5.xlarge, two says ml.m5.large"):
        found(tmp_path, one=GPU, two="image: x, arguments: {instance_type: ml.m5.large}")
