"""How far a job is, as its reporter says it in a line of its log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from definitions.scalars import is_number


@dataclass(frozen=True)
class ProgressLine:
    """How far a script was at a moment.

    Args:
        done: steps, rows, or whatever it counts, that were behind it.
        total: how many there will be; None where the script does not know.
        elapsed_s: seconds since it began, start-up included.
        cpu_s: processor seconds of its process and of children that have ended, since then.
        phases_s: seconds by phase since then.
        incarnation: which life of the script it is; `number`: of the line in this life, from 0.
        at_most: how many there will be at most, where the script may stop early; None where it does not say.
        by_step: whether these are the steps that the script counted for its throughput, and it has not said what there is to do.
        peak_bytes: most resident memory that its process has had so far; 0 where that is not known.
        delayed_s: seconds that it could have run and other programs had the processor; 0 where that is not known.
    """

    done: float
    total: float | None
    elapsed_s: float
    cpu_s: float = 0.0
    phases_s: Mapping[str, float] = field(default_factory=dict)
    incarnation: int = 0
    number: int = 0
    at_most: float | None = None
    by_step: bool = False
    peak_bytes: float = 0.0
    delayed_s: float = 0.0


def read_progress(said: Mapping[str, Any], incarnation: int) -> ProgressLine | None:
    """Return what a line's object says; None where that is no progress of a first rank.

    Args:
        said: the object after the mark.
        incarnation: that it belongs to.
    """
    done, total, elapsed_s, cpu_s = (said.get(name) for name in ("done", "total", "elapsed_s", "cpu_s"))
    number, phases, at_most, peak_bytes = (said.get(name) for name in ("number", "phases_s", "at_most", "peak_bytes"))
    delayed_s = said.get("delayed_s")
    if said.get("outrider_rank", 0) != 0 or not _is_amount(done) or not _is_amount(elapsed_s):
        return None
    return ProgressLine(
        float(done or 0.0),
        float(total) if _is_amount(total) and total else None,
        float(elapsed_s or 0.0),
        float(cpu_s) if _is_amount(cpu_s) and cpu_s else 0.0,
        {str(name): float(seconds) for name, seconds in phases.items() if _is_amount(seconds)} if isinstance(phases, Mapping) else {},
        incarnation,
        number if isinstance(number, int) and not isinstance(number, bool) else 0,
        float(at_most) if _is_amount(at_most) and at_most else None,
        said.get("by_step") is True,
        float(peak_bytes) if _is_amount(peak_bytes) and peak_bytes else 0.0,
        float(delayed_s) if _is_amount(delayed_s) and delayed_s else 0.0,
    )


def _is_amount(value: Any) -> bool:
    return is_number(value) and math.isfinite(value) and value >= 0
