"""`scale`: the same definition on less generated data, and never on less than a steady window takes. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from definitions.datasets import Dataset, GeneratedDataset, TableDataset
from definitions.scalars import is_number
from definitions.schema import BenchmarkDefinition

STEADY_ROUNDS = 8
"""Rounds of a loader's workers that a rate needs: what the script measures by (`measuring.window`) is tested to be the same."""

MARGIN = 1.25
"""A loader whose model takes a known time is rarely faster than it, and the first batches of its window are not."""

_USUAL: Mapping[str, float] = {"batch_size": 64, "loader_workers": 0, "prefetch_factor": 2, "compute_s": 0.0, "min_window_s": 5.0}
"""What the built-in script takes where a definition does not say; other scripts use the same names, or have no loader."""


@dataclass(frozen=True)
class ScaledDataset:
    """A generated data set at the scale of its definition.

    Args:
        dataset: as it is made.
        full: how many samples (of a table: rows) it has at full size, copies included; `samples`: at the scale.
        kept_for_window: whether it is larger than the scale says, as a steady window needs so much.
        per_shard: samples of a shard where these are fewer than at full size, so that each worker has a shard; else None.
    """

    dataset: Dataset
    full: int
    samples: int
    kept_for_window: bool
    per_shard: int | None = None


def scaled(definition: BenchmarkDefinition) -> dict[str, ScaledDataset]:
    """Return the generated data sets of a definition at its scale; none at full size.

    Args:
        definition: resolved.
    """
    if definition.scale == 1:
        return {}
    least, workers = steady_samples(definition), max(int(case["loader_workers"]) for case in _cases(definition))
    return {
        name: shrunk(one, definition.scale, least, workers)
        for name, one in definition.datasets.items()
        if isinstance(one, GeneratedDataset)
    }


def datasets_of(definition: BenchmarkDefinition) -> dict[str, Dataset]:
    """Return the data sets that jobs of a definition read: the generated ones at its scale, the user's own as they are."""
    return {**definition.datasets, **{name: one.dataset for name, one in scaled(definition).items()}}


def shrunk(dataset: GeneratedDataset, scale: float, least: int, workers: int = 0) -> ScaledDataset:
    """Return a data set with a share of its samples: fewer copies of the same first, then fewer samples.

    Args:
        dataset: at full size.
        scale: share of its samples, in (0, 1].
        least: samples that it keeps in any case, or all where it has no more.
        workers: of a loader, of which each gets a shard: one without would take turns with others, and none does at full size.
    """
    key = "rows" if isinstance(dataset, TableDataset) else "samples"
    own = getattr(dataset, key)
    if own is None:  # all that an archive holds, which is not known before it is there
        own = _CALTECH_IMAGES
    full = own * dataset.copies
    asked = math.ceil(full * scale - 1e-9)
    wanted = min(max(asked, least), full)
    copies = min(max(wanted // own, 1), dataset.copies)
    samples = min(math.ceil(wanted / copies), own)
    changes: dict[str, Any] = {"copies": copies, key: samples}
    if isinstance(dataset, TableDataset):
        changes["partitions"] = min(dataset.partitions, samples)
    per_shard, fewer = getattr(dataset, "samples_per_shard", None), math.ceil(samples * copies / max(workers, 1))
    if per_shard is None or per_shard <= fewer or own * dataset.copies < workers * per_shard:
        fewer = 0
    else:
        changes["samples_per_shard"] = fewer
    return ScaledDataset(dataset.model_copy(update=changes), full, samples * copies, wanted > asked, fewer or None)


_CALTECH_IMAGES = 30_607


def steady_samples(definition: BenchmarkDefinition) -> int:
    """Return how many samples an epoch needs for a steady window under any configuration of a definition.

    These are the batches that are left out at the start, `STEADY_ROUNDS` rounds of the workers and one for the end; and where the model
    takes a known time (`compute_s`), as many as it trains on in `min_window_s`, with `MARGIN`.

    Args:
        definition: resolved.
    """
    return max(map(_steady, _cases(definition)))


def _steady(settings: Mapping[str, float]) -> int:
    batch, workers, prefetch = (int(settings[name]) for name in ("batch_size", "loader_workers", "prefetch_factor"))
    width = max(workers, 1)
    skipped = workers * ((prefetch or 2) + 1) if workers else 1
    rounds = STEADY_ROUNDS
    if settings["compute_s"] > 0:
        rounds = max(rounds, math.ceil(MARGIN * settings["min_window_s"] / settings["compute_s"] / width))
    return batch * (skipped + width * (rounds + 1))


def _cases(definition: BenchmarkDefinition) -> Iterator[Mapping[str, float]]:
    """Yield what the steady window of each trial depends on; of a space the largest value of each key, as any may come with any."""
    fixed = {**_USUAL, **_numbers(definition.arguments)}
    if definition.trials:
        for configuration in definition.explicit_configurations:
            yield {**fixed, **_numbers(configuration)}
        return
    domains = definition.search_space.domains
    largest: dict[str, float] = {}
    for key in _USUAL:
        values = [value for value in (domains[key].grid(2) if key in domains else ()) if is_number(value)]
        if values:
            # A step that takes no time needs no seconds; of those that take some the shortest makes the most samples.
            largest[key] = min((value for value in values if value > 0), default=0.0) if key == "compute_s" else max(values)
    yield {**fixed, **largest}


def _numbers(settings: Mapping[str, Any]) -> dict[str, float]:
    return {key: float(value) for key, value in settings.items() if key in _USUAL and is_number(value)}


def scale_lines(definition: BenchmarkDefinition) -> list[str]:
    """Return a line for people on the scale of a definition's data, and one on that of its checkpoints; nothing at full size."""
    return [*_data_lines(definition), *_checkpoint_lines(definition)]


def _checkpoint_lines(definition: BenchmarkDefinition) -> list[str]:
    share = definition.arguments.get("checkpoint_scale", 1)
    share = share * definition.scale if is_number(share) else 1
    saves = "checkpoint_model" in (*definition.arguments, *definition.configuration_keys)
    return [f"checkpoints have {share:g} of their models' parameters"] if saves and share != 1 else []


def _data_lines(definition: BenchmarkDefinition) -> list[str]:
    if definition.scale == 1:
        return []
    found = scaled(definition)
    if not found and _checkpoint_lines(definition):
        return []
    if not found:
        return [f"scale {definition.scale:g}: no data set is generated, so nothing is smaller"]
    sizes: dict[str, list[str]] = {}
    for name, one in found.items():
        size = f"{one.samples:,} of {one.full:,}{' (a steady window needs so many)' if one.kept_for_window else ''}"
        size += f", in shards of {one.per_shard:,} so that each worker has one" if one.per_shard else ""
        sizes.setdefault(size, []).append(name)
    listed = "; ".join(f"{', '.join(names)} {size}" for size, names in sizes.items())
    return [f"scale {definition.scale:g} of generated data: {listed}"]
