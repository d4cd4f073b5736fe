"""RACE: canaries on a finite set of configurations, each where it tells most for its price, until the cheapest full job is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from benchmarking.analysis.measurements import canary_values
from benchmarking.controller.method import Evaluation, Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import Argument, flag, number, whole
from benchmarking.forecasting.data.canary import Canary, canary_from
from benchmarking.forecasting.ladder.levels import per_job, rungs
from benchmarking.forecasting.ladder.race import race_status
from benchmarking.forecasting.ladder.race_status import COST, TIME, RaceDecision, RaceSettings, RaceStatus
from benchmarking.forecasting.ladder.stretch import MOST_STRETCHES
from benchmarking.forecasting.model.billing import Billing
from benchmarking.methods.canary import CONFIGURATIONS, LADDER, STRETCH, check_ladder, make_stretch
from benchmarking.methods.candidates import candidates
from benchmarking.report.labels import label, varying_keys
from definitions.configuration import configuration_id
from definitions.errors import UserError

_ENDS = (RaceDecision.DECIDED, RaceDecision.TIED, RaceDecision.NARROW)


class Race(Method):
    """Races configurations to the lowest forecast of cost or time; with both as objectives, to their Pareto set."""

    arguments: ClassVar[Mapping[str, Argument]] = {
        "ladder": LADDER,
        "configurations": CONFIGURATIONS,
        "stretch_s": STRETCH,
        "confidence": number(0.9, "probability that nothing is better than the winner by more than the tolerance", above=0.5, upper=0.999),
        "tolerance": number(0.05, "share by which configurations may differ and still count as alike", lower=0.0, upper=1.0),
        "repeats": whole(3, 1, "most runs of a configuration at one rung"),
        "budget_usd": number(None, "dollars that the canaries may cost; not decided where that is too little", above=0.0),
        "full_runs": number(4.0, "full jobs that the winner is wanted for: knowing more must save more on them than it costs", above=0.0),
        "width": number(None, "half of the leader's 80 % interval, as a share of its median, at which it is known well enough", above=0.0),
        "run_winner": flag(False, "whether the winner runs in full at the end, which scores its forecast"),
    }
    finite = True
    hears_levels = False
    measures_repeats = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition has no per-job fidelity, or neither cost nor time as an objective."""
        self._context = context
        fidelity = per_job("RACE", context.fidelity)
        given = context.arguments
        ladder = tuple(given["ladder"] or fidelity.ladder)
        check_ladder(ladder, fidelity.full)
        self._full, self._family = fidelity.full, fidelity.family or ""
        self._stretch = make_stretch(context, ladder, fidelity.full)
        raced = {"billable_s": TIME, TIME: TIME, COST: COST}
        objectives = tuple(dict.fromkeys(raced[name] for name, mode in context.objectives.items() if name in raced and mode == "min"))
        if not objectives:
            advice = "add `cost_usd: min` or `duration_s: min` to the objectives, or use ASHA or BO"
            raise UserError("method RACE races for cost or time", f"the objectives are {', '.join(context.objectives)}", advice)
        self.settings = RaceSettings(
            ladder=tuple(level / self._full for level in ladder),
            objectives=objectives,
            confidence=given["confidence"],
            tolerance=given["tolerance"],
            repeats=given["repeats"],
            most_usd=given["budget_usd"],
            full_runs=given["full_runs"],
            width=given["width"],
            billing=Billing(context.region),
        )
        self._run_winner = given["run_winner"]
        self._candidates: dict[str, dict[str, object]] | None = None
        self._canaries: dict[str, list[Canary]] = {}
        self._dropped: list[str] = []
        self.pending: dict[str, list[Canary]] = {}
        self._winner_runs = False
        self.status: RaceStatus | None = None

    def ready(self) -> bool:
        """Return whether the next run is known: all may run at once at the lowest rung, later ones wait for what is under way.

        Where ladders are stretched, the others wait for the first one's probe of the lowest rung.
        """
        if not self._stretch.settled:
            return not any(self.pending.values())
        return not any(self.pending.values()) or self._at_lowest() is not None

    def suggest(self) -> Suggestion | None:
        """Return the next canary; None when the race is over."""
        if not self._stretch.settled:
            alive = [name for name in self._groups() if name not in self._dropped]
            if alive:
                return Suggestion(self._groups_by_name()[alive[0]], self._stretch.ladder[0])
            self._stretch.keep()
        if not any(self.pending.values()):
            self.status = race_status(self._groups(), self._dropped, self.settings, self._context.seed)
        step = self._at_lowest() if any(self.pending.values()) else (self.status.next if self.status is not None else None)
        if step is None:
            return self._in_full()
        name, level, repeat = step
        return Suggestion(self._groups_by_name()[name], self._level(level), repeat)

    def on_trial_add(self, evaluation: Evaluation) -> None:
        """Count the run as under way."""
        run = self._canary(evaluation, {})
        self.pending.setdefault(run.configuration, []).append(run)

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, float]) -> None:
        """Take in what a canary measured; one that was interrupted is run again."""
        values = canary_values(result)
        run = self._canary(evaluation, values)
        self._done(run)
        if values.get("total_s") and run.fraction < 1.0:
            self._groups()[run.configuration].append(run)
            if not self._stretch.settled:
                self._stretch.update(values)
                self.settings = replace(self.settings, ladder=tuple(one / self._full for one in self._stretch.ladder))

    def on_trial_error(self, evaluation: Evaluation) -> None:
        """Drop the configuration: it fails, or its memory does not suffice even for a canary."""
        run = self._canary(evaluation, {})
        self._done(run)
        if run.configuration not in self._dropped:
            self._dropped.append(run.configuration)

    def plan(self) -> list[Suggestion]:
        """Return all canaries that the race may come to, and the winner's full run; it ends before."""
        most = rungs(self._stretch.ladder, (self.settings.repeats,) * len(self._stretch.ladder))
        chosen = list(self._groups_by_name().values())
        found = [Suggestion(one, *rung) for rung in most for one in chosen]
        found += found[:1] * (0 if self._stretch.settled else MOST_STRETCHES)
        return found + ([Suggestion(chosen[0], self._full)] if self._run_winner and chosen else [])

    def conclude(self) -> tuple[bool, str] | None:
        """Return whether the race is decided, and in words how it ended; None before it has."""
        found = self.status
        if found is None:
            return None
        decided = found.decision in _ENDS
        names = ", ".join(found.tied[:4])
        return decided, f"race {found.decision}: {names or 'none'} ({found.reason}; confidence {found.confidence:.0%})"

    def _groups_by_name(self) -> dict[str, dict[str, object]]:
        if self._candidates is None:
            chosen = candidates(self._context, self._context.arguments.get("configurations"), self.refuse)
            keys = varying_keys(chosen)
            self._candidates = {label(configuration, keys): configuration for configuration in chosen}
            self._canaries = {name: [] for name in self._candidates}
        return self._candidates

    def _groups(self) -> dict[str, list[Canary]]:
        self._groups_by_name()
        return self._canaries

    def _at_lowest(self) -> tuple[str, float, int] | None:
        """Return a configuration that has not run at the lowest rung and is not about to; None where there is none."""
        lowest = self.settings.ladder[0]
        for repeat in range(self.settings.first):
            for name, group in self._groups().items():
                begun = sum(abs(one.fraction - lowest) < 1e-9 for one in [*group, *self.pending.get(name, [])])
                if name not in self._dropped and begun <= repeat:
                    return name, lowest, repeat
        return None

    def _in_full(self) -> Suggestion | None:
        found = self.status
        if not self._run_winner or self._winner_runs or found is None or found.winner is None:
            return None
        if found.decision not in _ENDS:
            return None
        self._winner_runs = True
        return Suggestion(self._groups_by_name()[found.winner], self._full)

    def _level(self, fraction: float) -> float:
        return next((level for level in self._stretch.ladder if abs(level / self._full - fraction) < 1e-12), fraction * self._full)

    def _canary(self, evaluation: Evaluation, values: Mapping[str, float]) -> Canary:
        identity = configuration_id(evaluation.configuration)
        name = next(name for name, one in self._groups_by_name().items() if configuration_id(one) == identity)
        resources = {**self._context.fixed, **evaluation.configuration}
        instance_type = str(resources.get("instance_type") or "")
        count = int(str(resources.get("instance_count") or 1))
        known = {"instance_type": instance_type, "instance_count": count, "family": self._family}
        fraction = (evaluation.level or self._full) / self._full
        return canary_from(name, fraction, evaluation.repeat, values, **known)

    def _done(self, run: Canary) -> None:
        pending = self.pending.get(run.configuration, [])
        for number_of, one in enumerate(pending):
            if one.fraction == run.fraction and one.repeat == run.repeat:
                del pending[number_of]
                return
