"""What all parts of a definition are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Base of all parts of a definition: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), defer_build=True)
