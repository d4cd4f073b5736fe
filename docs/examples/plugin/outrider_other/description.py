"""What the back-end `other` tells about itself: its options, its instance types and what they cost at which site.

It is imported whenever somebody names `other`, so it imports nothing that takes time; the back-end is imported when one is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from definitions.backend_description import BackendDescription
from definitions.errors import UserError
from definitions.fields import Positive
from definitions.instance_tables import InstanceFacts, Price, Tables
from definitions.parts import Overrides

_FORM = re.compile(r"other\.([1-9]\d*)cpu")
_USD_PER_CORE_HOUR = {"south": 0.02, "north": 0.03}


class OtherBlock(Overrides):
    """The block `other:` of a definition. `Overrides` is what may differ on any back-end; the fields here are options of this one."""

    cores: Positive | None = Field(None, description="cores that all jobs share (default 2)")
    site: Literal["south", "north"] | None = Field(None, description="where jobs run, which decides what they cost (default south)")


class OtherDescription(BackendDescription[OtherBlock]):
    """Processes of a second interpreter."""

    name: ClassVar[str] = "other"
    implementation: ClassVar[str] = "outrider_other.backend:OtherBackend"
    block = OtherBlock
    unhashed: ClassVar[frozenset[str]] = frozenset({"cores"})
    instance_pattern: ClassVar[str] = r"other\..*"
    instance_form: ClassVar[str] = "other."
    default_instance_type: ClassVar[str | None] = "other.1cpu"
    example_instance_type: ClassVar[str] = "other.2cpu"
    logs: ClassVar[str] = "other-logs/"

    def instance_problem(self, instance_type: str) -> str | None:
        """Return why no job can run on it, or None."""
        return None if _FORM.fullmatch(instance_type) else f"instance type {instance_type} has not the form other.<cores>cpu"

    def facts(self, instance_type: str, tables: Tables) -> InstanceFacts | None:
        """Return what the name says."""
        return InstanceFacts(instance_type, cores_of(instance_type), None, 0, None)

    def price(self, instance_type: str, region: str, tables: Tables, block: OtherBlock) -> Price | None:
        """Return the price at a site; None where it is unknown."""
        usd = _USD_PER_CORE_HOUR.get(region)
        return None if usd is None else Price(usd * cores_of(instance_type), region, "2026-01-01", "outrider-other")

    def region(self, block: OtherBlock, environ: Mapping[str, str]) -> str:
        """Return the site whose prices count."""
        return block.site or "south"


def cores_of(instance_type: str) -> int:
    """Return the cores that the name of an instance type says; raises `UserError` where it has another form."""
    match = _FORM.fullmatch(instance_type)
    if match is None:
        raise UserError(f"instance_type {instance_type!r}", "the form is other.<cores>cpu", "e.g. other.2cpu")
    return int(match[1])


DESCRIPTION = OtherDescription()
