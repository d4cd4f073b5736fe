"""What an experiment came to, for Python and notebooks."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.analysis.stand_ins import stand_ins
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.controller.state import ExperimentState
from benchmarking.export.reports_csv import reports_table
from benchmarking.export.trials_csv import trials_table
from benchmarking.export.usage_csv import usage_table
from benchmarking.report.comparison import comparison_rows
from benchmarking.report.described import summary_of
from benchmarking.report.strata import strata
from benchmarking.report.summary import Summary, keys_shown, ranking, real_ranking
from benchmarking.report.text import shown, table
from definitions.errors import UserError
from definitions.schema import Mode

_TABLES = ("trials", "reports", "usage")


@dataclass(frozen=True, repr=False)
class ResultTable(Sequence[dict[str, Any]]):
    """Rows with names, which show themselves as a table.

    Args:
        rows: (n_rows,) each with the same keys in the same order.
        caption: what they say, in a sentence.
    """

    rows: tuple[dict[str, Any], ...]
    caption: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas table; raises `UserError` where pandas is not installed."""
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ModuleNotFoundError as error:
            raise UserError("to_pandas()", "pandas is not installed here", "pip install pandas, or go through the rows") from error
        return pandas.DataFrame(list(self.rows))

    def __repr__(self) -> str:
        text = table(list(self.rows[0]), [list(row.values()) for row in self.rows]) if self.rows else ""
        return "\n".join(part for part in (self.caption, text) if part)

    def _repr_html_(self) -> str:
        caption = f"<p>{html.escape(self.caption)}</p>" if self.caption else ""
        if not self.rows:
            return caption
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.rows[0])
        lines = ("".join(f"<td>{html.escape(shown(value))}</td>" for value in row.values()) for row in self.rows)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True, repr=False)
class Result:
    """An experiment that was run or read again.

    Args:
        spec: what was run.
        state: all that its journal amounts to.
        summary: verdict and table as they are printed.
        trials: the rows of trials.csv, of each trial one.
        comparison: what `compare` returns.
    """

    spec: ExperimentSpec
    state: ExperimentState
    summary: Summary
    trials: ResultTable
    comparison: ResultTable

    @property
    def verdict(self) -> str:
        """Which configuration wins, by how much, and whether the measurements can carry that."""
        return self.summary.verdict

    @property
    def best_value(self) -> float | None:
        """Primary objective of the leading configuration (mean over repeats); None where nothing was completed."""
        return self.summary.best

    @property
    def best_config(self) -> dict[str, Any] | None:
        """The leading configuration; None where nothing was completed."""
        return None if self.summary.best_config is None else dict(self.summary.best_config)

    @property
    def ended(self) -> str:
        """Why and how it ended, in a sentence; empty where it was killed, and goes on when it is run again."""
        return "" if self.state.ended is None else str(self.state.ended["message"])

    def table(self, name: str = "trials") -> ResultTable:
        """Return the rows of `trials`, `reports` or `usage`, as the CSV file of that name has them.

        The last two are read from the journal now, up to where it was read for this result.

        Raises:
            UserError: there is no such table, or the journal cannot be read.
        """
        if name == "trials":
            return self.trials
        if name not in _TABLES:
            raise UserError(f"table({name!r})", f"there are: {', '.join(_TABLES)}")
        with contextlib.closing(SqliteJournal(self.spec.folder / "journal.sqlite", read_only=True)) as journal:
            if name == "usage":
                return ResultTable(tuple(usage_table(self.state, journal.records())))
            return ResultTable(tuple(reports_table(self.spec.definition, self.state, journal)[1]))

    def to_pandas(self, name: str = "trials") -> Any:
        """Return a table as pandas', `trials` where none is named; raises `UserError` as `table`, or where pandas is not installed."""
        return self.table(name).to_pandas()

    def compare(self) -> ResultTable:
        """Return how each configuration compares with the leader: by what factor, in which 95 % interval, and whether that decides it."""
        return self.comparison

    def __repr__(self) -> str:
        return f"<{self.spec.title}: {len(self.state.trials)} trials, best {self.best_value} at {self.best_config or {}}>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.verdict)}</p><pre>{html.escape(self.summary.table)}</pre>"


class Results(list[Result]):
    """Several experiments, in the order in which they ran.

    Args:
        found: each of them.
        comparison: of their methods; without rows where there is nothing to compare.
    """

    def __init__(self, found: Iterable[Result] = (), comparison: ResultTable | None = None) -> None:
        super().__init__(found)
        self.comparison = comparison or ResultTable(())

    @property
    def best(self) -> Result | None:
        """The experiment with the best value of its primary objective; None where nothing was completed, or objectives differ."""
        if len({self._objective(one) for one in self}) != 1:
            return None
        sign = 1.0 if self._objective(self[0])[1] == "min" else -1.0
        return min((one for one in self if one.best_value is not None), key=lambda one: sign * (one.best_value or 0.0), default=None)

    def compare(self) -> ResultTable:
        """Return how the methods compare on each benchmark, a row each, as `outrider compare` does; its caption are the verdicts."""
        return self.comparison

    def table(self, name: str = "trials") -> ResultTable:
        """Return a table of all experiments in one, with benchmark, method and seed; raises `UserError` as `Result.table`."""
        return ResultTable(tuple({**_about(one), **row} for one in self for row in one.table(name)))

    def to_pandas(self, name: str = "trials") -> Any:
        """Return a table of all experiments as pandas'; raises `UserError` as `Result.to_pandas`."""
        return self.table(name).to_pandas()

    def __repr__(self) -> str:
        return repr(self._table())

    def _repr_html_(self) -> str:
        return self._table()._repr_html_()

    def _table(self) -> ResultTable:
        rows = ({**_about(one), "trials": len(one.trials), "objective": self._objective(one)[0], "best": one.best_value} for one in self)
        return ResultTable(tuple(rows))

    @staticmethod
    def _objective(one: Result) -> tuple[str, Mode]:
        definition = one.spec.definition
        return definition.primary_objective, definition.objectives[definition.primary_objective]


def _about(one: Result) -> dict[str, Any]:
    return {"benchmark": one.spec.definition.name, "method": one.spec.method, "seed": one.spec.number}


class Interrupted(KeyboardInterrupt):
    """A run was interrupted and wound down.

    Args:
        results: of the experiments that began; what was measured is in the last one too.
        resume: what to type to go on.
    """

    def __init__(self, results: Results, resume: str) -> None:
        self.results = results
        self.result = self.results[-1]
        tag = self.result.spec.tag
        super().__init__(f"{self.result.ended}; outrider.load({tag!r}) reads what was measured, and this goes on: {resume}")

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback."""
        return [str(self)]


def result_of(spec: ExperimentSpec, state: ExperimentState, price_label: str = "", *, keeps_warm: bool = False) -> Result:
    """Return the result of an experiment. All is computed at once, so that it depends on nothing that is imported later.

    Args:
        spec: what was run.
        state: all that its journal amounts to.
        price_label: what kind of dollars it counts, e.g. `nominal`.
        keeps_warm: whether its back-end keeps instances warm.
    """
    definition = spec.definition
    objectives, primary, order = definition.objectives, definition.primary_objective, definition.configuration_keys
    stood_in = stand_ins(definition, spec.backend, price_label)
    summary = summary_of(definition, spec.backend, state, price_label, spec.folder, keeps_warm=keeps_warm)
    points = {number: one.first.configuration for number, one in state.evaluations.items()}
    rankings = [
        real_ranking(ranking(state, primary, objectives[primary], among=stratum.evaluations), primary, stood_in)
        for stratum in strata(points, definition.compare_within)
    ]
    measured = [entry for ranked in rankings if ranked is not None for entry in (ranked.leader, *(one.other for one in ranked.comparisons))]
    keys = keys_shown([one.configuration for one in measured], order)
    comparison = ResultTable(tuple(row for ranked in rankings for row in comparison_rows(ranked, primary, keys)), summary.verdict)
    return Result(spec, state, summary, ResultTable(tuple(trials_table(definition, state))), comparison)
