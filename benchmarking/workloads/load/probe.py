"""A probe: one rate held until it is decided whether the endpoint carries it, or for as long as is allowed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from .client_check import CLIENT_BOUND, ClientLoad, client_problem
from .deadline import last_answers_s
from .evidence import PASSES, UNDECIDED, ShareEvidence
from .judge import ProbeJudge, ProbeRules, requests_needed
from .open_loop import OpenPlan
from .options import LoadOptions
from .search import PROMISING
from .session import LoadClient, soon
from .tally import LoadTally

_RAMP_LIMITS, _SHORT_RAMP_LIMITS = 10, 3
_LEAST_RAMP_S, _MOST_RAMP_S = 0.25, 5.0
_SPARE = 1.5
_LEAST_LIMITS = 20
"""Limits of latency that a probe takes at least: a queue of which a twentieth more comes than goes is over the limit after so many."""


_UNSTEADY = "in the last quarter of the probe more requests were over the limit than may be, before it fewer: it does not hold"


@dataclass(frozen=True)
class ProbeOutcome:
    """What a probe came to.

    Args:
        rate: that was asked for, requests a second.
        verdict: passed, failed, promising, undecided or client-bound.
        why: in a sentence; empty where nothing is to be said.
        tally: counts; `seconds`: that were counted; `client`: what they took of it.
        evidence: what the counts are worth.
        more_s: seconds that an undecided one would take still, if all went on alike; inf where that is out of reach.
    """

    rate: float
    verdict: str
    why: str
    tally: LoadTally
    seconds: float
    client: ClientLoad
    evidence: ShareEvidence
    more_s: float = 0.0


def rules_for(rate: float, options: LoadOptions) -> ProbeRules:
    """Return by what a rate is judged: for as long as is allowed, or longer where the percentile needs more requests."""
    needed_s = _SPARE * requests_needed(options.percentile) / rate
    return ProbeRules(rate, options.percentile, options.slo_s, max(options.probe_s, needed_s, _LEAST_LIMITS * options.slo_s))


def plan_for(rules: ProbeRules, options: LoadOptions, begin_s: float, *, certifies: bool = True) -> OpenPlan:
    """Return when a probe that begins then sends: after a ramp, in which a queue grows as long as it will be; who explores waits less."""
    limits = _RAMP_LIMITS if certifies else _SHORT_RAMP_LIMITS
    ramp_s = min(max(_LEAST_RAMP_S, limits * options.slo_s), _MOST_RAMP_S)
    return OpenPlan(begin_s, rules.longest_s, rules.block_s, ramp_s, drain_s=options.timeout_s)


async def probe(client: LoadClient, rate: float, options: LoadOptions, *, certifies: bool = True, ends_s: float = math.inf) -> ProbeOutcome:
    """Hold a rate until it is decided, or for as long as is allowed.

    Args:
        client: sends.
        rate: requests a second, above 0.
        options: of the load.
        certifies: whether it may pass, after its whole length; else it ends once the rate is promising, or at its length where no more were
            over the limit than may be.
        ends_s: monotonic seconds at which it has ended, decided or not, the wait for its last answers included.
    """
    rules = rules_for(rate, options)
    judge, found = ProbeJudge(rules, certifies=certifies), list[str]()
    plan = replace(plan_for(rules, options, soon(), certifies=certifies), ends_s=ends_s)
    until_s = ends_s - last_answers_s(options)

    def blocks(now: float, tally: LoadTally) -> list[tuple[int, ...]]:
        # A block is whole once the requests that were due in it are sent: one tick after its end they are, or the client lags.
        until = int((now - plan.tick_s - plan.counted_from_s) / plan.block_s)
        return tally.settled_blocks(max(0, until))

    def look(now: float, tally: LoadTally) -> bool:
        settled = blocks(now, tally)
        verdict = judge.look(settled)
        if verdict:
            found.append(verdict)
        return bool(verdict) or now >= until_s or judge.is_over(settled, now - plan.counted_from_s)

    result = await client.open_load(rate, plan, look)
    verdict = found[0] if found else judge.end(blocks(plan.counted_from_s + result.seconds + plan.tick_s, result.tally))
    problem = client_problem(result.tally, result.client, rate)
    why, more_s = problem, 0.0
    if problem:
        verdict = CLIENT_BOUND
    elif not certifies and (verdict == PASSES or (verdict == UNDECIDED and judge.evidence.n and judge.evidence.share <= rules.share)):
        verdict = PROMISING
    elif verdict == UNDECIDED:
        more_s = judge.more_s()
        is_less = judge.evidence.verdict(rules.share, rules.alpha_of_end) == PASSES
        why = _UNSTEADY if is_less else _undecided(judge.evidence, rules, more_s)
    return ProbeOutcome(rate, verdict, why, result.tally, result.seconds, result.client, judge.evidence, more_s)


def _undecided(evidence: ShareEvidence, rules: ProbeRules, more_s: float) -> str:
    if not evidence.n:
        return "nothing was answered"
    low, high = evidence.bounds(rules.alpha_of_end)
    said = (
        f"{100 * evidence.share:.2f} % ({100 * low:.2f} to {100 * high:.2f} %) were over the limit, where {100 * rules.share:.4g} % may be"
    )
    return (
        f"{said}: that takes {math.ceil(more_s) or 1} s more"
        if math.isfinite(more_s)
        else f"{said}: no probe of a length that is of use decides that"
    )
