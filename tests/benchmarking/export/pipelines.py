"""An experiment of two trials that report their epochs, as exporters get it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from backends.events import Accepted, Closed, Ended, Reported, Started
from backends.failures import Outcome
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.export.exporter import ExportedExperiment
from tests.benchmarking.experiments import MemoryJournal, definition

EPOCHS = (
    {"epoch": 1, "samples": 1000, "bytes": 2**20 * 100, "epoch_s": 13.0, "list_s": 1.0, "download_s": 2.0, "first_batch_s": 3.5},
    {"epoch": 2, "samples": 1000, "bytes": 2**20 * 100, "epoch_s": 6.0, "list_s": 0.0, "download_s": 0.0, "first_batch_s": 0.5},
)
USAGE = {
    "stages_s": {"Starting": 40.0, "Downloading": 20.0, "Training": 30.0, "Uploading": 2.0},
    "usage": {
        "load": {"sampled_s": 3.0, "cpu_percent": {"mean": 20.0, "peak": 50.0}},
        "train": {"sampled_s": 1.0, "cpu_percent": {"mean": 60.0, "peak": 80.0}},
    },
}
DEFINITION = {
    "space": {"ingestion": {"choice": ["fastfile", "s3_map"]}},
    "arguments": {"batch_size": 32, "loader_workers": 4, "epochs": 2, "model": "sleep"},
    "datasets": {"shards": {"type": "images", "format": "tar"}},
    "inputs": {"train": {}},
}


def measured(folder: Path, *reports: dict[str, Any], usage: dict[str, Any] | None = None, **more: Any) -> ExportedExperiment:
    """Return an experiment of two trials, each with these reports."""
    journal = MemoryJournal()
    for trial, ingestion in enumerate(("fastfile", "s3_map")):
        at = 100.0 * trial
        suggestion = {"evaluation": trial, "configuration": {"ingestion": ingestion}, "level": None, "repeat": 0, "block_of": 1}
        journal.append(at, "suggest", suggestion)
        started = {"job": f"j{trial}", "trial": trial, "attempt": 1, "restore_from": None, "worst_usd": None}
        journal.append(at + 1, "start", started)
        events: list[Any] = [Accepted(f"j{trial}", at + 2), Started(f"j{trial}", at + 3)]
        events += [Reported(f"j{trial}", at + 4 + n, n, metrics, 1.0 * n) for n, metrics in enumerate(reports)]
        closed = Closed(f"j{trial}", at + 60, Outcome.COMPLETED, started_at=at + 3, ended_at=at + 55, billable_s=52.0, usage=usage or {})
        for event in [*events, Ended(f"j{trial}", at + 55), closed]:
            journal.append(event.at, *event_record(event))
        settled = {
            "job": f"j{trial}",
            "trial": trial,
            "status": "completed",
            "cause": None,
            "message": "",
            "counts": False,
            "retry_at": None,
        }
        journal.append(at + 60, "settle", {**settled, "cost_usd": 0.52})
    state = ExperimentState(StateSetup({"loss": "min"}))
    for record in journal.records():
        state.apply(record)
    made = ExportedExperiment("t", "RS", 0, 7, "local", "", folder, definition(**DEFINITION), state, journal)
    return dataclasses.replace(made, **more)
