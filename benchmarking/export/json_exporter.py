"""`--to json`: result.json an experiment, and collated_results.json of all of a tag; small, for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarking.analysis.stand_ins import stand_ins
from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.export.exporter import ExportContext, ExportedExperiment
from benchmarking.export.files import utc
from benchmarking.report.described import summary_of
from definitions import strict_json
from definitions.files import write_atomically

SCHEMA_VERSION = 1
RESULT, COLLATED = "result.json", "collated_results.json"


def result_document(one: ExportedExperiment) -> dict[str, Any]:
    """Return what result.json says of an experiment: what it was, how it ended, its best, its trials by status, what it took.

    `records` is how many records of the journal it stands for.
    """
    state, definition = one.state, one.definition
    label, stood_in = "" if one.dollars == "real" else one.dollars, stand_ins(definition, one.backend, one.dollars)
    summary = summary_of(definition, one.backend, state, label, one.folder)
    ended = state.ended or {}
    clock = ExperimentClock(one.journal.sessions())
    return {
        "schema_version": SCHEMA_VERSION,
        "tag": one.tag,
        "benchmark": one.benchmark,
        "method": one.method,
        "method_arguments": dict(one.method_arguments),
        "backend": one.backend,
        "region": one.region,
        "seed": one.number,
        "random_seed": one.seed,
        "finished": state.ended is not None,
        "reason": ended.get("reason"),
        "message": ended.get("message"),
        "exit_code": ended.get("exit_code"),
        "objectives": {name: str(mode) for name, mode in definition.objectives.items()},
        "objective": definition.primary_objective,
        "best": summary.best,
        "best_config": None if summary.best_config is None else dict(summary.best_config),
        "verdict": summary.verdict,
        "notes": stood_in.notes([trial.configuration for trial in state.trials.values()]),
        "trials": dict(sorted(Counter(str(trial.status) for trial in state.trials.values()).items())),
        "reports": state.reports,
        "budget": definition.budget.model_dump(mode="json", exclude_none=True),
        "n_workers": definition.n_workers,
        "started_at": utc(None if state.first_start is None else state.first_start[1]),
        "ended_at": utc(state.last_at if state.sequence else None),
        "elapsed_s": clock.at(state.last_at, state.sequence, state),
        "spent_usd": state.money.spent_usd,
        "unpriced_trials": sum(trial.cost_usd is None for trial in state.trials.values()),
        "dollars": one.dollars,
        "forecasts": [dict(row) for row in one.forecasts if row.get("metric") in ("total_s", "cost_usd")],
        "records": state.sequence,
    }


def pretty(document: Any) -> str:
    """Return a document as JSON for people and strict parsers, in the order in which it was made."""
    return json.dumps(_finite(document), ensure_ascii=False, indent=2) + "\n"


def _finite(document: Any) -> Any:
    """Return a document with what is not finite tagged, as no strict parser reads NaN."""
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        return json.loads(strict_json.dumps(document))
    return document


class JsonExporter:
    """Writes the JSON files of experiments and of their tag; see `benchmarking.export.exporter.Exporter`."""

    writes_files = True

    def __init__(self, context: ExportContext) -> None:
        self._context = context
        self._documents: list[dict[str, Any]] = []

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Write result.json; raises `UserError` where it cannot be written."""
        document = result_document(one)
        self._documents.append(document)
        write_atomically(folder / RESULT, pretty(document))
        return [str(folder / RESULT)]

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Write collated_results.json; raises `UserError` where it cannot be written."""
        write_collated(self._context.folder, self._context.tag, self._documents, left_out)
        return [str(self._context.folder / COLLATED)]


def write_collated(folder: Path, tag: str, documents: Sequence[dict[str, Any]], left_out: Sequence[str] = ()) -> None:
    """Write collated_results.json, an experiment a line: indented, those of a large study would take longer to write than to read.

    Args:
        folder: of the tag.
        tag: its name.
        documents: what the experiments' result.json say.
        left_out: what is not among them, and why.

    Raises:
        UserError: it cannot be written.
    """
    begin, end = {"schema_version": SCHEMA_VERSION, "tag": tag}, {"left_out": list(left_out)}
    lines = ",\n".join(json.dumps(_finite(document), ensure_ascii=False) for document in documents)
    text = f'{json.dumps(begin, ensure_ascii=False)[:-1]}, "experiments": [\n{lines}\n], {json.dumps(end, ensure_ascii=False)[1:]}\n'
    write_atomically(folder / COLLATED, text)


def read_result(folder: Path) -> dict[str, Any] | None:
    """Return what an experiment's result.json says; None where there is none of this version that can be read."""
    try:
        found = strict_json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("schema_version") == SCHEMA_VERSION else None
