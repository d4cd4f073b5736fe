"""Hyperparameters of Bencher's two scripts as arguments of ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PORTED = ("benchmark-tensorflow.py", "benchmark-pytorch.py")
"""Scripts whose part is taken by ours, which measures the same in PyTorch."""

_RENAMED = {"batch_size": "batch_size", "num_workers": "loader_workers", "input_dim": "image_size", "pin_memory": "pin_memory",
            "batch_drop_last": "drop_last", "shuffle": "shuffle", "epochs": "epochs"}  # fmt: skip

_WITHOUT = {
    "prefetch_first": "of tf.data; ours loads ahead after decoding",
    "prefetch_to_gpu": "of tf.data; pin_memory is what comes nearest",
    "num_parallel_calls": "of tf.data; loader_workers decode in parallel",
    "num_parallel_reads": "of tf.data; threads_per_worker are reads at once",
}
_OF_CHANNELS = ("input_channel", "input_mode", "dataset_format", "dataset_s3_uri", "dataset_num_classes", "dataset_num_samples")
_MODELS = ("resnet18", "resnet50")


def arguments_of(given: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the arguments of our script that mean the same.

    Args:
        given: hyperparameters of a trial.
        notes: what has no counterpart is added to them.
    """
    values = {key: None if value in (None, "None", "null", "") else value for key, value in given.items()}
    found: dict[str, Any] = {"shuffle": False}  # theirs do not, unless they are told to
    for key, name in _RENAMED.items():
        if values.get(key) is not None:
            found[name] = values[key]
    _prefetching(values, found, notes)
    _model(values, found, notes)
    if values.get("cache") == "mem":
        notes.append("hyperparameter cache: mem has no counterpart; ingestion `memory` reads from memory from the first epoch on")
    elif values.get("cache") is not None:
        notes.append("hyperparameter cache: a copy on the disk has no counterpart; ingestion `file` makes one before the first epoch")
    notes += [f"hyperparameter {key} has no counterpart: {why}" for key, why in _WITHOUT.items() if key in given]
    notes += [f"hyperparameter {key} has no counterpart: the script is told of its channels" for key in _OF_CHANNELS if key in given]
    known = {*_RENAMED, *_WITHOUT, *_OF_CHANNELS, "prefetch_size", "private_pool", "compute_time", "backbone_model", "cache"}
    notes += [f"hyperparameter {key} has no counterpart" for key in given if key not in known]
    return found


def _prefetching(values: Mapping[str, Any], found: dict[str, Any], notes: list[str]) -> None:
    pool = values.get("private_pool")
    if pool is not None and "loader_workers" not in found:
        found["loader_workers"] = pool
        notes.append("hyperparameter private_pool: threads of tf.data became loader_workers, which are processes")
    ahead = values.get("prefetch_size")
    if ahead is None:
        return
    if not isinstance(ahead, int) or ahead < 1:
        notes.append(f"hyperparameter prefetch_size: {ahead} (as many as seem best) has no counterpart; each worker loads 2 batches ahead")
    elif not found.get("loader_workers"):
        notes.append("hyperparameter prefetch_size has no counterpart without workers, as nobody loads ahead")
    else:
        found["prefetch_factor"] = ahead


def _model(values: Mapping[str, Any], found: dict[str, Any], notes: list[str]) -> None:
    wanted, waits_ms = values.get("backbone_model"), values.get("compute_time")
    if wanted is None:
        found |= {"model": "sleep", "compute_s": (waits_ms or 0) / 1000}
        return
    found["model"] = wanted
    if wanted not in _MODELS:
        notes.append(f"hyperparameter backbone_model: there is no {wanted}; resnet50 takes its place, and `model: module:Class` your own")
        found["model"] = "resnet50"
    if waits_ms:
        notes.append("hyperparameter compute_time has no counterpart beside a model that computes")
