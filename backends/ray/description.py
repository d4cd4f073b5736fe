"""What the back-end of Ray clusters tells about itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from backends.ray.shapes import parse_shape
from definitions.backend_description import BackendDescription
from definitions.errors import UserError
from definitions.fields import Dollars, Flag, Seconds, Text
from definitions.instance_tables import InstanceFacts, Price, Tables
from definitions.parts import KeyPath, Overrides

DEFAULT_GRACE_S = 5.0
"""Seconds between TERM and KILL."""


class RayBlock(Overrides):
    """What differs on a Ray cluster, and the back-end's options."""

    address: Text | None = Field(
        None, description="of a cluster that is there: auto, HOST:6379 or ray://HOST:10001; without it one is started on this machine"
    )
    grace_s: Seconds | None = Field(None, description="seconds between TERM and KILL (default 5)")
    checkpoints: Text | None = Field(
        None, description="where checkpoints are kept: a folder that this machine and all nodes can reach, or s3://bucket/prefix"
    )
    detach: Flag | None = Field(
        None, description="whether jobs go on where the command ends without ending them, so that `--resume` takes them over"
    )
    autoscaling: Flag | None = Field(
        None, description="whether the cluster adds nodes by itself: then what no node has now is waited for, and not refused"
    )
    usd_per_hour: dict[Text, Dollars] | None = Field(
        None, description="what an hour of a job costs by its instance type, e.g. ray.1gpu.a10g: 1.2; the cost of others is unknown"
    )


class RayDescription(BackendDescription[RayBlock]):
    """Processes on the nodes of a Ray cluster."""

    name: ClassVar[str] = "ray"
    implementation: ClassVar[str] = "backends.ray.backend:RayBackend"
    block = RayBlock
    unhashed: ClassVar[frozenset[str]] = frozenset({"address", "grace_s", "checkpoints", "detach", "autoscaling", "usd_per_hour"})
    instance_pattern: ClassVar[str] = r"ray(\..*)?"
    instance_form: ClassVar[str] = "ray."
    travels: ClassVar[str] = "backends.ray.travels:what_travels"
    runs_commands: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    default_instance_type: ClassVar[str | None] = "ray.1cpu"
    example_instance_type: ClassVar[str] = "ray.2cpu"
    default_max_run_s: ClassVar[float | None] = None

    def finds_interpreters_here(self, environ: Mapping[str, str]) -> bool:
        """Return True: the nodes of a cluster have the interpreters of this machine under the same paths, as Ray asks of them too."""
        return True

    def room_is_final(self, block: RayBlock) -> bool:
        """Return whether no node joins by itself."""
        return not block.autoscaling

    def facts(self, instance_type: str, tables: Tables) -> InstanceFacts | None:
        """Return what the name says."""
        shape = parse_shape(instance_type)
        return InstanceFacts(instance_type, shape.cpus, shape.memory_bytes, shape.gpus, None)

    def price(self, instance_type: str, region: str, tables: Tables, block: RayBlock) -> Price | None:
        """Return what the block says of a type, by whichever of its names it is called there; nobody else knows what a cluster costs."""
        asked = parse_shape(instance_type)
        found = next((usd for name, usd in (block.usd_per_hour or {}).items() if parse_shape(name) == asked), None)
        return None if found is None else Price(found, region, "", "usd_per_hour of the definition")

    def option_problems(
        self, block: RayBlock, script: str | None, objectives: Sequence[str], max_run_s: float | None
    ) -> Iterator[tuple[KeyPath, str]]:
        """Yield what is wrong with the program, and names among the prices that are none of instance types."""
        yield from super().option_problems(block, script, objectives, max_run_s)
        if block.address == "local":
            yield (
                (self.name, "address"),
                "names no cluster that is there; leave it out: then one of this machine is started for the command",
            )
        if block.detach and not block.address:
            yield (self.name, "detach"), "needs an address: the cluster that is started for a command ends with it, and so do its jobs"
        for name in block.usd_per_hour or {}:
            try:
                parse_shape(name)
            except UserError as error:
                yield (self.name, "usd_per_hour", name), f"is no instance type of a Ray cluster; {error.fact}"

    def remarks(self, block: RayBlock, instance_types: Sequence[str], region: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield by which prices jobs are counted, and which have none."""
        prices = {name: self.price(name, region, Tables({}, {}), block) for name in instance_types}
        priced = [f"{name} ${price.usd_per_hour:g}" for name, price in prices.items() if price is not None]
        unknown = [name for name, price in prices.items() if price is None]
        if priced:
            yield f"an hour of a job costs by ray.usd_per_hour: {', '.join(priced)}"
        if unknown:
            says = f"ray: {{usd_per_hour: {{{unknown[0]}: USD}}}}"
            yield f"what {', '.join(unknown)} costs is unknown, so that nothing is added up for it; `{says}` in the definition says"

    def outlives_controller(self, block: RayBlock) -> bool:
        """Return whether jobs were asked to go on."""
        return bool(block.detach)

    def grace_s(self, block: RayBlock) -> float:
        """Return the seconds between TERM and KILL."""
        return block.grace_s or DEFAULT_GRACE_S


DESCRIPTION = RayDescription()
