"""Canaries measured on one number of instances, as they would be on another, where more than one number was measured. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from benchmarking.analysis.measurements import PHASES
from benchmarking.forecasting.data.canary import COMPLETED, Canary, CanaryTable, by_configuration
from benchmarking.forecasting.model.scale_out import coefficients, terms
from definitions.errors import UserError


def on_instances(table: CanaryTable, instance_count: int) -> CanaryTable:
    """Return the table as if each configuration had run on so many instances, by Ernest's terms.

    Times outside start-up are scaled by the ratio that the terms predict at each fraction; what an instance uses of memory is taken
    from the nearest number of instances. A configuration measured on that very number keeps its own runs.

    Args:
        table: canaries; runs of one configuration on several numbers of instances share its name.
        instance_count: the number that is forecast.

    Raises:
        UserError: a configuration was measured on one number only, another one.
    """
    found: list[Canary] = []
    notes = dict(table.notes)
    for name, group in by_configuration(table.canaries).items():
        used = [canary for canary in group if canary.status == COMPLETED and canary.total_s]
        counts = sorted({canary.instance_count for canary in used})
        if instance_count in counts:
            found += [canary for canary in group if canary.instance_count == instance_count]
            continue
        if len(counts) < 2:
            measured = f"it was measured on {counts[0]} only" if counts else "no run of it was completed"
            raise UserError(f"{name} on {instance_count} instances", measured, "measure it on a second number of instances")
        nearest = min(counts, key=lambda count: abs(math.log(count / instance_count)))
        found += [_scaled(canary, used, instance_count) for canary in used if canary.instance_count == nearest]
        scaled = f"scaled from {', '.join(map(str, counts))} to {instance_count} instances by Ernest's terms"
        notes[name] = (*notes.get(name, ()), scaled)
    return CanaryTable(tuple(found), notes)


def _scaled(canary: Canary, used: Sequence[Canary], instance_count: int) -> Canary:
    import numpy as np

    alike = [other for other in used if abs(other.fraction - canary.fraction) <= 0.1 * canary.fraction]
    if len({other.instance_count for other in alike}) < 2:
        alike = list(used)
    machines = np.array([other.instance_count for other in alike], dtype=float)
    work = np.array([max((other.total_s or 0.0) - (other.startup_s or 0.0), 1e-6) for other in alike])
    fitted = coefficients(machines, work)
    target, here = (float(terms([count])[0] @ fitted) for count in (instance_count, canary.instance_count))
    ratio = target / max(here, 1e-12)
    startup_s = canary.startup_s or 0.0
    scaled: dict[str, Any] = {
        name: None if (value := getattr(canary, name)) is None else value * ratio
        for name in (*(f"{phase}_s" for phase in PHASES if phase != "startup"), "step_s")
    }
    total_s = startup_s + ((canary.total_s or 0.0) - startup_s) * ratio
    return dataclasses.replace(canary, **scaled, total_s=total_s, instance_count=instance_count)
