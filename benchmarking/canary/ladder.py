"""Canaries as suggestions: an ordinary configuration with two reserved keys, its level and which repeat it is. Used wherever trials are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.canary.families import exponents_of
from definitions.configuration import CONSUMED_KEYS, Configuration
from definitions.errors import UserError
from definitions.schema import Fidelity, PerJob

LEVEL_KEY, REPEAT_KEY = "fidelity", "repeat"
"""Reserved keys of a suggestion; no key of a space can be called so, as both are columns of the result files."""

DEFAULT_REPEATS = (2, 1)
"""Repeats at the lowest rung and at all others: two of the cheapest tell the noise, the highest tells most for its price."""


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


def per_job(method: str, fidelity: Fidelity | None) -> PerJob:
    """Return the per-job fidelity that canaries need; raises `UserError` where the definition has none, or an unknown family."""
    if isinstance(fidelity, PerJob):
        exponents_of(fidelity.family or "")
        return fidelity
    raise UserError(
        f"method {method} needs a fidelity of kind per_job",
        "this definition has none" if fidelity is None else f"this one is {fidelity.kind}: one job passes all levels",
        "give `fidelity: {kind: per_job, argument: fraction}` and let the script use that share of its data",
    )


def repeats_of(ladder: Sequence[float], given: Sequence[int] | int | None, of_definition: int) -> tuple[int, ...]:
    """Return the repeats of each rung.

    Args:
        ladder: levels, ascending.
        given: by the user: one number for all rungs, or one for each; None for the default.
        of_definition: repeats of measurements in the definition; above 1 they hold for every rung.

    Raises:
        UserError: a list of another length than the ladder's.
    """
    if given is None:
        given = of_definition if of_definition > 1 else [DEFAULT_REPEATS[min(rung, 1)] for rung in range(len(ladder))]
    found = [given] * len(ladder) if isinstance(given, int) else list(given)
    if len(found) != len(ladder):
        raise UserError(f"repeats = {list(found)}", f"the ladder has {len(ladder)} rungs", "give one number, or one for each rung")
    return tuple(found)


def rungs(ladder: Sequence[float], repeats: Sequence[int]) -> list[tuple[float, int]]:
    """Return (level, repeat) of one configuration's canaries, lowest rung first."""
    return [(level, repeat) for level, count in zip(ladder, repeats, strict=True) for repeat in range(count)]


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
    return sorted(varying, key=lambda key: key not in CONSUMED_KEYS)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
