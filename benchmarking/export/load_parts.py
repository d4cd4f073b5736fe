"""What load scripts left of each probe, stage or open load: read from the folders of jobs, with the counts whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarking.controller.journal import Record
from benchmarking.controller.state import ExperimentState
from benchmarking.workloads.load.tally import LoadTally


@dataclass(frozen=True)
class LoadPart:
    """A probe, a stage or an open load of a trial.

    Args:
        trial: whose it is; `job`: that ran it.
        told: kind, rate or users, seconds, platform, ...: all of the file but its counts.
        counts: of the requests.
    """

    trial: int
    job: str
    told: Mapping[str, Any]
    counts: LoadTally

    @property
    def seconds(self) -> float:
        """For how long it was counted."""
        return float(self.told.get("seconds") or 0.0)

    @property
    def name(self) -> str:
        """What the notebooks call its endpoint: instance type, platform and number of models, asterisks between them."""
        return f"{self.told.get('instance_type') or 'unknown'}*{self.told.get('platform') or 'unknown'}*{self.told.get('targets', 1)}"

    @property
    def models(self) -> str:
        """Names of its models."""
        return "+".join(self.told.get("models") or ())


def read_load_parts(folder: Path, state: ExperimentState, records: Iterable[Record]) -> Sequence[LoadPart]:
    """Return the parts of all trials, in order of trial, attempt and number; a file that cannot be read is passed over.

    Args:
        folder: of the experiment, with the folders of its jobs.
        state: of the experiment; what was written since it was read is left for the next time.
        records: of its journal.
    """
    found = []
    for record in records:
        if record.sequence > state.sequence:
            break
        if record.kind == "start":
            job, trial = str(record.body["job"]), int(record.body["trial"])
            for path in sorted((folder / "jobs" / job / "output" / "load").glob("part-*.json")):
                part = _part(path, trial, job)
                if part is not None:
                    found.append(part)
    return sorted(found, key=lambda part: part.trial)


def _part(path: Path, trial: int, job: str) -> LoadPart | None:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        counts = LoadTally.from_dict(held.pop("counts"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return LoadPart(trial, job, held, counts)
