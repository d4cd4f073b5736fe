"""Checkpoints of replayed runs: how far each of them had come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from backends.checkpoint_store import CheckpointStore


class SimulatedCheckpoints(CheckpointStore):
    """Remembers how many reports of its run a trial has made; kept in a folder, where one is given, for jobs that ended early."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._reports: dict[str, int] = {}
        if folder is not None and folder.is_dir():
            self._reports = {path.stem: int(json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")}

    def reports(self, key: str | None) -> int:
        """Return the number of reports behind a checkpoint; 0 where there is none."""
        return 0 if key is None else self._reports.get(key, 0)

    def restored(self, job: str, key: str | None) -> int:
        """Return the number of reports that a job starts behind; the same when it is adopted, whatever was written since."""
        if key is None:
            return 0
        if f"of-{job}" not in self._reports:
            self.write(f"of-{job}", self.reports(key))
        return self._reports[f"of-{job}"]

    def note(self, key: str, reports: int) -> None:
        """Let a running job's checkpoint be that of its latest report."""
        self._reports[key] = reports

    def write(self, key: str, reports: int) -> None:
        """Keep a checkpoint."""
        self._reports[key] = reports
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / f"{key}.json").write_text(str(reports), encoding="utf-8")

    def copy(self, source: str, target: str) -> None:
        """Let `target` be behind as many reports as `source` is; a source that does not exist copies to nothing."""
        if source in self._reports:
            self.write(target, self._reports[source])

    def delete(self, keys: Sequence[str]) -> None:
        """Forget checkpoints, also in their folder; unknown keys are ignored."""
        for key in keys:
            if self._reports.pop(key, None) is not None and self._folder is not None:
                (self._folder / f"{key}.json").unlink(missing_ok=True)

    def exists(self, key: str) -> bool:
        """Return whether at least one report is behind the key."""
        return self._reports.get(key, 0) > 0
