"""`--to syne_tune`: results.csv.zip and metadata.json in Syne Tune's own tree, as its `load_experiments_df` reads them."""

from __future__ import annotations

import datetime
import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.state import ExperimentState
from benchmarking.export.exporter import ExportContext, ExportedExperiment
from benchmarking.export.files import csv_text
from definitions import strict_json
from definitions.configuration import configuration_id
from definitions.files import replacing_with, write_atomically
from definitions.schema import Progressive

_TREE = "syne_tune"
_RESULTS, _METADATA = "results.csv.zip", "metadata.json"

_STATUSES = {
    TrialStatus.COMPLETED: "Completed",
    TrialStatus.STOPPED: "Stopped",
    TrialStatus.PAUSED: "Paused",
    TrialStatus.RUNNING: "InProgress",
    TrialStatus.WAITING: "InProgress",
    TrialStatus.INTERRUPTED: "InProgress",
}
"""Syne Tune's word for a trial's status; `Failed` for all others."""


class SyneTuneExporter:
    """Writes `syne_tune/<tag>/<experiment>/` below the tag's folder; see `benchmarking.export.exporter.Exporter`."""

    writes_files = True

    def __init__(self, context: ExportContext) -> None:
        self._root = context.folder / _TREE

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Write the two files of one experiment; raises `UserError` where one cannot be written."""
        target = self._root / one.tag / experiment_name(one)
        header, rows = results_table(one)
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
            # A fixed date, so that exporting twice gives the same bytes.
            member = zipfile.ZipInfo("results.csv")
            member.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(member, (csv_text(header, rows) + "\n").encode("utf-8", "backslashreplace"))
        with replacing_with(target / _RESULTS) as temporary:
            temporary.write_bytes(content.getvalue())
        # Last, as their loader takes a folder with metadata for a whole one.
        write_atomically(target / _METADATA, json.dumps(metadata(one), indent=2) + "\n")
        return [str(target / _RESULTS), str(target / _METADATA)]

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Tell how to read them."""
        return [f"read by syne_tune.experiments.load_experiments_df(root=pathlib.Path({str(self._root)!r}))"] if self._root.is_dir() else ()


def experiment_name(one: ExportedExperiment) -> str:
    """Return the name of an experiment in Syne Tune's form: tag, method, seed and date, with what else makes it the only one.

    It has no dot, as their `load_experiment` takes what follows one for a suffix.
    """
    began = one.state.first_at or 0.0
    date = datetime.datetime.fromtimestamp(began, datetime.UTC).strftime("%Y-%m-%d-%H-%M-%S")
    words = re.sub(r"[^A-Za-z0-9-]+", "-", f"{one.tag}-{one.benchmark}-{one.method}-{one.number}").strip("-")
    # `A.B` and `A-B` read alike here.
    told_apart = configuration_id({"names": [one.benchmark, one.method, one.backend, one.number]})[:4]
    return f"{words}-{told_apart}-{date}"


def metadata(one: ExportedExperiment) -> dict[str, Any]:
    """Return the content of metadata.json, with the names that SageMaker-era launchers of Syne Tune gave."""
    definition = one.definition
    fidelity = definition.fidelity if isinstance(definition.fidelity, Progressive) else None
    began = one.state.first_at or 0.0
    return {
        "st_tuner_creation_timestamp": began,
        "st_tuner_start_timestamp": began if one.state.first_start is None else one.state.first_start[1],
        "entrypoint": Path(definition.script).stem if definition.script else definition.name,
        "backend": one.backend,
        "algorithm": one.method,
        "scheduler_name": one.method,
        "tag": one.tag,
        "benchmark": one.benchmark,
        "seed": one.number,
        "random_seed": one.seed,
        "n_workers": definition.n_workers,
        "max_wallclock_time": definition.budget.max_wallclock_time,
        "metric_names": list(definition.objectives),
        "metric_mode": [str(mode) for mode in definition.objectives.values()],
        **({} if fidelity is None else {"resource_attr": fidelity.reported_as}),
        **({} if fidelity is None or fidelity.argument is None else {"max_resource_attr": fidelity.argument}),
    }


def results_table(one: ExportedExperiment) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of results.csv: one row a report, in their columns; of trials that reported nothing there is none."""
    clock, state = ExperimentClock(one.journal.sessions()), ExperimentState(one.state.setup)
    rows: list[dict[str, Any]] = []
    latest: dict[int, dict[str, Any]] = {}
    for record in one.journal.records():
        if record.sequence > one.state.sequence:
            break  # written by who runs it, since the state was read
        body = record.body
        job = state.jobs.get(body["job"]) if record.kind == "reported" else None
        clock.before(record.sequence, state)
        state.apply(record)
        if job is not None:
            trial = state.trials[job.trial]
            row = {
                **body["metrics"],
                "trial_id": trial.trial,
                "st_decision": "CONTINUE",
                "st_status": _STATUSES.get(trial.status, "Failed"),
                "st_tuner_time": clock.at(record.at, record.sequence, state),
                "st_worker_time": body["elapsed_s"],
                "st_worker_timestamp": record.at,
                "st_worker_iter": body["sequence"],
                **{f"config_{key}": value for key, value in trial.configuration.items()},
            }
            rows.append(row)
            latest[trial.trial] = row
    _close(one.state, latest)
    derived = [name for name in one.definition.objectives if not any(name in row for row in rows)]
    for number, row in latest.items():
        # What Outrider measures itself is known once a trial has ended.
        row |= {name: one.state.trials[number].value_of(name) for name in derived}
    header = list(dict.fromkeys(name for row in rows for name in row)) or ["trial_id", "st_decision", "st_status", "st_tuner_time"]
    return header, [[_plain(row.get(name)) for name in header] for row in rows]


def _close(state: ExperimentState, latest: dict[int, dict[str, Any]]) -> None:
    """Put into each trial's last row how it ended, as their last row does, and what it cost."""
    for number, row in latest.items():
        trial = state.trials[number]
        row["st_status"] = _STATUSES.get(trial.status, "Failed")
        row["st_worker_cost"] = trial.cost_usd
        if trial.status in (TrialStatus.STOPPED, TrialStatus.PAUSED):
            row["st_decision"] = "STOP" if trial.status is TrialStatus.STOPPED else "PAUSE"


def _plain(value: Any) -> Any:
    return strict_json.dumps(value) if isinstance(value, (dict, list, tuple)) else value
