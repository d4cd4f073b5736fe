"""CANARY: every configuration on every rung of a ladder of small fractions, so that forecasts of the full job can be made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from benchmarking.analysis.measurements import canary_values
from benchmarking.controller.method import Evaluation, Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import Argument, levels, number, whole
from benchmarking.forecasting.ladder.levels import per_job, repeats_of, rungs
from benchmarking.forecasting.ladder.stretch import MOST_STRETCHES, Stretch, default_seconds
from benchmarking.methods.candidates import candidates
from definitions.configuration import configuration_id
from definitions.errors import UserError

_REPEATS_WANTED = "whole numbers from 1 up"


def _read_repeats(value: Any) -> tuple[int, ...] | int:
    given = value if isinstance(value, (list, tuple)) else (value,)
    if not given or any(isinstance(one, bool) or not isinstance(one, int) or one < 1 for one in given):
        raise ValueError(_REPEATS_WANTED)
    return tuple(given) if isinstance(value, (list, tuple)) else int(value)


LADDER = levels("fractions of the full job, ascending (default: the definition's ladder)")
REPEATS = Argument(
    None, "runs at each rung: one number, or one for each rung (default 2 at the lowest, 1 at the others)", _read_repeats, _REPEATS_WANTED
)
CONFIGURATIONS = whole(None, 1, "configurations that are taken (default: all of a finite space, 8 of a continuous one)")
STRETCH = number(
    None,
    "seconds that the lowest rung is to train, or twice its start-up; else the ladder is stretched (default 60 on paid instances, else 0)",
    lower=0.0,
)


class CanaryLadder(Method):
    """Suggests canaries rung by rung, all configurations at one rung before the next, so that drift of the machine hits them alike.

    Where ladders are stretched, the first configuration probes the lowest rung before all others run.
    """

    arguments: ClassVar[Mapping[str, Argument]] = {
        "ladder": LADDER,
        "repeats": REPEATS,
        "configurations": CONFIGURATIONS,
        "stretch_s": STRETCH,
    }
    finite = True
    hears_levels = False
    measures_repeats = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition has no per-job fidelity, or the ladder leaves it."""
        self._context = context
        fidelity = per_job("CANARY", context.fidelity)
        ladder = tuple(context.arguments.get("ladder") or fidelity.ladder)
        check_ladder(ladder, fidelity.full)
        self._repeats = repeats_of(ladder, context.arguments.get("repeats"), context.repeats)
        self._stretch = make_stretch(context, ladder, fidelity.full)
        self.independent = self._stretch.settled
        self._probing: tuple[str, float] | None = None
        self._probed: dict[str, float] = {}
        self._unfit: set[str] = set()
        self._chosen: list[dict[str, Any]] | None = None
        self._rest: Iterator[Suggestion] | None = None

    def ready(self) -> bool:
        """Return whether no probe is under way whose length decides the levels of all others."""
        return self._probing is None

    def suggest(self) -> Suggestion | None:
        """Return the next canary, or None when the ladder is done."""
        while not self._stretch.settled:
            left = [one for one in self._candidates() if configuration_id(one) not in self._unfit]
            if left:
                self._probing = configuration_id(left[0]), self._stretch.ladder[0]
                return Suggestion(left[0], self._stretch.ladder[0])
            self._stretch.keep()
        if self._rest is None:
            self._rest = self._all()
        return next(self._rest, None)

    def plan(self) -> list[Suggestion]:
        """Return as many canaries as run at most, at the levels before the ladder is stretched."""
        found = [Suggestion(one, *rung) for rung in rungs(self._stretch.ladder, self._repeats) for one in self._candidates()]
        return found if self._stretch.settled else [*found, *found[:1] * MOST_STRETCHES]

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, float]) -> None:
        """Take in how long the probe trained; one that was interrupted says nothing, and the next configuration probes."""
        self._heard(evaluation, canary_values(result))

    def on_trial_error(self, evaluation: Evaluation) -> None:
        """Let the next configuration probe."""
        self._heard(evaluation, {})

    def _heard(self, evaluation: Evaluation, values: Mapping[str, float]) -> None:
        probed, level = configuration_id(evaluation.configuration), evaluation.level
        if self._probing != (probed, level) or level is None:
            return
        self._probing = None
        self._probed[probed] = level
        if values.get("total_s"):
            self._stretch.update(values)
        else:
            self._unfit.add(probed)

    def _candidates(self) -> list[dict[str, Any]]:
        if self._chosen is None:
            self._chosen = candidates(self._context, self._context.arguments.get("configurations"), self.refuse)
        return self._chosen

    def _all(self) -> Iterator[Suggestion]:
        for level, repeat in rungs(self._stretch.ladder, self._repeats):
            for configuration in self._candidates():
                # A probe at the level that it settled on is this very canary.
                if repeat or self._probed.get(configuration_id(configuration)) != level:
                    yield Suggestion(configuration, level, repeat)


def make_stretch(context: MethodContext, ladder: tuple[float, ...], full: float) -> Stretch:
    """Return the ladder that stretches itself as the arguments say, or as suits the instance types that can be asked for."""
    wanted_s = context.arguments.get("stretch_s")
    if wanted_s is None:
        domain = context.space.domains.get("instance_type") if context.space is not None else None
        asked = [{"instance_type": name} for name in domain.grid(0)] if domain is not None else context.configurations or ({},)
        wanted_s = default_seconds([{**context.fixed, **one} for one in asked])
    return Stretch(ladder, full, wanted_s)


def check_ladder(ladder: tuple[float, ...], full: float) -> None:
    """Raise `UserError` where a rung is above the full job."""
    if any(level > full for level in ladder):
        raise UserError(
            f"ladder {', '.join(f'{level:g}' for level in ladder)}", f"the full job is {full:g}", "give fractions of at most that"
        )
