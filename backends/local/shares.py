"""Shares of this machine, by the names that instance types have on the local back-end."""

from __future__ import annotations

import re

from backends.processes.share import MachineShare
from definitions.errors import UserError

_FORM = re.compile(r"local\.(\d+)cpu(?:\.(\d+)gpu)?(?:\.(\d+)(gib|mib))?")
_UNITS = {"gib": 1024**3, "mib": 1024**2}


def parse_local(instance_type: str) -> MachineShare:
    """Return the share that `local.<N>cpu[.<M>gpu][.<K>gib|mib]` names.

    Raises:
        UserError: the name has another form, or no cores or no memory.
    """
    match = _FORM.fullmatch(instance_type)
    memory_bytes = int(match[3]) * _UNITS[match[4]] if match and match[3] else None
    if match is None or int(match[1]) == 0 or memory_bytes == 0:
        from definitions.instances import backend_of

        owner = backend_of(instance_type)
        if owner is not None and not owner.shares_this_machine:
            raise UserError(
                f"instance_type {instance_type!r} is one of back-end {owner.name}, and this job runs on this machine",
                "a share of this machine is called local.<cores>cpu[.<GPUs>gpu][.<memory>gib or mib]",
                f"run with --backend {owner.name}, or give e.g. local.2cpu",
            )
        raise UserError(
            f"instance_type {instance_type!r} is no share of this machine",
            "the form is local.<cores>cpu[.<GPUs>gpu][.<memory>gib or mib], with at least one core",
            "e.g. local.2cpu, local.4cpu.1gpu, local.2cpu.8gib",
        )
    return MachineShare(int(match[1]), int(match[2] or 0), memory_bytes)
