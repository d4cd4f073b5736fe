"""Short names of configurations for people: the values of the keys in which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from definitions.configuration import OWN_KEYS, OWN_WITH_DATA, Configuration


def label(configuration: Configuration, keys: Sequence[str]) -> str:
    """Return a name for people: the values of the keys that differ, e.g. `local.2cpu trees=100`; instance types name themselves."""
    words = [
        str(configuration[key]) if key == "instance_type" else f"{key}={_short(configuration[key])}" for key in keys if key in configuration
    ]
    return " ".join(words) or "the configuration"


def varying_keys(configurations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ between configurations, what a back-end consumes first."""
    keys = list(dict.fromkeys(key for configuration in configurations for key in configuration))
    varying = [key for key in keys if len({repr(configuration.get(key)) for configuration in configurations}) > 1]
    return sorted(varying, key=lambda key: key not in (*OWN_KEYS, *OWN_WITH_DATA))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
