"""What the local back-end tells about itself."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import Field

from backends.local.shares import parse_local
from definitions.backend_description import BackendDescription
from definitions.fields import Seconds
from definitions.instance_tables import InstanceFacts, Price, Tables
from definitions.parts import Overrides

DEFAULT_GRACE_S = 5.0
"""Seconds between TERM and KILL."""


class LocalBlock(Overrides):
    """What differs on this machine, and the local back-end's options."""

    grace_s: Seconds | None = Field(None, description="seconds between TERM and KILL (default 5)")


class LocalDescription(BackendDescription[LocalBlock]):
    """Processes on this machine."""

    name: ClassVar[str] = "local"
    implementation: ClassVar[str] = "backends.local.backend:LocalBackend"
    block = LocalBlock
    unhashed: ClassVar[frozenset[str]] = frozenset({"grace_s"})
    instance_pattern: ClassVar[str] = r"local(\..*)?"
    instance_form: ClassVar[str] = "local."
    shares_this_machine: ClassVar[bool] = True
    nominal: ClassVar[bool] = True
    default_instance_type: ClassVar[str | None] = "local.1cpu"
    example_instance_type: ClassVar[str] = "local.2cpu"
    default_max_run_s: ClassVar[float | None] = None

    def facts(self, instance_type: str, tables: Tables) -> InstanceFacts | None:
        """Return what the share that the name says has."""
        share = parse_local(instance_type)
        return InstanceFacts(instance_type, share.cores, share.memory_bytes, share.gpus, None)

    def price(self, instance_type: str, region: str, tables: Tables) -> Price | None:
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


DESCRIPTION = LocalDescription()
