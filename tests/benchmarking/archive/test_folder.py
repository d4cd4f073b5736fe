"""A tag that ran on an emulator does not go on on a real account, nor the other way round."""

from __future__ import annotations

import json

import pytest

from benchmarking.archive import folder as module
from benchmarking.archive.folder import check_bills, prepare_folder
from benchmarking.methods.registry import experiment_spec
from definitions.errors import UserError
from definitions.resolve import resolve_python
from definitions.schema import BenchmarkDefinition

EMULATED = {"AWS_ENDPOINT_URL": "http://127.0.0.1:5000"}


@pytest.fixture
def spec(tmp_path, monkeypatch):
    # What it ran on is another test's; it asks git.
    monkeypatch.setattr(module, "describe_environment", lambda folder, environ: {"folder": folder.name})
    (tmp_path / "train.py").write_text("")
    definition = BenchmarkDefinition.model_validate(
        {
            "name": "toy",
            "script": "train.py",
            "source_dir": str(tmp_path),
            "space": {"instance_type": {"choice": ["ml.m5.large"]}},
            "objectives": {"loss": "min"},
            "sagemaker": {"image": "image:1"},
        }
    )
    return experiment_spec(resolve_python(definition, "sagemaker"), "RS", 1, "tag", tmp_path / "results")


@pytest.mark.parametrize(("first", "then", "words"), [(EMULATED, {}, "give --emulate"), ({}, EMULATED, "another --experiment_tag")])
def test_bills_of_two_kinds_do_not_mix(spec, monkeypatch, first, then, words):
    prepare_folder(spec, first)
    assert json.loads((spec.folder / "environment.json").read_text()) == {"folder": spec.definition.source_dir.rpartition("/")[2]}
    check_bills(spec, then)  # as long as nothing was recorded
    monkeypatch.setattr(module, "has_records", lambda path: True)
    check_bills(spec, first)
    with pytest.raises(UserError, match=words):
        check_bills(spec, then)
    with pytest.raises(UserError, match=words):
        prepare_folder(spec, then)
