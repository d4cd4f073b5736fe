"""`--to bencher`: bencher.csv with the columns that SageMaker Bencher's notebook reads, a row a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.controller.rows import TrialState
from benchmarking.export.epoch_reports import ReadEpochs, trials_that_read
from benchmarking.export.exporter import ExportContext, ExportedExperiment
from benchmarking.export.files import write_csv
from definitions.schema import BenchmarkDefinition

NAME = "bencher.csv"

_MODES = {"fastfile": "ffm"}
_FORMATS = {"tar": "tar/jpg", "tfrecord": "tfrecord/{}"}
_NAMES = {"loader_workers": "num_workers", "image_size": "input_dim", "prefetch_factor": "prefetch_size", "drop_last": "batch_drop_last"}
_STAGES = ("Starting", "Downloading", "Training", "Uploading")


class BencherExporter:
    """Writes bencher.csv of experiments; see `benchmarking.export.exporter.Exporter`."""

    writes_files = True

    def __init__(self, context: ExportContext) -> None:
        pass

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Write the file of one experiment; raises `UserError` where its script reports no epochs, or it cannot be written."""
        rows = bencher_rows(one)
        columns = list(dict.fromkeys(name for row in rows for name in row))
        write_csv(folder / NAME, columns, [[row.get(name) for name in columns] for row in rows])
        return [str(folder / NAME)]

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Do nothing: the experiments have no file in common."""
        return ()


def bencher_rows(one: ExportedExperiment) -> list[dict[str, Any]]:
    """Return a row for each completed trial that reported epochs, in seconds and images.

    `img_sec_ave_tot` is images of all epochs over `t_training_exact`, their seconds, warm-up included, as there; `t_training_sm` are
    the seconds that are paid for.

    Raises:
        UserError: there are none.
    """
    return [_row(one, trial, read) for trial, read in trials_that_read(one, "bencher")]


def _row(one: ExportedExperiment, trial: TrialState, read: ReadEpochs) -> dict[str, Any]:
    settings = {**one.definition.arguments, **trial.configuration}
    stages = trial.usage.get("stages_s")
    known: Mapping[str, Any] = stages if isinstance(stages, Mapping) else {}
    dataset, mode = str(settings.get("dataset") or next(iter(one.definition.datasets), "")), settings.get("ingestion")
    times = {f"t_{name.lower()}": known.get(name) for name in _STAGES}
    if "Downloading" not in known:
        times["t_downloading"] = read.before_s
    others = {_NAMES.get(key, key): value for key, value in settings.items() if key not in ("dataset", "ingestion")}
    return {
        "TrialComponentName": f"{one.tag}-{trial.trial}-{trial.repeat}",
        "dataset/train": dataset,
        "input_mode/train": _MODES.get(str(mode), mode),
        "input_format/train": _form(one.definition, dataset),
        **others,
        **times,
        "t_training_sm": trial.value_of("billable_s"),
        "t_training_exact": read.seconds,
        "img_sec_ave_tot": read.samples_per_s,
        "img_tot": read.samples,
        **{f"t_epoch_{number}": seconds for number, seconds in enumerate(read.durations_s, 1)},
    }


def _form(definition: BenchmarkDefinition, name: str) -> str | None:
    dataset = definition.datasets.get(name)
    if dataset is None:
        return None
    return _FORMATS.get(dataset.format, dataset.format).format(getattr(dataset, "encoding", None) or "jpg")
