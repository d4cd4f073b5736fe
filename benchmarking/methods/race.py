"""RACE: beginnings of full jobs, or canaries, of a finite set of configurations, each where it tells most, until the best is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from benchmarking.analysis.measurements import canary_values
from benchmarking.controller.method import Decision, Evaluation, Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import Argument, flag, number, whole
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.data.experiment import full_level
from benchmarking.forecasting.ladder.after_prefix import any_has_rest
from benchmarking.forecasting.ladder.levels import rungs
from benchmarking.forecasting.ladder.metric_race import metric_race
from benchmarking.forecasting.ladder.prefix_race import BEGINNING, prefixes_of
from benchmarking.forecasting.ladder.race import race_status
from benchmarking.forecasting.ladder.race_draws import objective_draws, quantile_of
from benchmarking.forecasting.ladder.race_status import COST, TIME, RaceDecision, RaceSettings, RaceStatus
from benchmarking.forecasting.ladder.run_costs import usd_per_second
from benchmarking.forecasting.ladder.stretch import MOST_STRETCHES, Stretch
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.prefix.measured import without_delay
from benchmarking.forecasting.prefix.stopping import PrefixRule, is_enough
from benchmarking.forecasting.running.projection import Openness, project
from benchmarking.methods.canary import CONFIGURATIONS, LADDER, PREFIXES, STRETCH, ladder_of, make_stretch, tells_its_total
from benchmarking.methods.candidates import candidates
from benchmarking.methods.measured_canary import heard_canary
from benchmarking.report.labels import label, varying_keys
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.parts import is_timed
from definitions.schema import Prefix

_RACED: Mapping[tuple[str, ...], str] = {
    (TIME,): "time: the configuration whose full job takes least wins",
    (COST,): "cost: the configuration whose full job costs least wins",
}

_ENDS = (RaceDecision.DECIDED, RaceDecision.TIED, RaceDecision.NARROW)


class Race(Method):
    """Races configurations to the lowest forecast of cost or time; with both as objectives, to their Pareto set.

    Where neither is an objective, or `metric` says so, they race for what jobs report, by small jobs and their learning curves.
    """

    arguments: ClassVar[Mapping[str, Argument]] = {
        "ladder": LADDER,
        "configurations": CONFIGURATIONS,
        "stretch_s": STRETCH,
        "prefix": PREFIXES,
        "confidence": number(0.9, "probability that nothing is better than the winner by more than the tolerance", above=0.5, upper=0.999),
        "tolerance": number(0.05, "share by which configurations may differ and still count as alike", lower=0.0, upper=1.0),
        "repeats": whole(3, 1, "most runs of a configuration at one rung"),
        "budget_usd": number(None, "dollars that the canaries may cost; not decided where that is too little", above=0.0),
        "full_runs": number(4.0, "full jobs that the winner is wanted for: knowing more must save more on them than it costs", above=0.0),
        "width": number(None, "half of the leader's 80 % interval, as a share of its median, at which it is known well enough", above=0.0),
        "metric": Argument(
            None, "objective that jobs report to race for (default: the first one, where neither cost nor time is one)", str, "a name"
        ),
        "run_winner": flag(False, "whether the winner runs in full at the end, which scores its forecast"),
    }
    finite = True
    hears_levels = False
    measures_repeats = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where small jobs are needed and the definition has none, or what is raced for is no objective."""
        self._context = context
        given = context.arguments
        self._metric = _metric_of(context, given["metric"])
        ladder = ladder_of("RACE", context, given["prefix"] if self._metric is None else False)
        self._full, self._rule = full_level(context.fidelity), PrefixRule.of(context.fidelity)
        self._uses_prefixes: bool | None = True if isinstance(context.fidelity, Prefix) or not ladder else given["prefix"]
        if self._metric is not None:
            if not ladder:
                raise UserError(
                    f"method RACE for {self._metric}", "the fidelity names no argument for small jobs", "add one: argument: fraction"
                )
            self._uses_prefixes = False  # what a job reports at its end no beginning tells
        self._said: dict[int, ProgressCurve] = {}
        self._bounds: dict[str, float] = {}  # 95 % bound of the objective, of each configuration whose beginning told it
        self._stretch = make_stretch(context, ladder, self._full) if self._metric is None else Stretch(ladder, self._full, 0.0)
        objectives = _priced(context) if self._metric is None else (self._metric,)
        self.settings = RaceSettings(
            ladder=tuple(level / self._full for level in ladder),
            objectives=objectives,
            confidence=given["confidence"],
            tolerance=given["tolerance"],
            repeats=given["repeats"],
            most_usd=given["budget_usd"],
            full_runs=given["full_runs"],
            width=given["width"],
            billing=Billing(context.region, options=context.options),
            prefixes=bool(self._uses_prefixes),
        )
        mode = "" if self._metric is None else {"min": "least", "max": "most"}[context.objectives[self._metric]]
        metric = f"{self._metric}: the configuration whose full job reports the {mode} wins"
        self.about = f"RACE races for {metric if mode else _RACED.get(objectives, 'time and cost: their Pareto set wins')}"
        self._run_winner = given["run_winner"]
        self._candidates: dict[str, dict[str, object]] | None = None
        self._canaries: dict[str, list[Canary]] = {}
        self._dropped: list[str] = []
        self.pending: dict[str, list[Canary]] = {}
        self._winner_runs = False
        self.status: RaceStatus | None = None

    def ready(self) -> bool:
        """Return whether the next run is known: all may run at once at the lowest rung, later ones wait for what is under way.

        The others wait for the first one's probe of the lowest rung, where that tells how the race goes on.
        """
        if self._probes:
            return not any(self.pending.values())
        return not any(self.pending.values()) or self._at_lowest() is not None

    @property
    def _probes(self) -> bool:
        """Whether the next run is the first one's probe: it shows whether jobs say how far they are, and by how much to stretch."""
        return self._uses_prefixes is None or (not self._uses_prefixes and not self._stretch.settled)

    def suggest(self) -> Suggestion | None:
        """Return the next canary; None when the race is over."""
        if self._probes and any(self.pending.values()):
            # Asked although it waits: by the journal of an earlier version, which had no probe.
            self._uses_prefixes = False
            self._stretch.keep()
        if self._probes:
            alive = [name for name in self._groups() if name not in self._dropped]
            if alive:
                return Suggestion(self._groups_by_name()[alive[0]], self._stretch.ladder[0])
            self._uses_prefixes = False
            self._stretch.keep()
        if not any(self.pending.values()):
            self.status = self._stands()
        step = self._at_lowest() if any(self.pending.values()) else (self.status.next if self.status is not None else None)
        if step is None:
            return self._in_full()
        name, level, repeat = step
        if self.settings.prefixes and level == BEGINNING:
            rule = self._rule.longer(repeat)
            return Suggestion(self._groups_by_name()[name], self._full, repeat, prefix_s=rule.most_s)
        return Suggestion(self._groups_by_name()[name], self._level(level), repeat)

    def _stands(self) -> RaceStatus:
        if self._metric is not None:
            return metric_race(self._groups(), self._dropped, self.settings, self._context.objectives[self._metric])
        return race_status(self._groups(), self._dropped, self.settings, self._context.seed)

    def on_trial_add(self, evaluation: Evaluation) -> None:
        """Count the run as under way."""
        run = self._canary(evaluation, {})
        self.pending.setdefault(run.configuration, []).append(run)

    def on_progress(self, evaluation: Evaluation, progress: ProgressCurve) -> Decision:
        """Stop a prefix that has told enough, or that has lost."""
        self._said[evaluation.id] = progress
        if evaluation.prefix_s is None:
            return Decision.CONTINUE
        is_over = is_enough(progress, self._rule.longer(evaluation.repeat)) or self._has_lost(evaluation, progress)
        return Decision.STOP if is_over else Decision.CONTINUE

    def _has_lost(self, evaluation: Evaluation, progress: ProgressCurve) -> bool:
        """Return whether a running prefix's interval is beyond the best other's by more than the tolerance."""
        if len(self.settings.objectives) > 1:
            return False
        own, found = self._canary(evaluation, {}), project(without_delay(progress) or progress)
        bounds = [bound for name, bound in self._bounds.items() if name != own.configuration]
        if not bounds or isinstance(found, Openness):
            return False
        each = usd_per_second(own, self.settings) if self.settings.objectives[0] == COST else 1.0
        return found.lo90_s * each > min(bounds) * (1 + self.settings.tolerance)

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, float]) -> None:
        """Take in what a run measured; a canary that was interrupted is run again."""
        values, said = canary_values(result), self._said.pop(evaluation.id, None)
        run = self._canary(evaluation, values, said)
        if self._metric is not None and self._metric in result:
            run = replace(run, about={**run.about, self._metric: float(result[self._metric])})
        self._done(run)
        if values.get("total_s") and not run.is_full:
            self._groups()[run.configuration].append(run)
            if any_has_rest(self._groups()[run.configuration]):
                draws = objective_draws({run.configuration: self._groups()[run.configuration]}, self.settings, self._context.seed)
                self._bounds[run.configuration] = quantile_of(draws[run.configuration][self.settings.objectives[0]], 0.95)
            if self._uses_prefixes is None:
                self._uses_prefixes = tells_its_total(said)
                self.settings = replace(self.settings, prefixes=self._uses_prefixes)
            if not self._uses_prefixes and not self._stretch.settled:
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
        times = [] if self._uses_prefixes is False else range(self.settings.repeats)
        found = [Suggestion(one, self._full, k, prefix_s=self._rule.longer(k).most_s) for k in times for one in chosen]
        found += [Suggestion(one, *rung) for rung in most for one in chosen]
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
        """Return a configuration that has not run at the lowest rung, or its beginning, and is not about to; None where there is none."""
        if self.settings.prefixes:
            waiting = {name: not prefixes_of([*group, *self.pending.get(name, [])]) for name, group in self._groups().items()}
            return next(((name, BEGINNING, 0) for name in waiting if waiting[name] and name not in self._dropped), None)
        # Of a curve two rungs are needed.
        for level in self.settings.ladder[: 1 if self._metric is None else 2]:
            for repeat in range(self.settings.first):
                for name, group in self._groups().items():
                    begun = sum(abs(one.fraction - level) < 1e-9 for one in [*group, *self.pending.get(name, [])])
                    if name not in self._dropped and begun <= repeat:
                        return name, level, repeat
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

    def _canary(self, evaluation: Evaluation, values: Mapping[str, float], said: ProgressCurve | None = None) -> Canary:
        identity = configuration_id(evaluation.configuration)
        name = next(name for name, one in self._groups_by_name().items() if configuration_id(one) == identity)
        return heard_canary(self._context, name, evaluation, values, said)

    def _done(self, run: Canary) -> None:
        pending = self.pending.get(run.configuration, [])
        for number_of, one in enumerate(pending):
            if (one.fraction, one.repeat, one.status) == (run.fraction, run.repeat, run.status):
                del pending[number_of]
                return


def _priced(context: MethodContext) -> tuple[str, ...]:
    """Return cost, time or both, as far as they are objectives."""
    raced = {"billable_s": TIME, TIME: TIME, COST: COST}
    return tuple(dict.fromkeys(raced[name] for name, mode in context.objectives.items() if name in raced and mode == "min"))


def _metric_of(context: MethodContext, asked: str | None) -> str | None:
    """Return the objective that jobs report which is raced for; None where that is cost or time.

    Raises:
        UserError: it is no objective, or cost or time.
    """
    reported = [name for name in context.objectives if not is_timed(name)]
    if asked is None:
        if _priced(context):
            return None
        if not reported:
            advice = "add `cost_usd: min` or `duration_s: min` to the objectives, or one that the script reports"
            raise UserError(
                "method RACE races for cost, time or what jobs report", f"the objectives are {', '.join(context.objectives)}", advice
            )
        return reported[0]
    if asked not in reported:
        raise UserError(
            f"method RACE with metric={asked}", f"objectives that jobs report are {', '.join(reported) or 'none'}", "name one of them"
        )
    return asked
