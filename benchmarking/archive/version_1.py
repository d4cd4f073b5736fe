"""What the first version of experiment.json did not say of a method, and how it is known all the same."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint

from definitions.plugins import installed
from definitions.schema import BenchmarkDefinition

_TOLD_AT_THE_END = frozenset({"BO", "BORE", "CANARY", "CQR", "GRID", "LISTED", "RACE", "REA", "RS", "TPE"})
"""Methods of that version that did not hear of levels."""

_COUNT_REPEATS = frozenset({"CANARY", "RACE"})
"""Methods of that version that repeated measurements themselves."""


def method_traits(method: str, definition: BenchmarkDefinition, plugins: Iterable[EntryPoint] | None = None) -> tuple[bool, int]:
    """Return whether a method hears of levels, and how often each of its suggestions is measured.

    That of a plug-in is looked up where it is installed; else it counts as most do: it hears of levels, and counts no repeats.

    Args:
        method: its name, or that of a variant of the definition.
        definition: as it was resolved for the experiment.
        plugins: entry points in place of those that are installed.
    """
    variant = definition.methods.get(method)
    base = method if variant is None else variant.base
    hears_levels, counts_repeats = base not in _TOLD_AT_THE_END, base in _COUNT_REPEATS
    for point in installed("outrider.methods") if plugins is None else plugins:
        if point.name == base:
            try:
                found = point.load()
            except Exception:  # noqa: BLE001 - a plug-in may raise anything, and what it measured can be read without it
                continue
            hears_levels = bool(getattr(found, "hears_levels", hears_levels))
            counts_repeats = bool(getattr(found, "measures_repeats", counts_repeats))
    return hears_levels, 1 if counts_repeats else definition.repeats
