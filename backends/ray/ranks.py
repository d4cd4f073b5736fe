"""What the parts of one job on several nodes are told of each other, in the words of the other back-ends. Pure."""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Sequence

from backends.job_spec import JobSpec
from backends.ray.parts import part_name

_PORTS = range(20_000, 30_000)
"""Below those that systems give to whoever asks for any."""


def rank_variables(job: str, rank: int, addresses: Sequence[str]) -> dict[str, str]:
    """Return the variables of one part; none where it is the only one.

    Args:
        job: whose part it is.
        rank: of the part, which is that of its host.
        addresses: of the nodes, by rank.
    """
    if len(addresses) == 1:
        return {}
    # Scripts and the reporter take a host's rank from its place among the sorted names.
    hosts = sorted(f"algo-{number}" for number in range(1, len(addresses) + 1))
    return {
        "OUTRIDER_JOB": job,
        "SM_HOSTS": json.dumps(hosts),
        "SM_CURRENT_HOST": hosts[rank],
        "SM_HOST_COUNT": str(len(hosts)),
        "SM_MASTER_ADDR": addresses[0],
        "SM_MASTER_PORT": str(_PORTS[zlib.crc32(job.encode()) % len(_PORTS)]),
        # The names of hosts are nobody's addresses here.
        "MASTER_ADDR": addresses[0],
    }


def part_spec(spec: JobSpec, rank: int) -> JobSpec:
    """Return what one part runs: only the first has to report, and makes or clears the checkpoint."""
    if not rank:
        return spec
    return dataclasses.replace(spec, name=part_name(spec.name, rank), is_silent=True, restore_from=spec.checkpoint or None)
