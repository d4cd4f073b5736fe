"""Objectives as numbers of which less is better: the sign of `max` ones is turned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarking.controller.method import MethodContext
from definitions.errors import UserError
from definitions.schema import DERIVED_OBJECTIVES, Mode, Progressive


class Primary:
    """The primary objective.

    Args:
        objectives: name -> mode, the primary one first.
    """

    def __init__(self, objectives: Mapping[str, Mode]) -> None:
        self.name, mode = next(iter(objectives.items()))
        self._sign = -1.0 if mode == "max" else 1.0

    def value(self, result: Mapping[str, Any]) -> float:
        """Return its value in a result, less being better."""
        return self._sign * float(result[self.name])


def need_levels(method: str, context: MethodContext, *, all_objectives: bool = False) -> Progressive:
    """Return the fidelity of a method that decides while a job runs.

    Raises:
        UserError: no fidelity, one whose levels are jobs of their own, or an objective that is known only when a job has ended.
    """
    fidelity = context.fidelity
    if fidelity is None:
        raise UserError(
            f"method {method} needs a fidelity",
            "it decides by what a script reports while it runs, and this definition names no levels",
            "give `fidelity: {kind: progressive, argument: epochs, reported_as: epoch, full: 27}`, or use RS, TPE or BO",
        )
    if not isinstance(fidelity, Progressive):
        raise UserError(
            f"method {method} needs a progressive fidelity",
            f"this one is {fidelity.kind}: each level is a job of its own",
            "use RS, TPE or BO, or let the script report its levels as it goes",
        )
    names = list(context.objectives) if all_objectives else list(context.objectives)[:1]
    late = [name for name in names if name in DERIVED_OBJECTIVES]
    if late:
        raise UserError(
            f"method {method} compares {', '.join(late)} while jobs run",
            "that is known only when a job has ended",
            "put an objective first that the script reports" if not all_objectives else "name objectives that the script reports",
        )
    return fidelity
