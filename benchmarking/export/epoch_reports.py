"""The reports of epochs in a journal, by trial: what pipeline.csv and the formats of other benchmarks are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.analysis.epoch_costs import epoch_times
from benchmarking.analysis.pipeline_figures import is_epoch
from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.export.exporter import ExportedExperiment
from definitions.errors import UserError
from definitions.scalars import is_number


def epoch_reports(state: ExperimentState, records: Iterable[Record]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the trial and the metrics of each report of an epoch, in their order.

    Args:
        state: of the experiment; what was written since it was read is left for the next time.
        records: of its journal.
    """
    found: list[tuple[int, Mapping[str, Any]]] = []
    trials: dict[str, int] = {}
    for record in records:
        if record.sequence > state.sequence:
            break
        if record.kind == "start":
            trials[record.body["job"]] = record.body["trial"]
        elif record.kind == "reported" and record.body["job"] in trials and is_epoch(record.body["metrics"]):
            found.append((trials[record.body["job"]], record.body["metrics"]))
    return found


@dataclass(frozen=True)
class ReadEpochs:
    """What a trial read in its epochs.

    Args:
        durations_s: of each, without listing and download; `before_s`: these, of all.
        samples, bytes: of all.
    """

    durations_s: Sequence[float]
    before_s: float
    samples: int
    bytes: int

    @property
    def seconds(self) -> float:
        """Of all epochs together."""
        return math.fsum(self.durations_s)

    @property
    def samples_per_s(self) -> float | None:
        """Over all epochs, warm-up included, as benchmarks without a steady window count; None without seconds."""
        return self.samples / self.seconds if self.seconds > 0 else None

    @property
    def mebibytes_per_s(self) -> float | None:
        """Likewise: bytes that were read, by 1,048,576."""
        return self.bytes / 2**20 / self.seconds if self.seconds > 0 else None


def trials_that_read(one: ExportedExperiment, format_name: str) -> list[tuple[TrialState, ReadEpochs]]:
    """Return the completed trials of an experiment that reported epochs, with what they read.

    Args:
        one: the experiment.
        format_name: that is asked for, for the message.

    Raises:
        UserError: there are none.
    """
    read = epochs_read(one.state, one.journal.records())
    trials = one.state.trials.values()
    found = [(trial, read[trial.trial]) for trial in trials if trial.status is TrialStatus.COMPLETED and trial.trial in read]
    if not found:
        what = "no completed trial reported epochs of an input pipeline"
        raise UserError(f"--to {format_name}: {one.title}", what, "export another format")
    return found


def epochs_read(state: ExperimentState, records: Iterable[Record]) -> dict[int, ReadEpochs]:
    """Return what each trial read whose script reports its epochs; of one that was run again, the epochs of its last time."""
    by_trial: dict[int, dict[Any, Mapping[str, Any]]] = {}
    for trial, metrics in epoch_reports(state, records):
        known = by_trial.setdefault(trial, {})
        known[metrics.get("epoch", len(known) + 1)] = metrics
    found = {}
    for trial, epochs in by_trial.items():
        times = [(one, metrics) for metrics in epochs.values() if (one := epoch_times(metrics)) is not None]
        if times:
            samples, size = (sum(int(m[name]) for _, m in times if is_number(m.get(name))) for name in ("samples", "bytes"))
            durations = [one.whole_s - one.before_s for one, _ in times]
            found[trial] = ReadEpochs(durations, math.fsum(one.before_s for one, _ in times), samples, size)
    return found
