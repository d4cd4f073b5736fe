"""When the controllers of a launched run were at work, generation by generation, and what each cost. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarking.archive.controllers import PastGeneration
from benchmarking.figures.data import PlotAxis, Span, SpanPanel
from benchmarking.report.text import dollars


def controllers_panel(generations: Sequence[PastGeneration]) -> tuple[SpanPanel | None, str]:
    """Return the time line of a run's controllers, a lane each, and what they cost in words; None and nothing where there were none.

    Args:
        generations: of all its controllers.
    """
    known = sorted((one for one in generations if one.began_at is not None), key=lambda one: (one.controller, one.generation))
    if not known:
        return None, ""
    begun = [one.began_at for one in known if one.began_at is not None]
    ended = [one.ended_at for one in known if one.ended_at is not None]
    start, end = min(begun), max(begun + ended)
    lanes = sorted({one.controller for one in known})
    spans = []
    for one in known:
        began_at = one.began_at or start
        until = end if one.ended_at is None else one.ended_at
        still = "" if one.ended_at is not None else ", not over when it was collected"
        text = f"generation {one.generation}, {one.job}: {_usd(one)}{still}"
        spans.append(Span(lanes.index(one.controller), began_at - start, max(began_at, until) - start, _kind(one), text))
    kinds = tuple(f"generation {number}" for number in sorted({one.generation for one in known}))
    names = tuple(f"controller {number}" for number in lanes)
    return SpanPanel("controllers", names, PlotAxis("time since the first began", "s"), kinds, tuple(spans)), _cost(known)


def _kind(one: PastGeneration) -> str:
    return f"generation {one.generation}"


def _cost(known: Sequence[PastGeneration]) -> str:
    each = ", ".join(f"{one.controller}/{one.generation} {_usd(one)}" for one in known)
    total = math.fsum(one.usd or 0.0 for one in known)
    least = "at least " if any(one.usd is None for one in known) else ""
    label = " emulated" if known[0].is_emulated else ""
    return f"Controllers, by number and generation: {each}; together {least}{dollars(total)}{label}, beside what trials cost."


def _usd(one: PastGeneration) -> str:
    if one.usd is None:
        return "cost not known"
    return dollars(one.usd) + ("" if one.is_billed else " so far")
