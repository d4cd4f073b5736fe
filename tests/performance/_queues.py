"""Queues whose largest rate is known, on a virtual clock, as clients of the load script; and what others would find of them."""

from __future__ import annotations

import heapq
import math
from decimal import Decimal, localcontext

import numpy as np

from benchmarking.workloads.load.client_check import ClientLoad
from benchmarking.workloads.load.session import LoadResult
from benchmarking.workloads.load.tally import LEVELS, LoadTally

BATCH = 8
_REPLICAS, _EACH = 500, 20_000


class Queue:
    """One server.

    Args:
        kind: `mm1` (service times exponential), `md1` (all alike), `batch` (up to eight at once, in one time whatever their number).
        mu: requests a second that it serves at most.
        limit_s: of latency.
    """

    def __init__(self, kind, mu, limit_s):
        self.kind, self.mu, self.limit_s = kind, mu, limit_s

    def latencies(self, rate, count, rng):
        """(count,) seconds from arrival to answer, and (count,) arrivals; Poisson, beginning with nobody there."""
        gaps = rng.exponential(1 / rate, count)
        arrivals = np.cumsum(gaps)
        if self.kind == "batch":
            return self._batches(arrivals), arrivals
        service = rng.exponential(1 / self.mu, count) if self.kind == "mm1" else np.full(count, 1 / self.mu)
        # Lindley's recursion W' = max(0, W + S - A), as a walk less its running minimum.
        walk = np.cumsum(np.concatenate([[0.0], service[:-1] - gaps[1:]]))
        return walk - np.minimum.accumulate(walk) + service, arrivals

    def _batches(self, arrivals):
        each_s, free = BATCH / self.mu, 0.0
        times, ends, at = arrivals.tolist(), np.empty(len(arrivals)), 0
        while at < len(times):
            begin = max(free, times[at])
            end = at
            while end < len(times) and end < at + BATCH and times[end] <= begin:
                end += 1
            free = begin + each_s
            ends[at:end] = free
            at = end
        return ends - arrivals

    def share_over(self, rate):
        """The true share of requests over the limit; of batches None, which is simulated."""
        if self.kind == "mm1":
            return math.exp(-(self.mu - rate) * self.limit_s)
        return _md1_tail(rate, self.mu, self.limit_s) if self.kind == "md1" else None

    def truth(self, share):
        """The rate at which the true share is this."""
        if self.kind == "mm1":
            return self.mu + math.log(share) / self.limit_s
        low, high = 0.0, self.mu
        draws = np.random.default_rng(99).exponential(1.0, (_REPLICAS, _EACH)) if self.kind == "batch" else None
        for _ in range(13 if self.kind == "batch" else 40):
            rate = (low + high) / 2
            found = self.share_over(rate) if draws is None else self._share_of_batches(np.cumsum(draws / rate, axis=1))
            low, high = (rate, high) if found < share else (low, rate)
        return (low + high) / 2

    def _share_of_batches(self, arrivals):
        """The share over the limit of many replicas side by side, without their first tenths, in which queues that began empty grow."""
        each_s, count = BATCH / self.mu, arrivals.shape[1]
        free, at, row = np.zeros(len(arrivals)), np.zeros(len(arrivals), dtype=int), np.arange(len(arrivals))
        over = counted = 0
        while (at < count - BATCH).all():
            come = arrivals[row[:, None], at[:, None] + np.arange(BATCH)]
            begin = np.maximum(free, come[:, 0])
            served = come <= begin[:, None]
            free = begin + each_s
            kept = served & (at >= count // 10)[:, None]
            over += int(((free[:, None] - come > self.limit_s) & kept).sum())
            counted += int(kept.sum())
            at += served.sum(1)
        return over / max(counted, 1)


def _md1_tail(rate, mu, limit_s):
    """P(T > t) of M/D/1 by Erlang's formula (1909), whose terms cancel to more digits than a float has."""
    with localcontext() as context:
        context.prec = 120
        each, waited = 1 / Decimal(mu), Decimal(limit_s) - 1 / Decimal(mu)
        if waited < 0:
            return 1.0
        total, factorial = Decimal(0), Decimal(1)
        for number in range(int(waited / each) + 1):
            factorial *= max(number, 1)
            left = Decimal(rate) * (waited - number * each)
            total += (-left) ** number / factorial * left.exp() if number else left.exp()
        return float(1 - (1 - Decimal(rate) * each) * total)


class QueueClient:
    """Loads on a queue, in virtual time; the interface is that of `benchmarking.workloads.load.session.LoadClient`."""

    def __init__(self, queue, rng):
        self.queue, self.rng, self.requests, self.seconds = queue, rng, 0, 0.0

    async def open_load(self, rate, plan, look):
        # An overloaded queue is decided long before the end: no more of it is drawn than that takes.
        span_s = plan.ramp_s + min(plan.length_s, 3e4 / rate if rate > 1.02 * self.queue.mu else math.inf)
        latencies, arrivals = self.queue.latencies(rate, int(rate * span_s) + 1, self.rng)
        counted = arrivals >= plan.ramp_s
        blocks = ((arrivals[counted] - plan.ramp_s) / plan.block_s).astype(int)
        tally = LoadTally(self.queue.limit_s, 10.0)
        rows = [np.bincount(blocks)] * 2
        rows += [np.bincount(blocks, latencies[counted] > self.queue.limit_s * level).astype(int) for level in LEVELS]
        tally.blocks = {number: list(row) for number, row in enumerate(np.stack(rows, 1).tolist()) if row[0]}
        end_s = min(span_s - plan.ramp_s, plan.length_s)
        at = 0.0
        while at < end_s:
            at = min(max(at + plan.block_s, 1.05 * at), end_s)
            if look(plan.counted_from_s + at + plan.tick_s, tally):
                break
        self.requests += int(rate * (at + plan.ramp_s))
        self.seconds += at + plan.ramp_s
        return LoadResult(tally, ClientLoad(0.1, 10, 1000), at)

    async def users(self, stages, begin_s, done):
        raise NotImplementedError

    async def close(self):
        pass


def plain_bisection(queue, share, first_rate, seconds, rng):
    """What a bisection finds whose probes are of one length and pass where the percentile of their sample keeps the limit."""
    low, high, rate = 0.0, math.inf, first_rate
    while not low or math.isinf(high) or high / low > 1.05:
        latencies, _ = queue.latencies(rate, max(2, int(rate * seconds)), rng)
        passes = np.quantile(latencies, 1 - share) <= queue.limit_s
        low, high = (rate, high) if passes else (low, rate)
        rate = 2 * low if math.isinf(high) else high / 2 if not low else math.sqrt(low * high)
        if rate < 1e-3 * first_rate:
            return 0.0
    return low


def users_ramp(queue, rng, users=200, seconds=40.0, think_s=(0.05, 0.5)):
    """Requests a second of the notebooks' last stage, the largest of all: so many users who wait, think, and ask again."""
    due = [(rng.uniform(*think_s), user) for user in range(users)]
    heapq.heapify(due)
    free, done, waiting, each_s = 0.0, 0, [], BATCH / queue.mu
    while due:
        at, user = heapq.heappop(due)
        if at > seconds:
            break
        if queue.kind == "batch":
            waiting = [(at, user)]
            begin = max(free, at)
            while due and due[0][0] <= begin and len(waiting) < BATCH:
                waiting.append(heapq.heappop(due))
            free = begin + each_s
        else:
            waiting = [(at, user)]
            free = max(free, at) + (rng.exponential(1 / queue.mu) if queue.kind == "mm1" else 1 / queue.mu)
        for _, who in waiting:
            done += free > seconds / 4
            heapq.heappush(due, (free + rng.uniform(*think_s), who))
    return done / (0.75 * seconds)
