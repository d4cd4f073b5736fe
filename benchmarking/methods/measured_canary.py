"""What a method hears of a canary, as the table of forecasts has it."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarking.controller.method import Evaluation, MethodContext
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.data.canary import COMPLETED, PREFIX, Canary, canary_from
from benchmarking.forecasting.data.experiment import full_level
from benchmarking.forecasting.prefix.measured import measured
from definitions.schema import PerJob


def heard_canary(
    context: MethodContext, name: str, evaluation: Evaluation, values: Mapping[str, float], progress: ProgressCurve | None
) -> Canary:
    """Return a run as a canary.

    Args:
        context: of the method.
        name: of the configuration.
        evaluation: that ended.
        values: what was measured, by the names of a canary table's columns.
        progress: all that it said of how far it is; None where it said nothing.
    """
    resources = {**context.fixed, **evaluation.configuration}
    full = full_level(context.fidelity)
    return canary_from(
        name,
        (full if evaluation.level is None else evaluation.level) / full,
        evaluation.repeat,
        values,
        status=COMPLETED if evaluation.prefix_s is None else PREFIX,
        instance_type=str(resources.get("instance_type") or ""),
        instance_count=int(str(resources.get("instance_count") or 1)),
        family=(context.fidelity.family or "") if isinstance(context.fidelity, PerJob) else "",
        progress=None if progress is None else measured(progress),
    )
