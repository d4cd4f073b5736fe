import sys

import pytest

from benchmarking.controller.state import ExperimentState
from benchmarking.export.csv_exporter import CsvExporter
from benchmarking.export.parquet_exporter import ParquetExporter
from definitions.errors import UserError
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeTable, definition
from tests.benchmarking.export.exported import context, one, rows_of

pyarrow_parquet = pytest.importorskip("pyarrow.parquet")


def read(path):
    return pyarrow_parquet.read_table(path)


def test_tables_have_the_columns_and_values_of_the_csv_files_with_types(tmp_path):
    found = one(definition(budget=Budget(max_num_trials=2), space={"x": {"choice": [1, 2]}}), tmp_path, method="GRID")
    told = ParquetExporter(context()).experiment(found, tmp_path)
    assert told == [str(tmp_path / f"{name}.parquet") for name in ("trials", "reports", "usage")]
    CsvExporter(context()).experiment(found, tmp_path)
    for name in ("trials", "reports", "usage"):
        assert read(tmp_path / f"{name}.parquet").column_names == list(rows_of(tmp_path / f"{name}.csv")[0])
    trials = read(tmp_path / "trials.parquet")
    assert trials["x"].to_pylist() == [1, 2]
    assert trials["best_loss"].to_pylist() == pytest.approx([1 / 3 + 0.01, 1 / 3 + 0.02], abs=1e-12)
    assert str(trials.schema.field("cost_usd").type) == "double"
    assert str(read(tmp_path / "reports.parquet").schema.field("alien").type) == "string"
    # No job of this machine has such a stage; where one has, it is seconds.
    usage = read(tmp_path / "usage.parquet")
    assert usage["stage_downloading_s"].to_pylist() == [None, None]
    assert str(usage.schema.field("stage_downloading_s").type) == "double"


def test_mixed_and_odd_values_become_text_and_nothing_is_refused(tmp_path):
    values = [1, "two", None, float("nan"), [1, 2], "half \udc80", 2**70]

    class Odd(FakeTable):
        def run(self, configuration, level, repeat):
            found = super().run(configuration, level, repeat)
            return (
                found
                if found is None
                else type(found)([(at, {**m, "odd": values[configuration["x"]]}) for at, m in found.reports], found.duration_s)
            )

    benchmark = definition(space={"x": {"choice": list(range(len(values)))}})
    found = one(benchmark, tmp_path, method="GRID", table=Odd(reports=1), n_workers=1)
    ParquetExporter(context()).experiment(found, tmp_path)
    assert read(tmp_path / "reports.parquet")["odd"].to_pylist() == ["1", "two", None, "nan", "[1,2]", "half \\udc80", str(2**70)]


def test_an_experiment_without_trials_leaves_empty_tables(tmp_path):
    found = one(definition(budget=Budget(max_num_trials=1)), tmp_path)
    object.__setattr__(found, "state", ExperimentState(found.state.setup))
    object.__setattr__(found, "journal", type(found.journal)())
    ParquetExporter(context()).experiment(found, tmp_path)
    assert read(tmp_path / "trials.parquet").num_rows == 0


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    with pytest.raises(UserError, match=r"(?s)--to parquet.*needs pyarrow.*pip install '\.\[parquet\]'"):
        ParquetExporter(context())
