"""When requests are due: a schedule fixed by its seed, the same for every configuration, that knows nothing of the server."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

POISSON, CONSTANT = "poisson", "constant"


def schedule(kind: str, rate: float, seed: int, trace: Sequence[float] = ()) -> Iterator[float]:
    """Yield seconds from the beginning of a load at which requests are due, in order; without end but for a trace.

    One seed gives one schedule of unit rate, which is stretched: at twice the rate each request is due after half of the time.

    Args:
        kind: `poisson` (independent gaps of exponential length), `constant` (equal gaps), or `trace`.
        rate: requests a second, above 0. A trace is played so that its mean rate is this; at 0 as it was recorded.
        seed: of the gaps.
        trace: (n,) seconds in order, of the kind `trace`.
    """
    if kind == "trace":
        span_s = trace[-1] - trace[0]
        recorded = (len(trace) - 1) / span_s if span_s > 0 else 0.0
        stretch = recorded / rate if rate > 0 and recorded > 0 else 1.0
        return ((at - trace[0]) * stretch for at in trace)
    if kind == CONSTANT:
        return (number / rate for number in itertools.count())
    return _poisson(rate, seed)


def _poisson(rate: float, seed: int) -> Iterator[float]:
    draw = random.Random(f"arrivals {seed}").random
    at = 0.0
    while True:
        at -= math.log(1.0 - draw())
        yield at / rate


def read_trace(path: Path) -> tuple[float, ...]:
    """Return the times of a trace file: a line each, seconds, the first field where there are several; a heading is passed over.

    Args:
        path: of the file.

    Returns:
        (n,) seconds in order, n at least 1.

    Raises:
        SystemExit: there is no such file, it has no times, or a line is no finite number.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"arrivals {path}: the trace cannot be read ({error}); name a text file with a time in seconds a line") from error
    times: list[float] = []
    for number, line in enumerate(lines, 1):
        word = line.split("#")[0].replace(",", " ").replace(";", " ").split()
        if not word:
            continue
        try:
            at = float(word[0])
        except ValueError:
            if not times and number == 1:
                continue  # a heading
            raise SystemExit(f"arrivals {path}: line {number} is {line!r:.60}, which does not begin with a time in seconds") from None
        if not math.isfinite(at):
            raise SystemExit(f"arrivals {path}: line {number} is {line!r:.60}; a time is a finite number of seconds")
        times.append(at)
    if not times:
        raise SystemExit(f"arrivals {path}: the trace is empty; it needs a time in seconds a line")
    return tuple(sorted(times))
