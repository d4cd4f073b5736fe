"""What the local back-end tells about itself."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from definitions.backend_description import BackendDescription
from definitions.fields import Seconds
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
    default_instance_type: ClassVar[str | None] = "local.1cpu"
    example_instance_type: ClassVar[str] = "local.2cpu"

    def grace_s(self, block: LocalBlock) -> float:
        """Return the seconds between TERM and KILL."""
        return block.grace_s or DEFAULT_GRACE_S


DESCRIPTION = LocalDescription()
