"""`--to csv`: trials.csv, reports.csv, usage.csv; forecasts.csv of canaries, pipeline.csv and ceilings.csv of input pipelines; load/."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarking.export.exporter import ExportContext, ExportedExperiment
from benchmarking.export.files import write_csv
from benchmarking.export.load_csv import write_load
from benchmarking.export.pipeline_csv import write_pipeline
from benchmarking.export.reports_csv import write_reports
from benchmarking.export.trials_csv import write_trials
from benchmarking.export.usage_csv import write_usage


class CsvExporter:
    """Writes the CSV files of experiments; see `benchmarking.export.exporter.Exporter`."""

    writes_files = True

    def __init__(self, context: ExportContext) -> None:
        pass

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Write the files of one experiment; raises `UserError` where one cannot be written."""
        trials, reports, usage, forecasts = (folder / f"{name}.csv" for name in ("trials", "reports", "usage", "forecasts"))
        write_trials(trials, one.definition, one.state)
        write_reports(reports, one.definition, one.state, one.journal)
        write_usage(usage, one.state, one.journal)
        if one.forecasts:
            write_csv(forecasts, list(one.forecasts[0]), [list(row.values()) for row in one.forecasts])
        of_pipeline = write_pipeline(folder, one.definition, one.state, one.journal.records())
        of_load = write_load(folder, one.folder, one.state, one.journal.records())
        return [str(path) for path in (trials, reports, usage, *([forecasts] if one.forecasts else []), *of_pipeline, *of_load)]

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Do nothing: the experiments have no file in common."""
        return ()
