"""The tables of an experiment by name, for formats with types and for Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.export.exporter import ExportedExperiment
from benchmarking.export.reports_csv import reports_table
from benchmarking.export.trials_csv import trials_header, trials_table
from benchmarking.export.usage_csv import usage_columns, usage_table


@dataclass(frozen=True)
class ExportedTable:
    """One table.

    Args:
        columns: names, in their order.
        rows: (n_rows,) values by column.
    """

    columns: Sequence[str]
    rows: Sequence[dict[str, Any]]


def tables_of(one: ExportedExperiment) -> dict[str, ExportedTable]:
    """Return `trials`, `reports`, `usage` and `forecasts` of an experiment, with the columns of the CSV files of these names."""
    usage = usage_table(one.state, one.journal.records())
    forecasts = [dict(row) for row in one.forecasts]
    return {
        "trials": ExportedTable(trials_header(one.definition, one.state), trials_table(one.definition, one.state)),
        "reports": ExportedTable(*reports_table(one.definition, one.state, one.journal)),
        "usage": ExportedTable(usage_columns(usage), usage),
        "forecasts": ExportedTable(list(forecasts[0]) if forecasts else [], forecasts),
    }
