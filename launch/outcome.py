"""What a run prints at its end: the verdict first, then the table, then where the files are; or JSON, or CSV."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from benchmarking.controller.ending import Reason
from benchmarking.controller.prefixes import has_canaries
from benchmarking.export.files import csv_text
from benchmarking.export.trials_csv import trials_header
from benchmarking.report.text import dollars, table
from definitions import strict_json
from definitions.errors import (
    EXIT_BUDGET,
    EXIT_CLOUD,
    EXIT_DETACHED,
    EXIT_DONE,
    EXIT_FAILURES,
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_TAKEN_OVER,
    EXIT_USAGE,
)

if TYPE_CHECKING:
    from benchmarking.experiment import ExperimentResult
    from launch.experiment_outcome import ExperimentOutcome

_SEVERITY = (EXIT_TAKEN_OVER, EXIT_DETACHED, EXIT_INTERRUPTED, EXIT_FAULT, EXIT_CLOUD, EXIT_USAGE, EXIT_FAILURES, EXIT_BUDGET, EXIT_DONE)


def gravest(codes: Collection[int]) -> int:
    """Return the gravest of some exit codes; that of a good end where there are none."""
    return next((code for code in _SEVERITY if code in codes), EXIT_DONE)


def as_text(results: Sequence[ExperimentResult]) -> str:
    """Return verdict, table and paths of each experiment, and a comparison where there are several."""
    blocks = [_block(result, with_title=len(results) > 1) for result in results]
    if len(results) > 1:
        blocks.insert(0, _comparison(results))
    return "\n\n".join(blocks)


def _block(result: ExperimentResult, *, with_title: bool) -> str:
    spec = result.spec
    summary = result.summary
    lines = [f"== {spec.title}"] if with_title else []
    canaries = _canaries(result)
    if canaries:
        lines += [f"{result.ending.message[:1].upper()}{result.ending.message[1:]}.", "", canaries]
        return "\n".join([*lines, *_spent(result), "", f"results: {spec.folder}/forecasts.csv, {_files(result)}"])
    lines.append(summary.verdict)
    if result.ending.exit_code != EXIT_DONE or summary.best is None:
        lines.append(f"Ended early: {result.ending.message}.")
    elif result.ending.reason in (Reason.TIME, Reason.COST):
        lines.append(f"Ended by its budget: {result.ending.message}.")
    if summary.table:
        lines += ["", summary.table]
    return "\n".join([*lines, *_spent(result), "", f"results: {spec.folder}/{_files(result)}"])


def _canaries(result: ExperimentResult) -> str:
    """Return what the canaries of an experiment say; empty where it has none."""
    if not has_canaries(result.state.trials):
        return ""
    from benchmarking.forecasting.model.billing import Billing
    from benchmarking.forecasting.model.draws import Question
    from benchmarking.forecasting.report import report

    return report(result.spec.definition, result.state, Question(billing=Billing(result.region, options=result.spec.definition.block)))


def _spent(result: ExperimentResult) -> list[str]:
    """Return what warm instances did and what all was paid, where it is a bill."""
    if result.summary.warm:
        return ["", result.summary.warm]
    if result.described.nominal:
        return []
    unknown = any(trial.cost_usd is None for trial in result.state.trials.values())
    label = f" ({result.price_label})" if result.price_label else ""
    known = f"Spent{label}: {dollars(result.state.money.spent_usd)}."
    return ["", f"{known} Beside it, trials whose price is not known." if unknown else known]


def _files(result: ExperimentResult) -> str:
    """Return which files there are; the logs of jobs elsewhere stay where they ran, but for those that were kept beside the results."""
    logs = "logs/" if (result.spec.folder / "logs").is_dir() else result.described.logs
    return f"trials.csv, reports.csv, journal.sqlite, {logs}"


def _comparison(results: Sequence[ExperimentResult]) -> str:
    rows = []
    for result in results:
        primary = result.spec.definition.primary_objective
        best = result.best
        rows.append(
            [
                result.spec.definition.name,
                result.spec.method,
                result.spec.number,
                len(result.state.trials),
                primary,
                best,
                result.ending.reason,
            ]
        )
    return table(["benchmark", "method", "seed", "trials", "objective", "best", "ended"], rows)


def as_json(outcomes: Sequence[ExperimentOutcome]) -> str:
    """Return the same as one JSON document; what was not run has a reason and no trials."""
    return strict_json.dumps({"schema_version": 1, "experiments": [_document(one) for one in outcomes]})


def _document(one: ExperimentOutcome) -> dict[str, object]:
    spec, result = one.spec, one.result
    found: dict[str, object] = {
        "benchmark": spec.definition.name,
        "method": spec.method,
        "backend": spec.backend,
        "seed": spec.number,
        "tag": spec.tag,
        "folder": str(spec.folder),
        "reason": one.reason,
        "message": one.cause,
        "exit_code": one.exit_code,
    }
    if result is None:
        return {**found, "verdict": "", "best": None, "spent_usd": 0.0, "price_label": "", "trials": []}
    return {
        **found,
        "verdict": result.summary.verdict,
        "best": result.summary.best,
        "spent_usd": result.state.money.spent_usd,
        "price_label": result.price_label,
        **({} if result.warm is None else {"warm_pool": result.warm}),
        "trials": result.trials,
    }


def as_csv(outcomes: Sequence[ExperimentOutcome]) -> str:
    """Return the trials of all experiments as one CSV table."""
    columns: dict[str, None] = {}
    rows: list[dict[str, object]] = []
    for result in (one.result for one in outcomes if one.result is not None):
        columns |= dict.fromkeys(trials_header(result.spec.definition, result.state))
        about = {"benchmark": result.spec.definition.name, "method": result.spec.method, "seed": result.spec.number}
        rows += [{**about, **trial} for trial in result.trials]
    names = ["benchmark", "method", "seed", *columns]
    return csv_text(names, [[row.get(name) for name in names] for row in rows])
