"""The environment variables and folders that a job on this machine finds. Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from backends.common.activation import Activation
from backends.common.channel_variables import channel_variables, variable_suffix
from backends.common.command_line import data_places
from backends.common.gpus import visible_variables
from backends.common.process_tree import MARK_VARIABLE
from backends.job_spec import JobSpec

REPORTER_FOLDER = Path(__file__).resolve().parents[1] / "reporter"


@dataclass(frozen=True)
class Allocation:
    """What a job was given on this machine.

    Args:
        folder: the job's own folder, its working directory.
        checkpoint: folder of its checkpoint; None where it keeps none.
        cores, gpus: what it leases.
        mark: what all its processes are found by.
    """

    folder: Path
    checkpoint: Path | None
    cores: tuple[int, ...]
    gpus: tuple[str, ...]
    mark: str

    @cached_property
    def model(self) -> Path:
        """Where the script may leave its model."""
        return self.folder / "model"

    @cached_property
    def output(self) -> Path:
        """Where the script may leave other output."""
        return self.folder / "output"


_OF_THE_RUN = frozenset({MARK_VARIABLE, "OUTRIDER_LEASES", "OUTRIDER_CHECKPOINT_DIR"})
"""Variables that only a run's own jobs have a use for."""


def places_of(job: JobSpec, place: Allocation, python: str) -> dict[str, str]:
    """Return what the placeholders of a job's command stand for on this machine."""
    found = {
        **data_places(job.inputs),
        "output": str(place.output),
        "model": str(place.model),
        "checkpoint": str(place.checkpoint or ""),
        "python": python,
        "source": job.source_dir,
        "script": job.script,
    }
    return {**found, "arguments_file": str(place.folder / next(iter(job.files), ""))}


def job_environment(base: Mapping[str, str], job: JobSpec, place: Allocation, activation: Activation | None = None) -> dict[str, str]:
    """Return the whole environment of a job: `base`, what Outrider and SageMaker would set, and the job's own on top.

    Args:
        base: what the controller has.
        job: whose environment it is.
        place: what it was given.
        activation: of the interpreter that the definition names; None where it names none.
    """
    found = dict(base) if activation is None else activation.over(base)
    found.pop("OUTRIDER_CHECKPOINT_DIR", None)
    found.update(_outrider(base, job, place))
    found.update(_sagemaker(job, place))
    for channel in job.inputs:
        found.update(channel_variables(channel, channel.uri))
        found[f"SM_CHANNEL_{variable_suffix(channel.name)}"] = channel.uri
    found.update(visible_variables(base, ",".join(place.gpus)))
    if place.gpus:
        # The driver's tools count by bus, CUDA by speed; a leased number has to mean one device to both.
        found.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    found.setdefault("OMP_NUM_THREADS", str(len(place.cores)))
    found.setdefault("PYTHONUNBUFFERED", "1")
    found.update(job.environment)
    path = found.get("PYTHONPATH")
    # A module that a command names is found in the source; a script has its own folder on the path.
    own = [str(REPORTER_FOLDER), *([job.source_dir] if job.command and job.source_dir else [])]
    found["PYTHONPATH"] = ":".join([*own, *([path] if path else [])])
    return found


def pasteable(command: Sequence[str], folder: Path, environment: Mapping[str, str], base: Mapping[str, str]) -> str:
    """Return one line for a shell that runs a job's command again.

    Args:
        command: what was started.
        folder: where.
        environment: of the job.
        base: what the shell has anyway; only what differs from it is in the line.
    """
    # By the mark this controller would find and kill it, and its checkpoint is the trial's.
    said = {name: value for name, value in environment.items() if base.get(name) != value and name not in _OF_THE_RUN}
    words = [f"{name}={shlex.quote(value)}" for name, value in sorted(said.items())]
    return " ".join(["cd", shlex.quote(str(folder)), "&&", *(["env", *words] if words else []), shlex.join(command)])


def _outrider(base: Mapping[str, str], job: JobSpec, place: Allocation) -> dict[str, str]:
    values = {
        "OUTRIDER_JOB": job.name,
        "OUTRIDER_TRIAL": str(job.trial),
        "OUTRIDER_ATTEMPT": str(job.attempt),
        "OUTRIDER_INSTANCE_TYPE": job.instance_type,
        "OUTRIDER_INSTANCE_COUNT": str(job.instance_count),
        "OUTRIDER_CORES": str(len(place.cores)),
        # A controller within a job leases from what this job has, and its jobs carry both marks.
        "OUTRIDER_LEASES": str(place.folder / "leases"),
        MARK_VARIABLE: base.get(MARK_VARIABLE, "") + place.mark,
    }
    if place.checkpoint is not None:
        values["OUTRIDER_CHECKPOINT_DIR"] = str(place.checkpoint)
    return values


def _sagemaker(job: JobSpec, place: Allocation) -> dict[str, str]:
    return {
        "SM_CHANNELS": json.dumps([channel.name for channel in job.inputs]),
        "SM_HPS": json.dumps(dict(job.parameters)),
        "SM_MODEL_DIR": str(place.model),
        "SM_OUTPUT_DATA_DIR": str(place.output),
        "SM_CURRENT_HOST": "algo-1",
        "SM_HOSTS": json.dumps(["algo-1"]),
        "SM_NUM_CPUS": str(len(place.cores)),
        "SM_NUM_GPUS": str(len(place.gpus)),
    }
