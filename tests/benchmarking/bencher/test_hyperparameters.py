"""Hyperparameters of Bencher's scripts: those that ours has too, under its names, and a note for each other."""

from __future__ import annotations

import importlib

import pytest

from benchmarking.bencher.hyperparameters import arguments_of
from tests.benchmarking.workloads.workload_runs import WORKLOADS


def made(**given):
    notes: list[str] = []
    return arguments_of(given, notes), notes


def test_what_both_have_is_renamed():
    found, notes = made(batch_size=32, num_workers=4, prefetch_size=3, input_dim=96, pin_memory=True, batch_drop_last=True, epochs=2)
    assert found == {
        "shuffle": False, "batch_size": 32, "loader_workers": 4, "image_size": 96, "pin_memory": True, "drop_last": True, "epochs": 2,
        "prefetch_factor": 3, "model": "sleep", "compute_s": 0.0,
    }  # fmt: skip
    assert notes == []


def test_a_model_or_milliseconds():
    assert made(backbone_model="resnet18")[0]["model"] == "resnet18"
    assert made(compute_time=250)[0] == {"shuffle": False, "model": "sleep", "compute_s": 0.25}
    found, notes = made(backbone_model="resnet34", compute_time=5)
    assert found["model"] == "resnet50"
    assert [note.split(":")[0].split(" has")[0] for note in notes] == ["hyperparameter backbone_model", "hyperparameter compute_time"]


def test_none_is_written_in_many_ways():
    assert made(cache="None", backbone_model=None, compute_time="None", prefetch_size=None) == made()


@pytest.mark.parametrize(
    ("given", "kept", "note"),
    [
        ({"private_pool": 8}, {"loader_workers": 8}, "became loader_workers"),
        ({"private_pool": 8, "num_workers": 2}, {"loader_workers": 2}, None),
        ({"prefetch_size": -1, "num_workers": 2}, {"loader_workers": 2}, "as many as seem best"),
        ({"prefetch_size": 4, "num_workers": 0}, {"loader_workers": 0}, "without workers"),
        ({"cache": "mem"}, {}, "ingestion `memory`"),
        ({"cache": "/tmp/x"}, {}, "ingestion `file`"),
        ({"prefetch_first": False}, {}, "of tf.data"),
        ({"prefetch_to_gpu": True}, {}, "of tf.data"),
        ({"num_parallel_calls": -1}, {}, "of tf.data"),
        ({"num_parallel_reads": 2}, {}, "of tf.data"),
        ({"input_channel": "x"}, {}, "told of its channels"),
        ({"warp_factor": 9}, {}, "warp_factor has no counterpart"),
    ],
)
def test_what_ours_has_not_is_noted(given, kept, note):
    found, notes = made(**given)
    assert found == {"shuffle": False, "model": "sleep", "compute_s": 0.0, **kept}
    assert (notes == []) if note is None else (len(notes) == 1 and note in notes[0])


def test_our_script_takes_all_of_them(monkeypatch):
    monkeypatch.syspath_prepend(str(WORKLOADS))
    parse_arguments = importlib.import_module("image_ingestion").parse_arguments
    found, _ = made(
        batch_size=32, num_workers=4, prefetch_size=3, input_dim=96, pin_memory=True, batch_drop_last=True, epochs=2, shuffle=True
    )
    asked = vars(parse_arguments([f"--{key}={str(value).lower()}" for key, value in found.items()]))
    assert {key: asked[key] for key in found} == found
