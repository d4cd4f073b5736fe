"""Timing in turn, medians, and printing. On import it puts the repository on the path."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOOP = Path(__file__).with_name("noop_trial.py")

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

# Where this is set every process compiles all that it imports anew, which is what would be measured; nobody's own machine does that.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@dataclass(frozen=True)
class Cost:
    """What a call took: wall seconds, and processor seconds of this process and of the children that it waited for."""

    wall_s: float
    cpu_s: float


def cpu_now_s() -> float:
    """Return the processor seconds used so far by this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def cost_of(call: Callable[[], Any]) -> Cost:
    """Call once and return what it took."""
    cpu_s, wall_s = cpu_now_s(), time.perf_counter()
    call()
    return Cost(time.perf_counter() - wall_s, cpu_now_s() - cpu_s)


def in_turn(rounds: int, sides: Mapping[str, Callable[[], Any]]) -> dict[str, list[Any]]:
    """Call all sides once in each round, in alternating order, and return what each returned.

    The machine's load drifts, so what is to be compared has to be measured close together and in changing order.
    """
    found: dict[str, list[Any]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides)[:: 1 if number % 2 == 0 else -1]:
            found[name].append(sides[name]())
            print(f"  round {number + 1}/{rounds}: {name}", file=sys.stderr, flush=True)
    return found


def run_side(script: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Any:
    """Run `script --side ... ` in a process of its own, so that no side pays for another's imports; return the JSON that it writes."""
    with temporary_folder() as folder:
        out = folder / "out.json"
        command = [sys.executable, script, "--out", str(out), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **(environment or {})}, check=False)
        if done.returncode != 0 or not out.is_file():
            raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return json.loads(out.read_text())


@contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="outrider-performance-") as name:
        yield Path(name)


def p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    from benchmarking.report.text import table

    print(f"\n{title}\n{table(header, rows)}")


def load_line() -> str:
    """Return what else keeps this machine busy, as far as its load average tells."""
    one, five, _ = os.getloadavg()
    return f"{os.cpu_count()} cores, load average {one:.1f} (1 min) {five:.1f} (5 min); medians of rounds measured in turn"


def least_squares(rows: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Return the coefficients that fit `rows @ coefficients = values` best relative to the values.

    Args:
        rows: (n, k).
        values: (n,), positive.
    """
    import numpy as np

    weights = 1.0 / np.asarray(values)
    found, *_ = np.linalg.lstsq(np.asarray(rows) * weights[:, None], np.ones(len(values)), rcond=None)
    return [float(value) for value in found]


__all__ = [
    "NOOP",
    "ROOT",
    "Cost",
    "cost_of",
    "cpu_now_s",
    "in_turn",
    "least_squares",
    "load_line",
    "median",
    "p95",
    "run_side",
    "show",
    "temporary_folder",
]
