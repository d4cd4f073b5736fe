"""Streams of reports for the scripts that time schedulers: as a few workers would make them, stopped trials making room for new ones."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator
from typing import Any


def reports(trials: int, full: int, at_once: int = 8) -> Iterator[tuple[int, int, list[float]]]:
    """Yield (trial, level, two losses); sending True stops the trial."""
    source = random.Random(11)
    running: dict[int, list[Any]] = {}
    begun = 0
    while begun < trials or running:
        while len(running) < at_once and begun < trials:
            running[begun] = [0, [source.random(), source.random()]]
            begun += 1
        trial = source.choice(list(running))
        running[trial][0] += 1
        level, quality = running[trial]
        stop = yield trial, level, [value + source.gauss(0, 0.05) + 1 / level for value in quality]
        if stop or level == full:
            del running[trial]


def drive(add: Callable[[int], None], tell: Callable[[int, int, list[float]], bool], trials: int, full: int) -> dict[str, Any]:
    """Feed a scheduler and return how long its answers took, over all and over the last tenth of the trials, and a hash of them.

    Args:
        add: hears of a new trial.
        tell: hears of a report and returns whether the trial is to be stopped.
        trials: how many; `full`: levels of each.
    """
    stream = reports(trials, full)
    known = -1
    sent: Any = None
    total_s = late_s = 0.0
    count = late = stopped = 0
    digest = hashlib.sha256()
    while True:
        try:
            trial, level, values = stream.send(sent)
        except StopIteration:
            break
        while known < trial:
            known += 1
            add(known)
        begun_s = time.process_time()
        stop = tell(trial, level, values)
        took_s = time.process_time() - begun_s
        sent = stop and level < full
        stopped += sent
        digest.update(b"%d %d %d;" % (trial, level, sent))
        total_s, count = total_s + took_s, count + 1
        if known >= trials * 9 // 10:
            late_s, late = late_s + took_s, late + 1
    return {
        "mean_us": 1e6 * total_s / count,
        "late_us": 1e6 * late_s / late,
        "reports": count,
        "stopped": stopped,
        "decisions": digest.hexdigest()[:12],
    }
