"""Configurations that are compared with each other: those that agree in what is a circumstance, such as the data set. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.report.text import configuration_text


@dataclass(frozen=True)
class Stratum:
    """Configurations that are compared with each other alone (a stratum of a stratified comparison).

    Args:
        label: what they have in common, e.g. `dataset=small`; empty where all are compared with all.
        evaluations: their numbers, in the order in which they were suggested.
    """

    label: str
    evaluations: tuple[int, ...]


def strata(configurations: Mapping[int, Mapping[str, Any]], within: Mapping[str, Mapping[str, Sequence[Any]]]) -> list[Stratum]:
    """Return which configurations are compared with each other, in the order in which the first of each was suggested.

    Args:
        configurations: by number.
        within: keys whose values are circumstances, with the values that make up a group, by its name; a value in no group stands alone.
            Where none of them varies, all are compared with all.
    """
    found: dict[tuple[str, ...], list[int]] = {}
    for number, configuration in configurations.items():
        labels = tuple(_label(configuration, key, groups) for key, groups in within.items())
        found.setdefault(labels, []).append(number)
    if len(found) < 2:
        return [Stratum("", tuple(configurations))]
    varying = [at for at in range(len(within)) if len({labels[at] for labels in found}) > 1]
    return [Stratum(", ".join(labels[at] for at in varying), tuple(numbers)) for labels, numbers in found.items()]


def _label(configuration: Mapping[str, Any], key: str, groups: Mapping[str, Sequence[Any]]) -> str:
    """Return the name of the group that a configuration is in, else its value, e.g. `dataset=small`."""
    alone = configuration_text(configuration, [key])
    return next((name for name, values in groups.items() if key in configuration and configuration[key] in values), alone)
