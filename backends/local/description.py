"""What the local back-end tells about itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from backends.local.shares import parse_local
from backends.processes.share import MachineShare
from definitions.backend_description import BackendDescription
from definitions.fields import Seconds
from definitions.instance_tables import InstanceFacts, Price, Tables
from definitions.parts import Overrides

DEFAULT_GRACE_S = 5.0
"""Seconds between TERM and KILL."""


class LocalBlock(Overrides):
    """What differs on this machine, and the local back-end's options."""

    grace_s: Seconds | None = Field(None, description="seconds between TERM and KILL (default 5)")
    store_faults: tuple[dict[str, Any], ...] | None = Field(
        None, description="faults of the S3 server of runs on this machine, as in a fault file of the emulator: `kind: slow`, `reset`, ..."
    )


class LocalDescription(BackendDescription[LocalBlock]):
    """Processes on this machine."""

    name: ClassVar[str] = "local"
    implementation: ClassVar[str] = "backends.local.backend:LocalBackend"
    block = LocalBlock
    unhashed: ClassVar[frozenset[str]] = frozenset({"grace_s"})
    instance_pattern: ClassVar[str] = r"local(\..*)?"
    instance_form: ClassVar[str] = "local."
    shares_this_machine: ClassVar[bool] = True
    runs_commands: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    input_modes: ClassVar[tuple[str, ...]] = ("local", "file", "fastfile", "pipe", "none", "mount")
    emulated_modes: ClassVar[tuple[str, ...]] = ("file", "fastfile", "pipe")
    nominal: ClassVar[bool] = True
    default_instance_type: ClassVar[str | None] = "local.1cpu"
    example_instance_type: ClassVar[str] = "local.2cpu"
    default_max_run_s: ClassVar[float | None] = None

    def instance_type_here(self, environ: Mapping[str, str]) -> str | None:
        """Return a share with one GPU and its part of the cores where there are GPUs, else one core."""
        from backends.common.cpu_quota import usable_cores
        from backends.common.gpus import gpu_ids

        return usual_share(len(usable_cores()), len(gpu_ids(environ)))

    def remarks(self, block: LocalBlock, instance_types: Sequence[str], region: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield what the shares take of this machine's cores and GPUs, and what a quota takes away."""
        from backends.common.child_process import allowed_cores
        from backends.common.cpu_quota import cpu_quota, quota_text, usable_cores
        from backends.common.gpus import gpu_ids

        yield from share_remarks(instance_types, len(usable_cores()), len(gpu_ids(environ)))
        limited = quota_text(cpu_quota(), len(allowed_cores()))
        if limited:
            yield limited

    def facts(self, instance_type: str, tables: Tables) -> InstanceFacts | None:
        """Return what the share that the name says has."""
        share = parse_local(instance_type)
        return InstanceFacts(instance_type, share.cores, share.memory_bytes, share.gpus, None)

    def price(self, instance_type: str, region: str, tables: Tables, block: LocalBlock) -> Price | None:
        """Return a nominal price, the same in every region: cores and GPUs of the share times the rows `local.cpu` and `local.gpu`."""
        share = parse_local(instance_type)
        parts = [(share.cores, tables.prices.get(("local.cpu", "local"))), (share.gpus, tables.prices.get(("local.gpu", "local")))]
        needed = [(count, price) for count, price in parts if count]
        known = [(count, price) for count, price in needed if price is not None]
        if len(known) < len(needed):
            return None
        first = known[0][1]
        return Price(math.fsum(count * price.usd_per_hour for count, price in known), first.region, first.date, first.source)

    def grace_s(self, block: LocalBlock) -> float:
        """Return the seconds between TERM and KILL."""
        return block.grace_s or DEFAULT_GRACE_S

    def store_faults(self, block: LocalBlock) -> Sequence[Mapping[str, Any]]:
        """Return the faults of the S3 server that is started for runs on this machine."""
        return block.store_faults or ()


def usual_share(cores: int, gpus: int) -> str:
    """Return the share that a trial gets where nobody says: a GPU and its part of the cores, else one core."""
    return f"local.{max(1, cores // gpus)}cpu.1gpu" if gpus else "local.1cpu"


def share_remarks(instance_types: Sequence[str], cores: int, gpus: int) -> Iterator[str]:
    """Yield what a trial gets of this machine's cores and GPUs where that is less than all.

    Args:
        instance_types: that configurations can ask for.
        cores: of this machine that may be used.
        gpus: of this machine that may be used.
    """
    shares = [parse_local(name) for name in instance_types]
    if not shares:
        return
    if len(shares) > 1:
        yield from _several(shares, cores, gpus)
        return
    share = shares[0]
    if gpus and not share.gpus:
        are = "1 GPU is" if gpus == 1 else f"{gpus} GPUs are"
        yield f"{are} here, trials ask for none: --set arguments.instance_type={usual_share(cores, gpus)}"
    elif gpus:
        yield f"each trial gets {share.gpus} of {gpus} GPUs; --set arguments.instance_type=local.1cpu for none"
    if share.cores < cores:
        all_cores = f"local.{cores}cpu" + (f".{share.gpus}gpu" if share.gpus else "")
        threads = f"OMP_NUM_THREADS={share.cores}"
        yield f"each trial gets {share.cores} of {cores} cores ({threads}); --set arguments.instance_type={all_cores} for all"


def _several(shares: Sequence[MachineShare], cores: int, gpus: int) -> Iterator[str]:
    """Yield the same where trials ask for different shares: what the largest of them leaves unused."""
    most_cores, most_gpus = max(share.cores for share in shares), max(share.gpus for share in shares)
    if gpus and not most_gpus:
        are = "1 GPU is" if gpus == 1 else f"{gpus} GPUs are"
        yield f"{are} here, and none of the instance types has one, as {usual_share(cores, gpus)} does"
    elif gpus:
        yield f"each trial gets the GPUs of its instance type, at most {most_gpus} of {gpus}"
    if most_cores < cores:
        yield f"each trial gets the cores of its instance type, at most {most_cores} of {cores} (OMP_NUM_THREADS is as many)"


DESCRIPTION = LocalDescription()
