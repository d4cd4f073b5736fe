import dataclasses

import pytest

from benchmarking.export.csv_exporter import CsvExporter
from benchmarking.export.exporter import Exporter
from definitions.errors import UserError
from definitions.schema import Budget
from tests.benchmarking.experiments import definition
from tests.benchmarking.export.exported import context, one, rows_of

FORECASTS = ({"configuration": "a", "median": 1.5}, {"configuration": "b", "median": None})


def test_files_of_an_experiment(tmp_path):
    found = one(definition(budget=Budget(max_num_trials=2)), tmp_path)
    exporter: Exporter = CsvExporter(context())
    assert exporter.experiment(found, tmp_path / "to") == [
        str(tmp_path / "to" / name) for name in ("trials.csv", "reports.csv", "usage.csv")
    ]
    assert [row["trial"] for row in rows_of(tmp_path / "to" / "trials.csv")] == ["0", "1"]
    assert len(rows_of(tmp_path / "to" / "reports.csv")) == 6
    assert exporter.finish([]) == ()


def test_forecasts_only_where_there_are_any(tmp_path):
    found = one(definition(budget=Budget(max_num_trials=1)), tmp_path)
    CsvExporter(context()).experiment(found, tmp_path)
    assert not (tmp_path / "forecasts.csv").exists()
    CsvExporter(context()).experiment(dataclasses.replace(found, forecasts=FORECASTS), tmp_path)
    assert rows_of(tmp_path / "forecasts.csv") == [{"configuration": "a", "median": "1.5"}, {"configuration": "b", "median": ""}]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = one(definition(budget=Budget(max_num_trials=1)), tmp_path)
    with pytest.raises(UserError, match=r"(?s)cannot write .*/file/to/trials.csv"):
        CsvExporter(context()).experiment(found, tmp_path / "file" / "to")


def test_what_was_written_since_the_state_was_read_is_left_for_the_next_time(tmp_path):
    found = one(definition(budget=Budget(max_num_trials=1)), tmp_path)
    CsvExporter(context()).experiment(found, tmp_path / "before")
    found.journal.append(9.0, "start", {"job": "new", "trial": 7, "attempt": 1, "restore_from": None, "worst_usd": None})
    found.journal.append(9.5, "reported", {"job": "new", "sequence": 0, "metrics": {"loss": 1.0}, "elapsed_s": 0.5})
    CsvExporter(context()).experiment(found, tmp_path / "after")
    for name in ("reports.csv", "usage.csv"):
        assert (tmp_path / "after" / name).read_bytes() == (tmp_path / "before" / name).read_bytes()
