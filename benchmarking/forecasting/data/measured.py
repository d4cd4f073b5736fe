"""From measurements to a canary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarking.forecasting.data.table import NUMBERS, Canary


def canary_from(name: str, fraction: float, repeat: int, values: Mapping[str, float], **known: Any) -> Canary:
    """Return a canary from its measurements.

    Args:
        name: of the configuration.
        fraction: nominal share of the data.
        repeat: which repeat it is.
        values: as `measurements` returns them.
        known: further fields, e.g. `status`, `instance_type`; `about` is added to.
    """
    about = {**{key: values[key] for key in values if key not in NUMBERS}, **known.pop("about", {})}
    numbers: dict[str, Any] = {key: values.get(key) for key in NUMBERS}
    return Canary(name, fraction, repeat, **numbers, about=about, **known)
