"""Made-up canaries for tests of forecasts: a job whose truth is known, measured with as little or as much noise as a test wants."""

from __future__ import annotations

import random

from benchmarking.forecasting.data.canary import Canary, CanaryTable

LADDER = {0.01: 2, 0.03: 2, 0.1: 1}


def canaries(
    name="job", ladder=None, *, startup_s=20.0, full_s=1000.0, exponent=1.0, noise=0.03, seed=0, timed=True, rss=None, **known
) -> list[Canary]:
    source = random.Random(f"{seed}-{name}")
    found = []
    for fraction, repeats in (ladder or LADDER).items():
        for repeat in range(repeats):
            started = startup_s * source.lognormvariate(0, noise)
            trained = full_s * fraction**exponent * source.lognormvariate(0, noise)
            phases = {"startup_s": started, "train_s": trained} if timed else {}
            memory = None if rss is None else rss(fraction) * source.lognormvariate(0, 0.002)
            found.append(Canary(name, fraction, repeat, total_s=started + trained, rss_bytes=memory, **phases, **known))
    return found


def table(*groups) -> CanaryTable:
    return CanaryTable(tuple(canary for group in groups for canary in group))


def metric(forecasts, name, configuration=None):
    return next(one for one in forecasts if one.metric == name and configuration in (None, one.configuration))
