"""What an experiment came to, for Python and notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.state import ExperimentState

if TYPE_CHECKING:
    from benchmarking.report.summary import Summary


@dataclass(frozen=True, repr=False)
class Result:
    """An experiment that was run or read again; `state` is all that its journal amounts to."""

    spec: ExperimentSpec
    state: ExperimentState = field(repr=False)

    @property
    def summary(self) -> Summary:
        """Verdict and table as they are printed."""
        from benchmarking.report.summary import summarise

        definition = self.spec.definition
        return summarise(self.state, definition.objectives, "", definition.configuration_keys)

    @property
    def verdict(self) -> str:
        """Which configuration wins, by how much, and whether the measurements can carry that."""
        return self.summary.verdict

    @property
    def best_value(self) -> float | None:
        """Primary objective of the leading configuration (mean over repeats); None where nothing was completed."""
        return self.summary.best

    @property
    def best_config(self) -> Mapping[str, Any] | None:
        """The leading configuration; None where nothing was completed."""
        return self.summary.best_config

    @property
    def trials(self) -> list[dict[str, Any]]:
        """The rows of trials.csv."""
        from benchmarking.export.trials_csv import trials_header, trials_rows

        header = trials_header(self.spec.definition, self.state)
        return [dict(zip(header, row, strict=True)) for row in trials_rows(self.spec.definition, self.state)]

    def to_pandas(self) -> Any:
        """Return `trials` as a pandas table; raises `UserError` where pandas is not installed."""
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ModuleNotFoundError as error:
            from definitions.errors import UserError

            raise UserError("to_pandas()", "pandas is not installed here", "pip install pandas, or read .trials") from error
        return pandas.DataFrame(self.trials)

    def compare(self) -> str:
        """Return the verdict and the table of configurations."""
        return f"{self.verdict}\n{self.summary.table}"

    def __repr__(self) -> str:
        return f"<{self.spec.title}: {len(self.state.trials)} trials, best {self.best_value} at {dict(self.best_config or {})}>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.verdict)}</p><pre>{html.escape(self.summary.table)}</pre>"
