"""CANARY: the beginning of each full job, or small ones on a ladder of fractions, so that forecasts of the full job can be made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from benchmarking.analysis.measurements import canary_values
from benchmarking.controller.method import Decision, Evaluation, Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import Argument, flag, levels, number, whole
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.data.experiment import full_level
from benchmarking.forecasting.ladder.levels import per_job, repeats_of, rungs
from benchmarking.forecasting.ladder.stretch import MOST_STRETCHES, TRAINED_S, Stretch
from benchmarking.forecasting.prefix.stopping import PrefixRule, is_enough
from benchmarking.methods.candidates import candidates
from benchmarking.methods.measured_canary import heard_canary
from benchmarking.methods.prefix_steps import PrefixSteps
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.schema import PerJob, Prefix

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
    None, "processor seconds that the fit of the highest rung is to take, else the ladder is stretched (default 3; 0: as it is)", lower=0.0
)
PREFIXES = Argument(
    None,
    "whether the beginning of the full job is run in place of the ladder (default: where the first small job says how far it is)",
    flag(False, "").read,
    "true or false",
)


class CanaryLadder(Method):
    """Suggests what tells most of full jobs: their beginnings where jobs say how far they are, else canaries rung by rung.

    On a ladder all configurations run at one rung before the next, so that drift of the machine hits them alike. The first configuration
    probes the lowest rung before all others run: it shows whether jobs say how far they are, and by how much the ladder is stretched.
    """

    arguments: ClassVar[Mapping[str, Argument]] = {
        "ladder": LADDER,
        "repeats": REPEATS,
        "configurations": CONFIGURATIONS,
        "stretch_s": STRETCH,
        "prefix": PREFIXES,
    }
    finite = True
    hears_levels = False
    measures_repeats = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where small jobs are asked for and the definition has none, or the ladder leaves its fidelity."""
        self._context = context
        fidelity, asked = context.fidelity, context.arguments.get("prefix")
        ladder = ladder_of("CANARY", context, asked)
        self._rule = PrefixRule.of(fidelity)
        self._uses_prefixes: bool | None = True if isinstance(fidelity, Prefix) or not ladder else asked
        self._repeats = repeats_of(ladder, context.arguments.get("repeats"), context.repeats)
        full = full_level(fidelity)
        self._stretch = make_stretch(context, ladder, full)
        self._steps = PrefixSteps(self._candidates, full, rungs(ladder, self._repeats), self._rule.most_s)
        self.independent = self._uses_prefixes is False and self._stretch.settled
        self._probing: tuple[str, float] | None = None
        self._probed: dict[str, float] = {}
        self._unfit: set[str] = set()
        self._said: dict[int, ProgressCurve] = {}
        self._chosen: list[dict[str, Any]] | None = None
        self._rest: Iterator[Suggestion] | None = None

    def ready(self) -> bool:
        """Return whether nothing is under way that what runs next depends on."""
        if self._probing is not None:
            return False
        return not self._uses_prefixes or self._steps.next() is not None or not self._steps.is_waiting

    def suggest(self) -> Suggestion | None:
        """Return the next canary, or None when enough is known."""
        if self._probing is not None:
            # Asked although it waits: by the journal of an earlier version, which had no probe.
            self._probed.update([self._probing])
            self._probing, self._uses_prefixes = None, False
            self._stretch.keep()
        while self._uses_prefixes is None or (not self._uses_prefixes and not self._stretch.settled):
            left = [one for one in self._candidates() if configuration_id(one) not in self._unfit]
            if left:
                self._probing = configuration_id(left[0]), self._stretch.ladder[0]
                return Suggestion(left[0], self._stretch.ladder[0])
            self._uses_prefixes = False
            self._stretch.keep()
        if self._uses_prefixes:
            return self._steps.next()
        if self._rest is None:
            self._rest = self._all()
        return next(self._rest, None)

    def plan(self) -> list[Suggestion]:
        """Return as many canaries as run at most, at the levels before the ladder is stretched."""
        steps = [] if self._uses_prefixes is False else self._steps.plan()
        if self._uses_prefixes:
            return steps
        found = [Suggestion(one, *rung) for rung in rungs(self._stretch.ladder, self._repeats) for one in self._candidates()]
        found += [] if self._stretch.settled else found[:1] * MOST_STRETCHES
        return max(found, steps, key=len)

    def on_trial_add(self, evaluation: Evaluation) -> None:
        """Count the run as under way."""
        self._steps.begin(evaluation)

    def on_progress(self, evaluation: Evaluation, progress: ProgressCurve) -> Decision:
        """Stop a prefix that has told enough."""
        self._said[evaluation.id] = progress
        return Decision.STOP if evaluation.prefix_s is not None and is_enough(progress, self._rule) else Decision.CONTINUE

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, float]) -> None:
        """Take in what a run measured; a probe that was interrupted says nothing, and the next configuration probes."""
        values, said = canary_values(result), self._said.pop(evaluation.id, None)
        name = configuration_id(evaluation.configuration)
        self._steps.take(evaluation, heard_canary(self._context, name, evaluation, values, said))
        self._heard(evaluation, values, said)

    def on_trial_error(self, evaluation: Evaluation) -> None:
        """Spend nothing more on the configuration, and let the next one probe."""
        self._steps.take(evaluation, None)
        self._heard(evaluation, {}, None)

    def _heard(self, evaluation: Evaluation, values: Mapping[str, float], said: ProgressCurve | None) -> None:
        probed, level = configuration_id(evaluation.configuration), evaluation.level
        if self._probing != (probed, level) or level is None:
            return
        self._probing = None
        self._probed[probed] = level
        if not values.get("total_s"):
            self._unfit.add(probed)
            return
        if self._uses_prefixes is None:
            self._uses_prefixes = tells_its_total(said)
        if not self._uses_prefixes:
            self._stretch.update(values)

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


def ladder_of(method: str, context: MethodContext, prefix: bool | None) -> tuple[float, ...]:
    """Return the levels of small jobs, ascending; empty where the script has none, so that only its beginning can be run.

    Args:
        method: its name, for messages.
        context: of the method.
        prefix: whether the beginning is to be run; False where small jobs alone are.

    Raises:
        UserError: a rung is above the full job; or small jobs alone are asked for, and there are none.
    """
    fidelity, given = context.fidelity, context.arguments.get("ladder")
    if prefix is False or given:
        fidelity = per_job(method, fidelity)
    if not isinstance(fidelity, PerJob):
        return ()
    per_job(method, fidelity)
    if fidelity.argument is None:
        return ()
    ladder = tuple(given or fidelity.ladder)
    check_ladder(ladder, fidelity.full)
    return ladder


def tells_its_total(said: ProgressCurve | None) -> bool:
    """Return whether a small job said how far it was, and of how much, if only at most, so that the full job's beginning tells its end."""
    return said is not None and ((said.total is not None and not said.is_found) or said.at_most is not None)


def make_stretch(context: MethodContext, ladder: tuple[float, ...], full: float) -> Stretch:
    """Return the ladder that stretches itself as the arguments say; one without rungs is left as it is."""
    wanted_s = context.arguments.get("stretch_s")
    return Stretch(ladder, full, (TRAINED_S if wanted_s is None else wanted_s) if ladder else 0.0)


def check_ladder(ladder: tuple[float, ...], full: float) -> None:
    """Raise `UserError` where a rung is above the full job."""
    if any(level > full for level in ladder):
        raise UserError(
            f"ladder {', '.join(f'{level:g}' for level in ladder)}", f"the full job is {full:g}", "give fractions of at most that"
        )
