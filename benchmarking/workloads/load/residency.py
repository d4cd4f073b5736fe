"""The figures of copies that stay loaded: how many, what each takes of memory without the base, and whether loading and unloading leaks."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from .max_models import CallTarget, ResidencySearch
from .serving_status import ServingStatus, used_between

_MB = 1e6
_LEAK_SHARE = 0.05
ENDED_SHORT = "the search ended before max_run: more copies may stay loaded"


async def residency_figures(
    number: int, search: ResidencySearch, status: ServingStatus, before: Mapping[str, Any] | None, call: CallTarget, cycles: int
) -> dict[str, Any]:
    """Return what a search for the largest number of copies found; what is not known is left out.

    Args:
        number: of copies that stay loaded together; they are loaded now.
        search: that found it.
        status: tells of memory, where somebody does.
        before: what it told before the first call.
        call: calls a copy.
        cycles: loads of further copies, each of which displaces another, by which a leak shows; 0 for none.
    """
    after = await status.read()
    found: dict[str, Any] = {"max_models": number, "copies": search.copies, "all_copies_fit": number == search.copies}
    if search.is_guessed:
        found["residency"] = "told by the time that calls took"
    if search.why:
        found["why"] = search.why
    if search.is_short:
        found |= {"at_least": True, "why": ENDED_SHORT}
    if search.cold_s:
        found["cold_p50_ms"] = round(1000 * statistics.median(search.cold_s), 3)
        found["cold_p95_ms"] = round(1000 * sorted(search.cold_s)[-(len(search.cold_s) // 20) - 1], 3)
    found |= used_between(before, after) | _memory(after)
    if cycles and after is not None and search.copies > 1 and not search.is_short:
        found |= await _leak(number, search, after, status, call, cycles)
    return found


def _memory(told: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a copy takes: memory above the base over the copies that are loaded, whoever they are."""
    resident = len(told.get("resident") or ()) if told is not None else 0
    if told is None or not resident or not _known(told, "memory_bytes", "base_bytes"):
        return {}
    found = {"model_mb": (told["memory_bytes"] - told["base_bytes"]) / resident / _MB, "base_mb": told["base_bytes"] / _MB}
    if _known(told, "gpu_bytes"):
        found["gpu_mb"] = told["gpu_bytes"] / _MB
    return {name: round(value, 3) for name, value in found.items()}


async def _leak(
    number: int, search: ResidencySearch, before: Mapping[str, Any], status: ServingStatus, call: CallTarget, cycles: int
) -> dict[str, Any]:
    """Load copies in turn, each of which displaces the one that was called longest ago, and compare memory where as many are loaded."""
    loads = 0
    for turn in range(cycles):
        if search.is_over(search.slowest_s):
            return {"cycles": loads, "why": f"the loads by which a leak shows ended before max_run, after {turn} of {cycles}"}
        ended = await call((number + turn) % search.copies)
        if ended.problem:
            return {"cycles": loads, "why": f"load {turn + 1} of {cycles} ended as {ended.problem}"}
        loads += bool(ended.is_cold)
    after = await status.read()
    if after is None or not _known(before, "memory_bytes") or not _known(after, "memory_bytes") or not loads:
        return {"cycles": loads}
    if len(after.get("resident") or ()) != len(before.get("resident") or ()):
        return {"cycles": loads}
    grown = after["memory_bytes"] - before["memory_bytes"]
    return {
        "cycles": loads,
        "leak_mb_per_cycle": round(grown / loads / _MB, 6),
        "leaks": grown > _LEAK_SHARE * before["memory_bytes"],
    }


def _known(told: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(told.get(name), (int, float)) for name in names)
