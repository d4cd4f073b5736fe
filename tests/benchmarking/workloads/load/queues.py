"""A queue of one server on a virtual clock, as a client of the load script: its largest rate is known."""

from __future__ import annotations

import math
import random

from benchmarking.workloads.load.client_check import ClientLoad
from benchmarking.workloads.load.session import LoadResult
from benchmarking.workloads.load.tally import LoadTally


class VirtualQueue:
    """M/M/1: answers in order, service times exponential of mean 1/mu; each load begins with it empty.

    Args:
        mu: requests a second that it serves.
        limit_s: of latency.
        seed: of arrivals and service.
        lag_s: by which each request is sent late.
        burst: seconds from the beginning of each load, and how many times `mu` it serves in them.
    """

    def __init__(self, mu, limit_s, seed=0, lag_s=0.0, burst=(0.0, 1.0)):
        self.mu, self.limit_s, self.rng, self.lag_s, self.burst = mu, limit_s, random.Random(seed), lag_s, burst
        self.asked = []

    def truth(self, percentile):
        return self.mu + math.log(1 - percentile / 100) / self.limit_s

    async def open_load(self, rate, plan, look):
        self.asked.append(rate)
        tally = LoadTally(self.limit_s, 10.0)
        at = free = 0.0
        next_tick, looked = plan.tick_s, False
        while not looked:
            at += self.rng.expovariate(rate)
            while at > next_tick and not looked:
                looked = look(plan.begin_s + next_tick, tally)
                next_tick += plan.tick_s
            if at >= plan.ramp_s + plan.length_s:
                break
            faster = self.burst[1] if at < self.burst[0] else 1.0
            free = max(free, at) + self.rng.expovariate(faster * self.mu)
            if at >= plan.ramp_s and not looked:
                block = int((at - plan.ramp_s) / plan.block_s)
                tally.sends(block, self.lag_s)
                tally.answers(block, int(at), free - at, free - at)
        return LoadResult(tally, ClientLoad(0.1, 10, 1000), max(at - plan.ramp_s, 1e-9))

    async def close(self):
        pass
