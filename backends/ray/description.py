"""What the back-end of Ray clusters tells about itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from backends.ray.shapes import parse_shape
from definitions.backend_description import BackendDescription
from definitions.fields import Seconds, Text
from definitions.instance_tables import InstanceFacts, Tables
from definitions.parts import Overrides

DEFAULT_GRACE_S = 5.0
"""Seconds between TERM and KILL."""


class RayBlock(Overrides):
    """What differs on a Ray cluster, and the back-end's options."""

    address: Text | None = Field(
        None, description="of a cluster that is there: auto, HOST:6379 or ray://HOST:10001; without it one is started on this machine"
    )
    grace_s: Seconds | None = Field(None, description="seconds between TERM and KILL (default 5)")
    checkpoints: Text | None = Field(None, description="folder that this machine and all nodes can reach, where checkpoints are kept")


class RayDescription(BackendDescription[RayBlock]):
    """Processes on the nodes of a Ray cluster."""

    name: ClassVar[str] = "ray"
    implementation: ClassVar[str] = "backends.ray.backend:RayBackend"
    block = RayBlock
    unhashed: ClassVar[frozenset[str]] = frozenset({"address", "grace_s", "checkpoints"})
    instance_pattern: ClassVar[str] = r"ray(\..*)?"
    instance_form: ClassVar[str] = "ray."
    runs_commands: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    default_instance_type: ClassVar[str | None] = "ray.1cpu"
    example_instance_type: ClassVar[str] = "ray.2cpu"
    default_max_run_s: ClassVar[float | None] = None

    def finds_interpreters_here(self, environ: Mapping[str, str]) -> bool:
        """Return True: the nodes of a cluster have the interpreters of this machine under the same paths, as Ray asks of them too."""
        return True

    def facts(self, instance_type: str, tables: Tables) -> InstanceFacts | None:
        """Return what the name says."""
        shape = parse_shape(instance_type)
        return InstanceFacts(instance_type, shape.cpus, shape.memory_bytes, shape.gpus, None)

    def grace_s(self, block: RayBlock) -> float:
        """Return the seconds between TERM and KILL."""
        return block.grace_s or DEFAULT_GRACE_S


DESCRIPTION = RayDescription()
