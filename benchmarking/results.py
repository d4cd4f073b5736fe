"""From an experiment, running or in its folder, to what exporters get, and what a controller leaves at its end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarking.archive.dollars import kind_of_dollars
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import experiments_of
from benchmarking.controller.journal import Journal
from benchmarking.controller.prefixes import has_canaries
from benchmarking.controller.state import ExperimentState
from benchmarking.export.exporter import ExportContext, ExportedExperiment
from benchmarking.export.json_exporter import RESULT, read_result, write_collated
from benchmarking.export.registry import DEFAULT, make_exporter
from definitions import strict_json


def exported(spec: ExperimentSpec, folder: Path, state: ExperimentState, journal: Journal, region: str) -> ExportedExperiment:
    """Return what exporters get of an experiment.

    Args:
        spec: what it is.
        folder: where it is kept.
        state: all that its journal amounts to.
        journal: open for reading.
        region: whose prices count.
    """
    return ExportedExperiment(
        tag=spec.tag,
        method=spec.method,
        number=spec.number,
        seed=spec.seed,
        backend=spec.backend,
        region=region,
        folder=folder,
        definition=spec.definition,
        state=state,
        journal=journal,
        method_arguments=spec.method_arguments,
        dollars=kind_of_dollars(folder, spec.backend),
        environment=_environment(folder),
        forecasts=forecast_rows(spec, state, region),
    )


def write_results(spec: ExperimentSpec, state: ExperimentState, journal: Journal, region: str) -> None:
    """Write what a controller leaves in its experiment's folder at its end; raises `UserError` where it cannot be written."""
    one = exported(spec, spec.folder, state, journal, region)
    for name in DEFAULT:
        make_exporter(name, ExportContext(spec.tag, spec.folder.parent.parent, os.environ, lambda line: None)).experiment(one, spec.folder)


def collate(tag_folder: Path) -> None:
    """Write collated_results.json of a tag that has several experiments, of what their result.json say, without reading a journal.

    Raises:
        UserError: it cannot be written.
    """
    folders = experiments_of(tag_folder)
    if len(folders) < 2:
        return
    documents, left_out = [], []
    for folder in folders:
        document = read_result(folder)
        if document is None:
            left_out.append(f"{folder.relative_to(tag_folder)}: there is no {RESULT}, so it has not ended")
        else:
            documents.append(document)
    write_collated(tag_folder, tag_folder.name, documents, left_out)


def _environment(folder: Path) -> Mapping[str, Any]:
    """Return what environment.json says; empty where it is missing or damaged, as no result depends on it."""
    try:
        found = strict_json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def forecast_rows(spec: ExperimentSpec, state: ExperimentState, region: str) -> list[dict[str, Any]]:
    """Return the rows of forecasts.csv, with the prices of a region; empty where there are no canaries."""
    if not has_canaries(state.trials):
        return []
    # Only where there may be canaries: numpy and scipy are loaded for them.
    from benchmarking.forecasting.model.billing import Billing
    from benchmarking.forecasting.model.draws import Question
    from benchmarking.forecasting.render import as_rows
    from benchmarking.forecasting.report import forecasts_of

    return as_rows(forecasts_of(spec.definition, state, Question(billing=Billing(region, options=spec.definition.block))))
