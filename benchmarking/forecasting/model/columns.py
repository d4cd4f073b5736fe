"""Canaries as arrays: the columns of their measurements, and their sizes as shares of the full job. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray


def value_of(canary: Canary, column: str) -> float | None:
    """Return one measurement of a canary, from its fields or from what else is known of it; None where it was not measured."""
    found = getattr(canary, column, None)
    if found is None:
        found = canary.about.get(column)
    if found is None and column == "train_s" and canary.steps and canary.step_s:
        found = canary.steps * canary.step_s
    return None if found is None else float(found)


def column_of(canaries: Sequence[Canary], column: str) -> FloatArray | None:
    """Return the measurements (n,) of a column; None where a run lacks it."""
    import numpy as np

    values = [value_of(canary, column) for canary in canaries]
    return None if not values or any(value is None for value in values) else np.array(values, dtype=float)


def sizes(canaries: Sequence[Canary], at: float) -> FloatArray:
    """Return the measured sizes (n,) as shares of the job that is forecast.

    Rows count before bytes, and both before the nominal fraction; the full job's rows are those measured, scaled by the nominal fractions.

    Args:
        canaries: of one configuration.
        at: nominal fraction that is forecast.
    """
    return _relative(canaries, at, ("rows", "bytes"))


def sizes_in_bytes(canaries: Sequence[Canary], at: float) -> FloatArray:
    """Return the measured sizes (n,) in bytes where they are known, else as `sizes` does."""
    return _relative(canaries, at, ("bytes", "rows"))


def _relative(canaries: Sequence[Canary], at: float, measures: Sequence[str]) -> FloatArray:
    import numpy as np

    fractions = np.array([canary.fraction for canary in canaries])
    for name in measures:
        measured = [getattr(canary, name) for canary in canaries]
        if all(value is not None and value > 0 for value in measured):
            values = np.array(measured, dtype=float)
            # Whole files are read for a part of their rows: what hardly changes with the fraction says nothing of the full job's size.
            if math.log(values.max() / values.min()) < 0.5 * math.log(fractions.max() / fractions.min()):
                continue
            shares: FloatArray = values / (values.sum() / fractions.sum() * at)
            return shares
    return fractions / at


def steps_follow(canaries: Sequence[Canary], x: FloatArray) -> bool:
    """Return whether the number of steps goes with the data, up to rounding: then the work of one pass is repeated, not grown.

    Args:
        canaries: completed runs of one configuration.
        x: (n,) their sizes.
    """
    import numpy as np

    steps = column_of(canaries, "steps")
    if steps is None or len(np.unique(x)) < 2 or float(steps.min()) < 5:
        return False
    per_size = steps / x
    centre = float(np.median(per_size))
    # One step and a half, as the last batch of each run may be a partial one, and 2 % for steps that are skipped.
    return bool((np.abs(per_size - centre) * x <= 1.5 + 0.02 * steps).all())


def startup_share(canaries: Sequence[Canary]) -> float | None:
    """Return the share of start-up in the wall time (a geometric mean, two digits); None where it was not timed."""
    import numpy as np

    startup, total = column_of(canaries, "startup_s"), column_of(canaries, "total_s")
    if startup is None or total is None:
        return None
    return round(float(np.exp(np.log(np.maximum(startup, 1e-6) / np.maximum(total, 1e-6)).mean())), 2)
