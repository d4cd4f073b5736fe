"""`--to mlflow` and the like: the experiments of a tag as a tracker gets them while they run, told afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarking.export.exporter import ExportContext, ExportedExperiment, ExporterFactory
from benchmarking.tracking.process import TrackingProcess
from benchmarking.tracking.registry import check_tracker, tracker_names
from definitions.errors import UserError


class TrackingExporter:
    """Tells a tracker; see `benchmarking.export.exporter.Exporter`.

    Args:
        context: what exporters are made with; `kind`: of tracker.
    """

    writes_files = False

    def __init__(self, context: ExportContext, kind: str) -> None:
        check_tracker(kind, context.environ)
        self._kind, self._context = kind, context
        self._process: TrackingProcess | None = None
        self._folders: list[Path] = []

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Have one experiment told, beside what else is exported."""
        if self._process is None:
            self._process = TrackingProcess(self._kind, self._context.say, self._context.environ)
        self._folders.append(one.folder)
        self._process.follow(one.folder)
        return ()

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Wait until the tracker has all; raises `UserError` where it does not take it."""
        if self._process is None:
            return ()
        left, error = self._process.close(once=True, timeout_s=None)
        self._process = None
        if left is None or left:
            which = f": {left[0]}" if left else ""
            raise UserError(
                f"--to {self._kind}: not all of {self._context.tag} could be told{which}",
                error or "another process tells of it just now",
                "the same command goes on where this one ended; nothing is there twice",
            )
        count = len(self._folders)
        return [f"{self._kind} has {count} experiment{'s' * (count > 1)} of {self._context.tag}"]


def tracking_exporters() -> dict[str, ExporterFactory]:
    """Return what makes the exporter to each tracker, by its kind."""
    return {kind: partial(TrackingExporter, kind=kind) for kind in tracker_names()}
