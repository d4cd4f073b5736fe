"""Which canary to run next so that the best configuration is known soonest, and when it is known. Pure.

Leader against challenger as in LUCB (Kalyanakrishnan et al., "PAC subset selection in stochastic multi-armed bandits", ICML 2012), with
draws of the posterior in place of Hoeffding bounds: a few runs with small, known noise deserve better. The criterion is PAC: with the
chosen confidence no configuration is better than the winner by more than the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.ladder.after_prefix import any_has_rest
from benchmarking.forecasting.ladder.next_run import best_next_run, highest_level, runs_at
from benchmarking.forecasting.ladder.prefix_race import first_step, is_comparable
from benchmarking.forecasting.ladder.race_draws import fits, half_width, laws_of, objective_draws
from benchmarking.forecasting.ladder.race_status import COST, RaceDecision, RaceSettings, RaceStatus
from benchmarking.forecasting.ladder.run_costs import expected_usd, is_quiet, spent_usd, usd_per_second
from benchmarking.forecasting.model.evidence import findings
from benchmarking.forecasting.model.fit import fit_all
from benchmarking.forecasting.model.result import Status
from benchmarking.report.text import dollars

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray


def race_status(groups: Mapping[str, Sequence[Canary]], dropped: Sequence[str], settings: RaceSettings, seed: int = 0) -> RaceStatus:
    """Return how a race stands after some canaries.

    Args:
        groups: canaries by configuration, an empty list where there is none yet; the order is that of the candidates.
        dropped: configurations whose runs failed.
        settings: of the race.
        seed: of the draws.
    """
    alive = [name for name in groups if name not in dropped]
    if not alive:
        return RaceStatus(RaceDecision.NOTHING_FITS, None, (), None, 0.0, "no configuration ran to its end")
    # Step 1: every configuration runs at the lowest rung, or its beginning does, in the order of the candidates.
    step, reason = _first(groups, alive, settings)
    if step is not None:
        return RaceStatus(RaceDecision.OPEN, None, (), step, 0.0, reason)
    alive = [name for name in alive if is_comparable(groups[name])]
    if not alive:
        return RaceStatus(RaceDecision.NOT_DECIDED, None, (), None, 0.0, "no job told when it ends, and there are no small jobs")
    # Step 2: what cannot fit in memory is out, however fast it is.
    alive = [name for name in alive if fits(groups[name])]
    if not alive:
        reason = "the full job needs more memory than any of the instance types has"
        return RaceStatus(RaceDecision.NOTHING_FITS, None, (), None, 0.0, reason)
    # Step 3: the rest are compared by draws of their full jobs, ranked by their mean on the log scale.
    draws = objective_draws({name: groups[name] for name in alive}, settings, seed)
    found = _compared(groups, alive, draws, settings, seed)
    # Step 4: a run that the money does not suffice for is not made.
    return within_budget(found, groups, settings)


def _first(
    groups: Mapping[str, Sequence[Canary]], alive: Sequence[str], settings: RaceSettings
) -> tuple[tuple[str, float, int] | None, str]:
    """Return the run that every configuration needs first, and why in words; None where all have had it."""
    if settings.prefixes:
        return first_step(groups, alive, settings), "every configuration begins its full job"
    lowest = settings.ladder[0]
    for repeat in range(settings.first):
        for name in alive:
            if runs_at(groups[name], lowest) <= repeat:
                return (name, lowest, repeat), "every configuration runs at the lowest rung"
    return None, ""


def _compared(
    groups: Mapping[str, Sequence[Canary]],
    alive: Sequence[str],
    draws: Mapping[str, Mapping[str, FloatArray]],
    settings: RaceSettings,
    seed: int,
) -> RaceStatus:
    """Return the status by the draws of each configuration's objectives, whatever the next run costs."""
    import numpy as np

    logs = {name: np.log(draws[name][settings.objectives[0]]) for name in alive}
    ranked = sorted(alive, key=lambda name: float(logs[name].mean()))
    leader, others = ranked[0], ranked[1:]
    if not others:
        return RaceStatus(RaceDecision.DECIDED, leader, (leader,), None, 1.0, "it is the only one that can run")
    # A decision never rests on the lowest rung alone: the leaders are taken beyond it first, whatever the draws say.
    for name in ranked[: settings.least]:
        if any_has_rest(groups[name]):
            continue
        if len(settings.ladder) > 1 and highest_level(groups[name]) <= settings.ladder[0] and not laws_of(groups[name]).steady:
            sure = _share_within(logs[leader], np.minimum.reduce([logs[other] for other in others]), settings.tolerance)
            upwards = (name, settings.ladder[1], 0)
            return RaceStatus(
                RaceDecision.OPEN, leader, tuple(ranked[: settings.least]), upwards, sure, "the leaders go beyond the lowest rung"
            )
    if len(settings.objectives) > 1:
        return _pareto(groups, ranked, draws, settings, seed)
    return _single(groups, ranked, {name: draws[name][settings.objectives[0]] for name in alive}, settings, seed)


def _refusal(groups: Mapping[str, Sequence[Canary]], name: str) -> str:
    """Return why the evidence carries no forecast of a configuration's time, as the table of forecasts has it; empty where it does.

    The width of a forecast is no reason: that is in the draws.
    """
    if any_has_rest(groups[name]):
        return ""
    item = fit_all(groups, 1.0)[name]
    metric = "quiet_s" if all(is_quiet(group) for group in groups.values() if group) else "total_s" if item.time is not None else "cpu_s"
    refused = [text for status, text in findings(item, metric) if status is Status.NOT_DECIDED]
    return refused[0] if refused else ""


def _climbs(group: Sequence[Canary], name: str, settings: RaceSettings) -> tuple[str, float, int] | None:
    """Return the next rung of a configuration, or its highest one once more; None where it has run that twice."""
    top = highest_level(group)
    higher = next((level for level in settings.ladder if level > top * 1.001), None)
    if higher is not None:
        return name, higher, 0
    return (name, top, 1) if runs_at(group, top) < min(2, settings.repeats) else None


def _share_within(mine: FloatArray, other: FloatArray, tolerance: float) -> float:
    """Return the probability, over draws (n,) of logs, that the first is worse than the other by at most the tolerance."""
    return float((mine <= other + math.log1p(tolerance)).mean())


def _single(
    groups: Mapping[str, Sequence[Canary]], ranked: Sequence[str], draws: Mapping[str, FloatArray], settings: RaceSettings, seed: int
) -> RaceStatus:
    """Return the status of a race for one objective, by its draws (n,)."""
    import numpy as np

    leader, others = ranked[0], ranked[1:]
    logs = {name: np.log(draws[name]) for name in ranked}
    best_other = np.minimum.reduce([logs[name] for name in others])
    # Probability that nothing is better by more than the tolerance, and that nothing is better at all.
    sure, strict = _share_within(logs[leader], best_other, settings.tolerance), _share_within(logs[leader], best_other, 0.0)
    beats = {name: _share_within(logs[leader], logs[name], settings.tolerance) for name in others}
    # What the table of forecasts refuses to say is no ground for a decision, however sure the comparison is: start-up that hides growth,
    # or time that falls as the data grows.
    against = _refusal(groups, leader)
    if sure >= settings.confidence and not against:
        # Decided. Those that are alike by more draws than not are tied, and the one that is cheaper to run wins.
        slack = math.log1p(settings.tolerance)
        alike = [leader, *(name for name in others if float((np.abs(logs[name] - logs[leader]) <= slack).mean()) >= 0.5)]
        if strict >= settings.confidence or len(alike) == 1:
            reason = f"nothing is better by more than {settings.tolerance:.0%}"
            return RaceStatus(RaceDecision.DECIDED, leader, (leader,), None, sure, reason)
        cheapest = min(alike, key=lambda name: (usd_per_second(groups[name][0], settings), ranked.index(name)))
        rest = tuple(name for name in alike if name != cheapest)
        reason = f"alike within {settings.tolerance:.0%}; the cheaper to run wins"
        return RaceStatus(RaceDecision.TIED, cheapest, (cheapest, *rest), None, sure, reason)
    # Those that may still be better, and the nearest of all.
    undecided = [name for name in others if beats[name] < settings.confidence or name == others[0]]
    tied = (leader, *undecided[: settings.least])
    half = half_width(draws[leader])
    if settings.width is not None and half <= settings.width:
        return RaceStatus(RaceDecision.NARROW, leader, tied, None, sure, f"{leader} leads, and is known to within {half:.0%}")
    # LUCB: the next run is the leader's or that of the challenger that is likeliest to beat it, where one of them has a run left.
    # What is out by itself, each at its share of the doubt that is allowed (Bonferroni), is not run again.
    step: tuple[str, float, int] | None = None
    still = [name for name in others if beats[name] < 1 - (1 - settings.confidence) / len(others)]
    for challenger in sorted(still or others[:1], key=beats.__getitem__):
        # Of a leader of which nothing is certain no comparison tells more than a higher rung of its own.
        step = _climbs(groups[leader], leader, settings) if against else best_next_run(groups, (leader, challenger), logs, settings, seed)
        if step is not None:
            break
    if step is None:
        reason = f"every rung is run, and {leader} leads with {sure:.0%} confidence only"
        if against:
            reason = f"every rung is run, and of {leader} nothing is certain: {against}"
        return RaceStatus(RaceDecision.NOT_DECIDED, leader, tied, None, sure, reason)
    # Expected opportunity loss of choosing the leader now, over all full jobs, against the price of knowing more.
    regret = float(np.maximum(np.exp(logs[leader]) - np.exp(best_other), 0.0).mean()) * settings.full_runs
    in_objective = 1.0 if settings.objectives[0] == COST else usd_per_second(groups[step[0]][0], settings)
    quiet = all(is_quiet(groups[name]) for name in ranked)
    if not against and regret < expected_usd(groups[step[0]], step[1], settings, quiet=quiet) / in_objective:
        reason = (
            f"knowing more would cost more than it saves on {settings.full_runs:g} full jobs; {leader} leads with {sure:.0%} confidence"
        )
        return RaceStatus(RaceDecision.NOT_DECIDED, leader, tied, None, sure, reason)
    return RaceStatus(RaceDecision.OPEN, leader, tied, step, sure, f"{leader} against {challenger}")


def _pareto(
    groups: Mapping[str, Sequence[Canary]],
    ranked: Sequence[str],
    draws: Mapping[str, Mapping[str, FloatArray]],
    settings: RaceSettings,
    seed: int,
) -> RaceStatus:
    """Return the status of a race for a Pareto set: whether each configuration is beaten in every objective is to be known."""
    import numpy as np

    # Probability that some other beats a configuration in every objective by more than the tolerance; the front is the rest.
    slack = math.log1p(settings.tolerance)
    logs = {name: {objective: np.log(draws[name][objective]) for objective in settings.objectives} for name in ranked}
    doubt: dict[str, float] = {}
    front = []
    for name in ranked:
        beaten = np.zeros(settings.draws, dtype=bool)
        for other in ranked:
            if other != name:
                beaten |= np.logical_and.reduce([logs[name][o] > logs[other][o] + slack for o in settings.objectives])
        share = float(beaten.mean())
        if share < 0.5:
            front.append(name)
        doubt[name] = min(share, 1 - share)
    # As sure as of the least certain one.
    sure, tied = 1 - max(doubt.values()), tuple(front)
    if sure >= settings.confidence:
        return RaceStatus(RaceDecision.DECIDED, front[0], tied, None, sure, "whether each is beaten in every objective is known")
    main = settings.objectives[0]
    half = max(half_width(draws[name][main]) for name in front)
    if settings.width is not None and half <= settings.width:
        return RaceStatus(RaceDecision.NARROW, front[0], tied, None, sure, f"each of the front is known to within {half:.0%}")
    # The next run is one of the least certain configuration that has a run left.
    for name in sorted(doubt, key=lambda one: -doubt[one]):
        step = best_next_run(groups, (name,), {one: logs[one][main] for one in ranked}, settings, seed)
        if step is not None and doubt[name] > 1 - settings.confidence:
            return RaceStatus(RaceDecision.OPEN, front[0], tied, step, sure, f"is {name} beaten?")
    return RaceStatus(RaceDecision.NOT_DECIDED, front[0], tied, None, sure, "every rung is run")


def within_budget(found: RaceStatus, groups: Mapping[str, Sequence[Canary]], settings: RaceSettings) -> RaceStatus:
    """Return the status, not decided where the next run would pass the money that canaries may cost."""
    if settings.most_usd is None or found.next is None:
        return found
    spent = spent_usd(groups, settings)
    coming = expected_usd(groups[found.next[0]], found.next[1], settings)
    if spent + coming <= settings.most_usd:
        return found
    reason = f"the next run would cost about {dollars(coming)}, which {dollars(settings.most_usd)} do not allow after {dollars(spent)}"
    return RaceStatus(RaceDecision.NOT_DECIDED, found.winner, found.tied, None, found.confidence, reason)
