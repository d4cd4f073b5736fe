"""Runs a search: from the latency without load to the last rung, each of which is reported once, whatever incarnation reaches it."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .calls import CallEnd
from .client_check import CLIENT_BOUND, check_all_allowed, check_allowed
from .deadline import last_answers_s, load_ends_s
from .endpoint import CalledEndpoint
from .estimate import RateEstimate, estimated_rate
from .evidence import FAILS, PASSES, ShareEvidence
from .figures import figures_of, shown
from .load_files import LoadFiles
from .options import LoadOptions
from .probe import ProbeOutcome, probe, rules_for
from .search import PROMISING, PlannedProbe, ProbedRate, RateSearch
from .serving_status import ServingStatus, used_between
from .session import LoadClient

Report = Callable[..., None]

_IDLE_SHARE = 0.2
_MOST_RAMP_S = 5.0
_MOST_LATE = 3
"""Probes at most that begin after the time for them is over, to certify a promising rate, or the one below it."""


@dataclass
class SearchRecord:
    """What a search knows, as it is kept between incarnations.

    Args:
        first_rate: with which it began.
        probed: rates and verdicts, in order; `evidence`: of each, requests, those over the limit, inflation.
        best: figures at the largest rate that passed.
        why: of the smallest rate that did not, in a sentence.
        reached: the rung that was reported last; 0 for none.
    """

    first_rate: float
    probed: list[tuple[float, str]] = field(default_factory=list)
    evidence: list[tuple[int, int, float]] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    reached: int = 0

    def estimate(self, share: float) -> RateEstimate | None:
        """Return the estimate from all probes that a client did not limit."""
        pairs = zip(self.probed, self.evidence, strict=True)
        return estimated_rate([(rate, ShareEvidence(*held)) for (rate, verdict), held in pairs if verdict != CLIENT_BOUND], share)

    def estimated_high(self, share: float) -> float:
        """Return the upper end of the estimate; inf where there is none."""
        estimate = self.estimate(share)
        return math.inf if estimate is None else estimate.high


class KeptSearch:
    """Keeps a record in a checkpoint, so that a job that begins anew goes on from the last probe.

    Args:
        folder: of checkpoints; None where there is none.
        endpoint: under load; `options`: of the load. A record of others is not taken up.
    """

    def __init__(self, folder: Path | None, endpoint: CalledEndpoint, options: LoadOptions) -> None:
        self._path = folder / "load-search.json" if folder is not None else None
        told = [asdict(options), [[one.name, one.model] for one in endpoint.targets], endpoint.platform, endpoint.server]
        self._key = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def read(self) -> SearchRecord | None:
        """Return what was kept; None where nothing was, or of another load."""
        try:
            held = json.loads(self._path.read_text(encoding="utf-8")) if self._path is not None else {}
            if held.pop("key", None) != self._key:
                return None
            record = SearchRecord(**held)
            record.probed = [(float(rate), str(verdict)) for rate, verdict in record.probed]
            record.evidence = [(int(n), int(over), float(inflation)) for n, over, inflation in record.evidence]
        except (OSError, ValueError, TypeError, AttributeError):
            return None
        return record

    def write(self, record: SearchRecord) -> None:
        """Keep a record; where it cannot be kept, the search goes on all the same."""
        if self._path is None:
            return
        try:
            whole = self._path.with_suffix(".tmp")
            whole.write_text(json.dumps({"key": self._key, **asdict(record)}, allow_nan=False), encoding="utf-8")
            whole.replace(self._path)
        except OSError:
            return


def idle_problem(idle: Sequence[tuple[CallEnd, float]], options: LoadOptions) -> str:
    """Return in a sentence why no rate can pass, judged by calls without load; empty where one may.

    Args:
        idle: (n,) how calls ended that were made one after the other, and the seconds that each took.
        options: of the load.
    """
    right = sorted(seconds for how, seconds in idle if not how.kind)
    if not right:
        return f"none of {len(idle)} calls without load was answered rightly ({', '.join(sorted({how.kind for how, _ in idle}))})"
    median_s = statistics.median(right)
    if median_s > options.slo_s:
        idle_ms = shown(1000 * median_s, 3)
        return f"without load half of the answers take {idle_ms} ms and more, above slo_ms {options.slo_ms:g}: no rate passes"
    return ""


class RunningSearch:
    """A search on an endpoint.

    Args:
        client: sends.
        options: of the load.
        kept: keeps it.
        files: of the job.
        status: tells what the server used.
        report: takes metrics.
        say: prints a line for people.
        clock: monotonic seconds.
        ends_s: of that clock, when the job is ended, whatever is under way then; inf for never.
    """

    def __init__(
        self,
        client: LoadClient,
        options: LoadOptions,
        kept: KeptSearch,
        files: LoadFiles,
        status: ServingStatus,
        report: Report,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        ends_s: float = math.inf,
    ) -> None:
        self._client, self._options, self._kept, self._files = client, options, kept, files
        self._status, self._report, self._say, self._clock = status, report, say, clock
        self._ends_s = load_ends_s(ends_s, clock())

    def begin(self, idle: Sequence[tuple[CallEnd, float]]) -> SearchRecord | None:
        """Return the record to go on from; None, after a report of rate 0, where no rate can pass.

        Args:
            idle: calls without load; see `idle_problem`.
        """
        known = self._kept.read()
        if known is not None:
            return known
        for how, _ in idle:
            check_allowed(how, "without load")
        problem = idle_problem(idle, self._options)
        right = [seconds for how, seconds in idle if not how.kind]
        if problem:
            self._say(problem)
            found = {"idle_p50_ms": round(1000 * statistics.median(right), 3)} if right else {}
            share = sum(bool(how.kind) for how, _ in idle) / len(idle)
            self._report(rung=self._options.rungs, max_rate_per_s=0.0, error_share=share, why=problem, **found)
            return None
        return SearchRecord(self._options.rate or _IDLE_SHARE / max(statistics.median(right), 1e-4))

    async def run(self, record: SearchRecord) -> None:
        """Probe until the last rung, or until the time for it is over, and report each rung that is reached.

        Raises:
            SystemExit: requests were denied; what was reported stands.
        """
        search = RateSearch(record.first_rate, full=self._options.rungs, probed=[ProbedRate(*one) for one in record.probed])
        search.estimated_high = record.estimated_high(1 - self._options.percentile / 100)
        until_s = self._clock() + self._options.search_s if self._options.search_s else math.inf
        late = 0
        while (planned := self._planned(search, until_s - self._clock(), late)) is not None:
            late += self._clock() >= until_s
            seen = await self._status.read()
            outcome = await self._probed(planned, search.passed)
            used = used_between(seen, await self._status.read())
            self._note(record, outcome, search, used)
            for rung in range(record.reached + 1, search.rung + 1):
                self._report(**self._metrics(rung, search, record))
            record.reached = max(record.reached, search.rung)
            self._kept.write(record)
        if record.reached < self._options.rungs:
            self._end_short(search, record)

    def _planned(self, search: RateSearch, left_s: float, late: int) -> PlannedProbe | None:
        """Return the next probe within what is left of the time; a promising rate is certified in its last part, or else after it.

        Args:
            search: so far.
            left_s: seconds until no other rate is begun.
            late: probes that were begun after that.
        """
        planned, promising = search.next_probe, search.promising
        if planned is not None and not self._fits(planned.rate):
            return None
        if promising and not self._fits(promising, 2):  # what is promising is certified while there is time
            return PlannedProbe(promising, True)
        if planned is None or (planned.certifies and left_s > 0):
            return planned
        if promising and late < _MOST_LATE and left_s < rules_for(promising, self._options).length_s:
            return PlannedProbe(promising, True)
        return planned if left_s > 0 else None

    def _fits(self, rate: float, times: int = 1) -> bool:
        """Return whether probes of a rate, one or so many, can have their length before the job is ended."""
        if math.isinf(self._ends_s):
            return True
        rules = rules_for(rate, self._options)
        return self._clock() + times * (_MOST_RAMP_S + rules.length_s + last_answers_s(self._options)) <= self._ends_s

    def _end_short(self, search: RateSearch, record: SearchRecord) -> None:
        """Tell of a search that ends before its last rung: what is known is a lower bound alone."""
        passed, above = search.passed, search.not_passed
        if search.next_probe is not None and not self._fits(search.next_probe.rate):
            said = f"the search ended before max_run, at rung {record.reached} of {self._options.rungs}"
        elif search.next_probe is not None:
            said = f"the search ended after search_s {self._options.search_s:g} at rung {record.reached} of {self._options.rungs}"
        else:
            said = f"{shown(above)}/s was not decided: {record.why}"
        if passed:
            said = f"at least {shown(passed)}/s: {said}"
        elif record.why:
            said = f"{said}: {record.why}"
        self._say(said)
        found = {**self._metrics(max(1, record.reached), search, record), "why": said, "at_least": True}
        # A level has one report: what is known beyond the last one is that of a level that is not whole.
        if record.reached:
            del found["rung"]
        self._report(**found)

    async def _probed(self, planned: PlannedProbe, passed: float) -> ProbeOutcome:
        """Return what a probe came to; one that the client limited is tried once more, as the reason may have passed."""
        outcome = await probe(self._client, planned.rate, self._options, certifies=planned.certifies, ends_s=self._ends_s)
        self._tell(outcome, passed)
        if outcome.verdict == CLIENT_BOUND and self._fits(planned.rate):
            outcome = await probe(self._client, planned.rate, self._options, certifies=planned.certifies, ends_s=self._ends_s)
            self._tell(outcome, passed)
        return outcome

    def _tell(self, outcome: ProbeOutcome, passed: float) -> None:
        """Tell of a probe, where `passed` is the largest rate that had passed before."""
        figures = figures_of(outcome.tally, outcome.seconds)
        evidence, client = outcome.evidence, outcome.client
        why = outcome.why or (_why_not(outcome, self._options) if outcome.verdict == FAILS else "")
        what = {
            "rate": outcome.rate, "verdict": outcome.verdict, "why": why, "seconds": outcome.seconds, "more_s": outcome.more_s,
            "over": evidence.over, "worth": evidence.worth[0], "client_cpu_share": client.cpu_share, "sockets": client.sockets,
        }  # fmt: skip
        self._files.write("probe", what, figures, outcome.tally)
        # Of no rung: for the curves of rate and latency over load, and for who looks while a rung is not reached yet.
        kept = ("achieved_per_s", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "error_share", "cold_share")
        told = {f"probe_{name}": figures[name] for name in kept if name in figures}
        passed = max(passed, outcome.rate) if outcome.verdict == PASSES else passed
        self._report(probe_rate_per_s=outcome.rate, probe_verdict=outcome.verdict, max_rate_per_s=passed, **told)
        self._say(
            f"{shown(outcome.rate)}/s {outcome.verdict} after {outcome.seconds:.1f} s: p{self._options.percentile:g} "
            f"{_quantile_text(outcome, self._options)} of {self._options.slo_ms:g} ms, errors {outcome.tally.failed}"
            + (f"; {outcome.why}" if outcome.why else "")
        )
        check_all_allowed(outcome.tally, f"at {shown(outcome.rate)}/s")

    def _note(self, record: SearchRecord, outcome: ProbeOutcome, search: RateSearch, used: Mapping[str, Any]) -> None:
        best = search.passed
        search.tell(outcome.rate, outcome.verdict)
        evidence = outcome.evidence
        record.probed.append((outcome.rate, outcome.verdict))
        record.evidence.append((evidence.n, evidence.over, evidence.inflation))
        search.estimated_high = record.estimated_high(1 - self._options.percentile / 100)
        if outcome.verdict == PROMISING:
            return
        if outcome.verdict == PASSES and outcome.rate > best:
            record.best = figures_of(outcome.tally, outcome.seconds) | {"client_cpu_share": round(outcome.client.cpu_share, 3), **used}
        elif outcome.verdict != PASSES and outcome.rate == search.not_passed:
            record.why = outcome.why or _why_not(outcome, self._options)
            if not search.passed:
                record.best = figures_of(outcome.tally, outcome.seconds)

    def _metrics(self, rung: int, search: RateSearch, record: SearchRecord) -> dict[str, Any]:
        above = search.not_passed
        found = {"rung": rung, "max_rate_per_s": search.passed, **record.best, "probes": len(search.probed)}
        if math.isfinite(above):
            found |= {"not_passed_per_s": above, "why": record.why}
            found["at_least"] = search.is_at_least
            found["client_bound"] = any(one.verdict == CLIENT_BOUND and one.rate == above for one in search.probed)
        estimate = record.estimate(1 - self._options.percentile / 100)
        if estimate is not None:
            found |= {"rate_estimate_per_s": estimate.rate, "rate_low_per_s": estimate.low, "rate_high_per_s": estimate.high}
        return found


def _why_not(outcome: ProbeOutcome, options: LoadOptions) -> str:
    """Return why a rate did not pass: by how much it was too slow, and of which kinds its errors were."""
    latency = f"p{options.percentile:g} {_quantile_text(outcome, options)} ms, where slo_ms is {options.slo_ms:g}"
    errors = ", ".join(f"{count} {kind}" for kind, count in outcome.tally.errors.most_common())
    return f"{shown(outcome.rate)}/s {outcome.verdict}: {latency}" + (f"; errors: {errors}" if errors else "")


def _quantile_text(outcome: ProbeOutcome, options: LoadOptions) -> str:
    tally = outcome.tally
    value = tally.latency["warm"].quantile_s(options.percentile / 100, tally.failed, tally.failure_s)
    return "unknown" if value is None else f"{1000 * value:.1f}"
