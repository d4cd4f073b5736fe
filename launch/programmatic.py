"""`launch.run` from Python: the same planning and execution as the command line, without its printing."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarking.experiment import ExperimentResult
from definitions.errors import UserError, did_you_mean
from launch.planning import plan
from launch.progress import Progress
from launch.request import RunRequest
from launch.verbs.run import execute


def run_benchmarks(benchmark: Any, options: Mapping[str, Any]) -> list[ExperimentResult]:
    """Run experiments; see `launch.run`."""
    fields = [field.name for field in dataclasses.fields(RunRequest) if field.name != "benchmark"]
    for name in options:
        if name not in fields:
            raise UserError(f"launch.run({name}=...): there is no such option", did_you_mean(name, fields))
    given: dict[str, Any] = {
        name: _tuple(value) if name in ("method", "settings", "warm_start") else value for name, value in options.items()
    }
    for name in ("results_dir", "cache_dir"):
        given[name] = Path(given.get(name) or getattr(RunRequest, name)).expanduser()
    for name in ("num_seeds", "start_seed", "random_seed"):
        if not isinstance(given.get(name, 0), int):
            raise UserError(f"launch.run({name}={given[name]!r})", "it is a whole number")
    request = RunRequest(benchmark=_tuple(benchmark), **given)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        return execute(plan(request), request, Progress(nowhere, live=False))


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)
