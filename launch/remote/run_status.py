"""A launched run's standing as text: what is wrong first, then controllers, then experiments."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarking.remote.standing import SeenController, SeenExperiment, SeenJob, SeenRun, look_at
from benchmarking.report.text import dollars, duration, table
from definitions.errors import OutriderError, UserError
from definitions.program import command
from launch.remote.run_bill import RunBill, bill_document, bill_of, bill_text
from launch.remote.run_places import RunPlaces

_LONGEST = 100
_STATUS_S = 10.0
"""Seconds that the service has to say how a controller's job stands."""


def look(places: RunPlaces, now: float | None = None) -> tuple[SeenRun, RunBill | None]:
    """Return how a run stands, in the first of its places that has it, and its bill; raises `UserError` where none has."""
    from backends.sagemaker.aws.errors import masked
    from backends.sagemaker.controllers.creation import shown
    from backends.sagemaker.controllers.own_job import answer_within

    def job_status(name: str) -> SeenJob:
        answer = answer_within(lambda: [shown(places.clients, name)], _STATUS_S)
        if answer is None:
            return SeenJob()
        (job,) = answer
        return SeenJob(is_there=False) if job is None else SeenJob(job.state, masked(job.failure))

    missing: OutriderError | None = None
    for store in places.stores:
        try:
            run = look_at(store, time.time() if now is None else now, job_status)
            return run, bill_of(store, run, places.clients)
        except UserError as error:
            missing = error
    assert missing is not None
    raise missing


def document(tag: str, run: SeenRun, bill: RunBill | None = None) -> dict[str, Any]:
    """Return it as data of JSON types."""
    experiments = [{"name": one.name, "state": one.state, **one.said} for one in run.experiments]
    mark = None if run.mark is None else asdict(run.mark)
    over = run.is_over_unfinished
    return {"schema_version": 1, "tag": tag, "ended": over, "stop_mark": mark, "experiments": experiments,
            "controllers": [asdict(one) for one in run.controllers], "bill": bill_document(bill)}  # fmt: skip


def text(tag: str, run: SeenRun, bill: RunBill | None = None, flags: Sequence[str] = ()) -> str:
    """Return it for people; `flags` say where the run is, to whoever resumes it."""
    parts = []
    if run.is_over_unfinished:
        parts.append(
            f"nobody is at work on {tag}: {_short(run.is_over_unfinished, 300)}\ngo on with: {command('launch', '--resume', tag, *flags)}"
        )
    if run.mark is not None:
        what = "the run" if run.mark.experiments is None else ", ".join(run.mark.experiments)
        parts.append(f"a stop mark, left by {run.mark.by}: {what} is to end; a resume takes it away")
    if run.controllers:
        columns = ["controller", "generation", "state", "last word", "restarts", "time left", "job"]
        parts.append(table(columns, [_controller_row(one) for one in run.controllers]))
        parts += [f"controller {one.controller} was started again: {_short(why)}" for one in run.controllers for why in one.restarts[-1:]]
    parts += [] if bill is None else [bill_text(bill)]
    columns = ["benchmark", "method", "seed", "state", "trials", "objective", "best", "time", "spent", "in flight", "next"]
    rows = [_experiment_row(one) for one in run.experiments]
    parts.append(f"{len(rows)} experiment{'s' * (len(rows) != 1)}\n\n{table(columns, rows)}")
    ends = [f"{one.name}, trial {trial}: {words}" for one in run.experiments for trial, words in one.said.get("running", {}).items()]
    return "\n\n".join([*parts, *(["\n".join(ends)] if ends else [])])


def _controller_row(one: SeenController) -> list[object]:
    said = "none" if one.silent_s is None else f"{duration(one.silent_s)} ago"
    left = "" if one.seconds_left is None else duration(one.seconds_left)
    return [one.controller, one.generation, _short(one.state), said, len(one.restarts), left, one.job]


def _experiment_row(one: SeenExperiment) -> list[object]:
    benchmark, _, rest = one.name.partition("/")
    method, _, number = rest.rpartition("-")
    said = one.said
    if not said:
        return [benchmark, method.rpartition("-")[0], int(number) if number.isdigit() else None, one.state, *[""] * 7]
    trials = ", ".join(f"{count} {status}" for status, count in said.get("trials", {}).items())
    of = f" of {said['budget_trials']}" if said.get("budget_trials") is not None and trials else ""
    label = f" {said['dollars']}" if said.get("dollars") not in (None, "", "real") else ""
    row: list[object] = [benchmark, said.get("method"), said.get("seed"), one.state, trials + of, said.get("objective"), said.get("best")]
    row += [duration(said.get("elapsed_s", 0.0)), dollars(said.get("spent_usd", 0.0)) + label, said.get("in_flight")]
    return [*row, _next(said.get("next") or {})]


def _next(planned: Mapping[str, Any]) -> str:
    words = [f"{planned[name]} {name}" for name in ("queued", "waiting") if planned.get(name)]
    return ", ".join(words)


def _short(words: str, most: int = _LONGEST) -> str:
    line = " ".join(words.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
