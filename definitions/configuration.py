"""A configuration is one point of a search space; this names it by content and defines its types."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, TypeAlias

from definitions import strict_json

Scalar: TypeAlias = bool | int | float | str | None
Configuration: TypeAlias = Mapping[str, Any]

OWN_KEYS = ("instance_type", "instance_count")
"""Keys that a back-end consumes; they reach the script as environment, all others as arguments."""

OWN_WITH_DATA = ("ingestion", "dataset")
"""Further ones, where the definition has `datasets` or `inputs`; else they are the script's."""


def instance_count_problem(value: Any) -> str | None:
    """Return what is wrong with a number of instances, or None where a job can have as many."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return None
    return f"a job has a whole number of instances, and at least 1; {value!r} was given"


def configuration_id(configuration: Configuration) -> str:
    """Return a stable 12-digit hexadecimal hash of the configuration's content, whatever the order of its keys."""
    return hashlib.sha256(strict_json.dumps(dict(configuration)).encode()).hexdigest()[:12]
