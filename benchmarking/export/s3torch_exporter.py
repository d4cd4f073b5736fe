"""`--to s3torch`: run_results.json in the form of s3torchbenchmarking, with true MiB/s."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.controller.rows import TrialState
from benchmarking.export.epoch_reports import ReadEpochs, trials_that_read
from benchmarking.export.exporter import ExportContext, ExportedExperiment
from benchmarking.export.json_exporter import pretty
from definitions.files import write_atomically
from definitions.scalars import is_number

NAME = "run_results.json"

_KINDS = {
    "s3_map": "s3mapdataset", "s3_iterable": "s3iterabledataset", "fsspec": "fsspec", "mountpoint": "mountpoint",
    "mountpoint_cache": "mountpointcache",
}  # fmt: skip
"""Ingestions that s3torchbenchmarking has too -> its words."""

_UTILIZATION = {"cpu_util": "cpu_percent", "cpu_mem": "rss_bytes", "gpu_util": "gpu_percent", "gpu_mem": "gpu_memory_bytes"}


class S3torchExporter:
    """Writes run_results.json of experiments; see `benchmarking.export.exporter.Exporter`."""

    writes_files = True

    def __init__(self, context: ExportContext) -> None:
        pass

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Write the file of one experiment; raises `UserError` where its script reports no epochs, or it cannot be written."""
        write_atomically(folder / NAME, pretty(run_results(one)))
        return [str(folder / NAME)]

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Do nothing: the experiments have no file in common."""
        return ()


def run_results(one: ExportedExperiment) -> dict[str, Any]:
    """Return the document of an experiment: `job_results` has one entry for each completed trial that reported epochs.

    `throughput_mibs` is mebibytes that were read a second over all epochs, warm-up included. What the original calls so are samples a
    second, which stand beside it as `samples_per_s`. `utilization` is that of the job, not of the machine, and of its script's whole time:
    what was not kept is null.

    Raises:
        UserError: there are none.
    """
    done = trials_that_read(one, "s3torch")
    packages = one.environment.get("packages")
    versions: Mapping[str, Any] = packages if isinstance(packages, Mapping) else {}
    first = None if one.state.first_start is None else one.state.first_start[1]
    return {
        "s3torchconnector_version": versions.get("s3torchconnector"),
        "timestamp_utc": first,
        "scenario": one.benchmark,
        "disambiguator": one.tag,
        "run_elapsed_time_s": None if first is None else one.state.last_at - first,
        "versions": {"python": one.environment.get("python"), "pytorch": versions.get("torch"), "hydra": None},
        "ec2_metadata": None,
        "job_results": [_job(one, trial, read) for trial, read in done],
    }


def _job(one: ExportedExperiment, trial: TrialState, read: ReadEpochs) -> dict[str, Any]:
    settings = {**one.definition.arguments, **trial.configuration}
    name = str(settings.get("dataset") or next(iter(one.definition.datasets), ""))
    dataset, mode = one.definition.datasets.get(name), str(settings.get("ingestion"))
    config = {
        "dataset": name,
        "sharding": None if dataset is None or dataset.layout == "files" else dataset.format.upper(),
        "epochs": len(read.durations_s),
        "model": settings.get("model"),
        "dataloader": {
            "kind": _KINDS.get(mode, mode),
            "batch_size": settings.get("batch_size"),
            "num_workers": settings.get("loader_workers", 0),
        },
        "s3reader": {"type": settings.get("s3_reader", "sequential"), "buffer_size": settings.get("s3_buffer")},
        "repeat": trial.repeat,
        "configuration": dict(trial.configuration),
    }
    metrics = {
        "throughput_mibs": read.mebibytes_per_s,
        "samples_per_s": read.samples_per_s,
        "training_duration_s": read.seconds,
        "epoch_durations_s": list(read.durations_s),
        "utilization": {name: _quantity(trial.usage, kept) for name, kept in _UTILIZATION.items()},
    }
    return {"config": config, "metrics": metrics}


def _quantity(usage: Mapping[str, Any], name: str) -> dict[str, float | None]:
    """Return a quantity over all phases of a job: mean by their lengths, and the peak."""
    sampled = usage.get("usage")
    found = []
    for part in sampled.values() if isinstance(sampled, Mapping) else ():
        kept = part.get(name) if isinstance(part, Mapping) else None
        seconds = part.get("sampled_s") if isinstance(part, Mapping) else None
        if isinstance(kept, Mapping) and is_number(kept.get("mean")) and is_number(kept.get("peak")) and is_number(seconds) and seconds > 0:
            found.append((float(kept["mean"]), float(kept["peak"]), float(seconds)))
    whole = math.fsum(seconds for *_, seconds in found)
    mean = math.fsum(value * seconds for value, _, seconds in found) / whole if whole else None
    nothing = dict.fromkeys(("n", "min", "p50", "p75", "p90"))
    return {**nothing, "mean": mean, "max": max((peak for _, peak, _ in found), default=None)}
