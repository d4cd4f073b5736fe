"""What a script reports of its input pipeline: the one place of the core that knows these names. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from definitions.scalars import is_number

DISTURBED = "disturbed"
"""Whether something else used the machine while a trial was measured."""

BOUND_BY = "bound_by"
"""What bounds a trial."""

ACCELERATOR_UTIL = "accelerator_util"
"""Share of the steady time in which training computed."""

ACCELERATORS_FED = "accelerators_fed"
"""How many of the accelerator that is waited for a loader keeps busy enough."""

APART = "ceilings"
"""Phase of a job in which it measures for other trials too; none of its own seconds and dollars."""

_EPOCH = ("first_batch_s", "checkpoint_save_s", "checkpoint_load_s")
"""Figures of which each epoch has one at least: of a pipeline, or of checkpoints alone."""

_CEILING, _ERROR = "ceiling_", "_error"


def is_epoch(metrics: Mapping[str, Any]) -> bool:
    """Return whether a report is that of an epoch of a pipeline, or of checkpoints that were saved or loaded."""
    return any(name in metrics for name in _EPOCH)


def is_disturbed(last: Mapping[str, Any]) -> bool:
    """Return whether a trial's last values say that it was disturbed."""
    return last.get(DISTURBED) is True


def seconds_apart(usage: Mapping[str, Any]) -> float:
    """Return the seconds of a job, by its reporter's phases, that it spent on measuring for other trials too."""
    phases = usage.get("phases_s")
    found = phases.get(APART) if isinstance(phases, Mapping) else None
    return max(float(found), 0.0) if is_number(found) and math.isfinite(found) else 0.0


def own_share(usage: Mapping[str, Any], duration_s: float) -> float:
    """Return the share of a trial's seconds that are its own.

    Args:
        usage: of its job.
        duration_s: of the trial.
    """
    return max(1 - seconds_apart(usage) / duration_s, 0.0) if duration_s > 0 else 1.0


def ceilings_in(metrics: Mapping[str, Any]) -> dict[str, tuple[float, float | None]]:
    """Return the ceilings of a report by name: samples per second, and their relative error where it is told."""
    names = [name for name in metrics if name.startswith(_CEILING) and not name.endswith(_ERROR) and is_number(metrics[name])]
    return {name.removeprefix(_CEILING): (float(metrics[name]), _number(metrics.get(name + _ERROR))) for name in names}


def bound_text(bounds: Sequence[Any]) -> str:
    """Return what repeats are bound by in a few words, e.g. `decode`, `decode (2), compute`; empty where none says it."""
    counts = Counter(str(bound) for bound in bounds if bound)
    return ", ".join(name + (f" ({count})" if count > 1 and len(counts) > 1 else "") for name, count in counts.most_common())


def _number(value: Any) -> float | None:
    return float(value) if is_number(value) else None
