"""Canaries as suggestions: an ordinary configuration with two reserved keys, its level and which repeat it is."""

from __future__ import annotations

from typing import Any

from definitions.configuration import Configuration

LEVEL_KEY, REPEAT_KEY = "fidelity", "repeat"
"""Reserved keys of a suggestion; no key of a space can be called so, as both are columns of the result files."""


def canary(configuration: Configuration, level: float, repeat: int) -> dict[str, Any]:
    """Return the suggestion that runs a configuration at a level, as its repeat of this number."""
    return {**configuration, LEVEL_KEY: level, REPEAT_KEY: repeat}


def split(configuration: Configuration) -> tuple[dict[str, Any], float | None, int | None]:
    """Return the configuration without the reserved keys, its level, and its repeat; None for both where it is no canary."""
    base = {key: value for key, value in configuration.items() if key not in (LEVEL_KEY, REPEAT_KEY)}
    return base, configuration.get(LEVEL_KEY), configuration.get(REPEAT_KEY)


def is_canary(configuration: Configuration) -> bool:
    """Return whether a suggestion says its own level."""
    return LEVEL_KEY in configuration
