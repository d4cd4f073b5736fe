"""Which canary to run next so that the best configuration is known soonest, and when it is known. Pure; used by RACE.

Leader against challenger as in LUCB (Kalyanakrishnan et al., "PAC subset selection in stochastic multi-armed bandits", ICML 2012), with
draws of the posterior in place of Hoeffding bounds: a few runs with small, known noise deserve better. The criterion is PAC: with the
chosen confidence no configuration is better than the winner by more than the tolerance.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from benchmarking.forecasting.data.table import COMPLETED, OUT_OF_MEMORY, Canary
from benchmarking.forecasting.model.billing import Billing, tables
from benchmarking.forecasting.model.expected_run import expected_run
from benchmarking.forecasting.model.fit import Fitted
from benchmarking.forecasting.model.memory import rss_growth
from benchmarking.forecasting.model.phases import Laws, cpu_laws, time_laws
from benchmarking.forecasting.model.power_law import sample_together
from definitions.instances import instance_facts

Array: TypeAlias = Any

TIME, COST = "duration_s", "cost_usd"


@dataclass(frozen=True)
class Rules:
    """The rules of a race.

    Args:
        ladder: levels as fractions of the full job, ascending.
        objectives: `cost_usd`, `duration_s`, or both for a Pareto set.
        confidence: that nothing is better than the winner by more than `tolerance` (a share).
        repeats: most runs of one configuration at one rung; `first`: at the lowest.
        least: configurations that are kept beyond the lowest rung.
        most_usd: money that canaries may cost; None for no limit of its own.
        full_runs: full jobs that the winner is wanted for: a race goes on only as long as knowing more can save more than it costs.
        width: half of the leader's 80 % interval over its median at which it is known well enough, whoever leads; None for no such end.
        billing: prices.
    """

    ladder: tuple[float, ...] = (0.01, 0.03, 0.1)
    objectives: tuple[str, ...] = (COST,)
    confidence: float = 0.9
    tolerance: float = 0.05
    repeats: int = 3
    first: int = 1
    least: int = 3
    most_usd: float | None = None
    full_runs: float = 4.0
    width: float | None = None
    billing: Billing = field(default_factory=Billing)
    draws: int = 1000


class Verdict(enum.StrEnum):
    """How a race stands."""

    OPEN = "open"
    DECIDED = "decided"
    TIED = "tied"
    NARROW = "narrow enough"
    NOT_DECIDED = "not decided"
    NOTHING_FITS = "nothing fits"


@dataclass(frozen=True)
class Standing:
    """How a race stands.

    Args:
        verdict: open while there is a run to make.
        winner: of a decided or tied race; else the leader. `tied`: all that may be as good, the winner first.
        next: (configuration, level, repeat) of the run to make; None where there is none.
        confidence: probability that no other is better by more than the tolerance.
        reason: in words.
    """

    verdict: Verdict
    winner: str | None
    tied: tuple[str, ...]
    next: tuple[str, float, int] | None
    confidence: float
    reason: str


def standing(groups: Mapping[str, Sequence[Canary]], dropped: Sequence[str], rules: Rules, seed: int = 0) -> Standing:
    """Return how a race stands after some canaries.

    Args:
        groups: canaries by configuration, an empty list where there is none yet; the order is that of the candidates.
        dropped: configurations whose runs failed.
        rules: of the race.
        seed: of the draws.
    """
    alive = [name for name in groups if name not in dropped]
    if not alive:
        return Standing(Verdict.NOTHING_FITS, None, (), None, 0.0, "no configuration ran to its end")
    lowest = rules.ladder[0]
    for repeat in range(rules.first):
        for name in alive:
            if _runs_at(groups[name], lowest) <= repeat:
                return Standing(Verdict.OPEN, None, (), (name, lowest, repeat), 0.0, "every configuration runs at the lowest rung")
    alive = [name for name in alive if _fits(groups[name])]
    if not alive:
        return Standing(Verdict.NOTHING_FITS, None, (), None, 0.0, "the full job needs more memory than any of the instance types has")
    values = _draws({name: groups[name] for name in alive}, rules, seed)
    return _judge(groups, alive, values, rules, seed)


def _judge(
    groups: Mapping[str, Sequence[Canary]], alive: Sequence[str], values: Mapping[str, dict[str, Array]], rules: Rules, seed: int
) -> Standing:
    import numpy as np

    main = rules.objectives[0]
    logs = {name: np.log(values[name][main]) for name in alive}
    ranked = sorted(alive, key=lambda name: float(logs[name].mean()))
    leader, others = ranked[0], ranked[1:]
    if not others:
        return Standing(Verdict.DECIDED, leader, (leader,), None, 1.0, "it is the only one that can run")
    slack = math.log1p(rules.tolerance)
    best_other = np.minimum.reduce([logs[name] for name in others])
    sure, strict = float((logs[leader] <= best_other + slack).mean()), float((logs[leader] <= best_other).mean())
    # A decision never rests on the lowest rung alone: the leaders are taken beyond it first, whatever the draws say.
    for name in ranked[: rules.least]:
        if len(rules.ladder) > 1 and _top(groups[name]) <= rules.ladder[0] and not _grows_as_known(groups[name]):
            upwards = (name, rules.ladder[1], 0)
            found = Standing(Verdict.OPEN, leader, tuple(ranked[: rules.least]), upwards, sure, "the leaders go beyond the lowest rung")
            return _affordable(found, groups, values, rules)
    undecided = [name for name in others if float((logs[leader] <= logs[name] + slack).mean()) < rules.confidence or name == others[0]]
    if len(rules.objectives) > 1:
        return _pareto(groups, ranked, values, rules, seed)
    if sure >= rules.confidence:
        alike = [leader, *(name for name in others if float((np.abs(logs[name] - logs[leader]) <= slack).mean()) >= 0.5)]
        if strict >= rules.confidence or len(alike) == 1:
            return Standing(Verdict.DECIDED, leader, (leader,), None, sure, f"nothing is better by more than {rules.tolerance:.0%}")
        cheapest = min(alike, key=lambda name: (_cost_to_run(groups[name], rules), ranked.index(name)))
        rest = tuple(name for name in alike if name != cheapest)
        return Standing(
            Verdict.TIED, cheapest, (cheapest, *rest), None, sure, f"alike within {rules.tolerance:.0%}; the cheaper to run wins"
        )
    tied = (leader, *undecided[: rules.least])
    half = _half_width(values[leader][main])
    if rules.width is not None and half <= rules.width:
        return Standing(Verdict.NARROW, leader, tied, None, sure, f"{leader} leads, and is known to within {half:.0%}")
    step: tuple[str, float, int] | None = None
    for challenger in sorted(others, key=lambda name: float((logs[leader] <= logs[name] + slack).mean())):
        step = _most_telling(groups, (leader, challenger), logs, rules, seed)
        if step is not None:
            break
    if step is None:
        reason = f"every rung is run, and {leader} leads with {sure:.0%} confidence only"
        return Standing(Verdict.NOT_DECIDED, leader, tied, None, sure, reason)
    regret = float(np.maximum(np.exp(logs[leader]) - np.exp(best_other), 0.0).mean()) * rules.full_runs
    price = _price_of(groups[step[0]], step[1], rules) / (1.0 if main == COST else _usd_per_second(groups[step[0]][0], rules))
    if regret < price:
        reason = f"knowing more would cost more than it saves on {rules.full_runs:g} full jobs; {leader} leads with {sure:.0%} confidence"
        return Standing(Verdict.NOT_DECIDED, leader, tied, None, sure, reason)
    return _affordable(Standing(Verdict.OPEN, leader, tied, step, sure, f"{leader} against {challenger}"), groups, values, rules)


def _half_width(values: Array) -> float:
    """Return half of the 80 % interval of draws (n,) as a share of their median."""
    import numpy as np

    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    return float((high - low) / 2 / middle)


def _pareto(
    groups: Mapping[str, Sequence[Canary]], ranked: Sequence[str], values: Mapping[str, dict[str, Array]], rules: Rules, seed: int
) -> Standing:
    """Return the standing of a race for a Pareto set: whether each configuration is beaten in every objective is to be known."""
    import numpy as np

    slack = math.log1p(rules.tolerance)
    doubt: dict[str, float] = {}
    front = []
    for name in ranked:
        beaten = np.zeros(rules.draws, dtype=bool)
        for other in ranked:
            if other != name:
                worse = [np.log(values[name][o]) > np.log(values[other][o]) + slack for o in rules.objectives]
                beaten |= np.logical_and.reduce(worse)
        share = float(beaten.mean())
        if share < 0.5:
            front.append(name)
        doubt[name] = min(share, 1 - share)
    sure = 1 - max(doubt.values())
    tied = tuple(front)
    if sure >= rules.confidence:
        return Standing(Verdict.DECIDED, front[0], tied, None, sure, "whether each is beaten in every objective is known")
    half = max(_half_width(values[name][rules.objectives[0]]) for name in front)
    if rules.width is not None and half <= rules.width:
        return Standing(Verdict.NARROW, front[0], tied, None, sure, f"each of the front is known to within {half:.0%}")
    logs = {name: np.log(values[name][rules.objectives[0]]) for name in ranked}
    for name in sorted(doubt, key=lambda one: -doubt[one]):
        step = _most_telling(groups, (name,), logs, rules, seed)
        if step is not None and doubt[name] > 1 - rules.confidence:
            return _affordable(Standing(Verdict.OPEN, front[0], tied, step, sure, f"is {name} beaten?"), groups, values, rules)
    return Standing(Verdict.NOT_DECIDED, front[0], tied, None, sure, "every rung is run")


def _affordable(found: Standing, groups: Mapping[str, Sequence[Canary]], values: Mapping[str, Any], rules: Rules) -> Standing:
    if rules.most_usd is None or found.next is None:
        return found
    spent = math.fsum(_usd(canary, rules) for group in groups.values() for canary in group)
    coming = _price_of(groups[found.next[0]], found.next[1], rules)
    if spent + coming <= rules.most_usd:
        return found
    reason = f"the next run would cost about ${coming:.2g}, which ${rules.most_usd:g} do not allow after ${spent:.2g}"
    return Standing(Verdict.NOT_DECIDED, found.winner, found.tied, None, found.confidence, reason)


def _draws(groups: Mapping[str, Sequence[Canary]], rules: Rules, seed: int) -> dict[str, dict[str, Array]]:
    """Return draws of each objective by configuration, in which the common exponent is common."""
    import numpy as np

    rng = np.random.default_rng(seed)
    laws = {name: _laws(group) for name, group in groups.items()}
    mains = [name for name, law in laws.items() if law.growth is not None]
    growths = [growth for name in mains if (growth := laws[name].growth) is not None]
    drawn = dict(zip(mains, sample_together(growths, 1.0, rules.draws, rng), strict=True))
    found = {}
    for name, law in laws.items():
        total = drawn.get(name, 0.0) + sum(
            part.growth.sample(1.0, rules.draws, rng, noise=False) if part.growth is not None else part.constant
            for key, part in law.parts.items()
            if key != law.main or part.growth is None
        )
        seconds = np.maximum(total * np.ones(rules.draws), 1e-9)
        found[name] = {TIME: seconds, COST: (seconds + rules.billing.startup_s) * _usd_per_second(groups[name][0], rules)}
    return found


@lru_cache(maxsize=4096)
def _laws_of(used: tuple[Canary, ...]) -> Laws:
    found = time_laws(used, 1.0) or cpu_laws(used, 1.0)
    if found is None:
        raise ValueError(f"{used[0].configuration if used else 'a configuration'}: no time was measured")
    return found


def _laws(group: Sequence[Canary]) -> Laws:
    return _laws_of(tuple(canary for canary in group if canary.status == COMPLETED))


def _most_telling(
    groups: Mapping[str, Sequence[Canary]], names: Sequence[str], logs: Mapping[str, Array], rules: Rules, seed: int
) -> tuple[str, float, int] | None:
    """Return the run of these configurations that is expected to narrow their difference most per dollar; None where all are run."""
    best: tuple[float, tuple[str, float, int]] | None = None
    for name in names:
        group = groups[name]
        now = float(logs[name].var())
        top = _top(group)
        higher = next((level for level in rules.ladder if level > top * 1.001), None)
        options = [level for level in (higher, top) if level is not None and _runs_at(group, level) < rules.repeats]
        for level in options:
            after, seconds = _expected(group, level, seed)
            usd = (seconds + rules.billing.startup_s) * _usd_per_second(group[0], rules)
            gain = max(now - min(after, now * 0.98), 1e-9) / max(usd, 1e-12)
            if best is None or gain > best[0]:
                best = gain, (name, level, _runs_at(group, level))
    return None if best is None else best[1]


def _expected(group: Sequence[Canary], level: float, seed: int) -> tuple[float, float]:
    """Return the variance of log time that is expected after one more run at a level, and the seconds of that run."""
    import numpy as np

    used = tuple(canary for canary in group if canary.status == COMPLETED)
    item = Fitted(used, used, (), 1.0, _laws(used), None, None, None)
    run = expected_run(item, level)
    law = _laws([*used, run])
    rng = np.random.default_rng(seed)
    total = sum(
        part.growth.sample(1.0, 800, rng, noise=False) if part.growth is not None else np.full(800, part.constant)
        for part in law.parts.values()
    )
    return float(np.log(np.maximum(total, 1e-9)).var()), float(run.total_s or run.train_s or 0.0)


def _fits(group: Sequence[Canary]) -> bool:
    """Return whether the full job's memory fits: measured on two rungs or more, its 95 % bound must not pass the capacity."""
    import numpy as np

    if any(canary.status == OUT_OF_MEMORY for canary in group):
        return False
    facts = instance_facts(group[0].instance_type, tables()) if group[0].instance_type else None
    used = [canary for canary in group if canary.status == COMPLETED]
    if facts is None or not facts.memory_bytes or len({canary.fraction for canary in used if canary.rss_bytes}) < 2:
        return True
    growth = rss_growth(used, 1.0)
    return growth is None or float(np.quantile(growth.sample(1.0, 1000, np.random.default_rng(0)), 0.95)) <= facts.memory_bytes


def _runs_at(group: Sequence[Canary], level: float) -> int:
    return sum(abs(canary.fraction - level) < 1e-9 + 1e-6 * level for canary in group)


def _top(group: Sequence[Canary]) -> float:
    return max((canary.fraction for canary in group), default=0.0)


def _grows_as_known(group: Sequence[Canary]) -> bool:
    return _laws(group).steady


def _usd_per_second(canary: Canary, rules: Rules) -> float:
    """Return dollars per second of all instances; 1 where prices do not matter or are not known, so that seconds are compared."""
    price = rules.billing.usd_per_hour(canary.instance_type)
    return (1.0 if price is None else price / 3600) * canary.instance_count


def _usd(canary: Canary, rules: Rules) -> float:
    return ((canary.total_s or 0.0) + rules.billing.startup_s) * _usd_per_second(canary, rules)


def _price_of(group: Sequence[Canary], level: float, rules: Rules) -> float:
    """Return what a run at a level will cost, by the longest run so far: its start-up stays, the rest goes with the data."""
    longest = max(group, key=lambda canary: canary.fraction)
    fixed_s = longest.startup_s or 0.0
    seconds = fixed_s + max((longest.total_s or 0.0) - fixed_s, 0.0) * level / longest.fraction
    return (seconds + rules.billing.startup_s) * _usd_per_second(longest, rules)


def _cost_to_run(group: Sequence[Canary], rules: Rules) -> float:
    """Return what makes the cheaper of two alike: fewer instances, then the lower price of an hour."""
    return _usd_per_second(group[0], rules)
