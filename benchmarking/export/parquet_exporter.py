"""`--to parquet`: the tables of `--to csv` as Parquet, with types; needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.export.exporter import ExportContext, ExportedExperiment
from benchmarking.export.files import cell
from benchmarking.export.tables import tables_of
from definitions.errors import UserError
from definitions.files import replacing_with
from definitions.program import install_extra

_UNITS = ("_s", "_usd")
"""What names of seconds and of dollars end in."""


class ParquetExporter:
    """Writes trials, reports, usage and forecasts as Parquet; see `benchmarking.export.exporter.Exporter`.

    Raises:
        UserError: pyarrow is not installed.
    """

    writes_files = True

    def __init__(self, context: ExportContext) -> None:
        try:
            import pyarrow.parquet
        except ModuleNotFoundError as error:
            raise UserError("--to parquet", "it needs pyarrow, which is not installed here", install_extra("parquet")) from error
        self._pyarrow = pyarrow

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Write the files of one experiment; raises `UserError` where one cannot be written."""
        written = []
        for name, table in tables_of(one).items():
            if table.rows or name != "forecasts":
                self._write(folder / f"{name}.parquet", table.columns, table.rows)
                written.append(str(folder / f"{name}.parquet"))
        return written

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Do nothing: the experiments have no file in common."""
        return ()

    def _write(self, path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        arrays = {name: self._array(name, [row[name] for row in rows]) for name in columns}
        with replacing_with(path) as temporary:
            self._pyarrow.parquet.write_table(self._pyarrow.table(arrays), temporary)

    def _array(self, name: str, values: Sequence[Any]) -> Any:
        """Return a column: of numbers or of booleans where all are such, else of text as in the CSV files."""
        known = [value for value in values if value is not None]
        if not known and name.endswith(_UNITS):
            # As where there are some, so that files of several experiments are one table.
            return self._pyarrow.array(values, self._pyarrow.float64())
        if known and all(type(value) is bool for value in known):
            return self._pyarrow.array(values, self._pyarrow.bool_())
        if known and all(type(value) is int and -(2**63) <= value < 2**63 for value in known):
            return self._pyarrow.array(values, self._pyarrow.int64())
        if known and all(type(value) in (int, float) for value in known):
            return self._pyarrow.array([None if value is None else float(value) for value in values], self._pyarrow.float64())
        return self._pyarrow.array([None if value is None else _text(value) for value in values], self._pyarrow.string())


def _text(value: Any) -> str:
    # Half a character, which a script may report, is no UTF-8.
    return cell(value).encode("utf-8", "backslashreplace").decode()
