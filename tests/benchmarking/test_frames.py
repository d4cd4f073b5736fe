"""Results as tables of pandas: the rows of the CSV files with whose they are, and Syne Tune's as its own loader reads them."""

from __future__ import annotations

import csv
import shutil

import pytest

import benchmarking.analysis
from benchmarking.archive.stored import load as load_stored
from benchmarking.export.csv_exporter import CsvExporter
from benchmarking.export.exporter import ExportContext
from benchmarking.export.syne_tune_exporter import SyneTuneExporter
from benchmarking.frames import load
from benchmarking.results import exported
from definitions.errors import UserError
from tests.benchmarking.archive.stored_folders import change_identity, copied

pandas = pytest.importorskip("pandas")
ABOUT = ["tag", "benchmark", "method", "backend", "seed"]


@pytest.fixture
def results(tmp_path):
    """Two seeds under one tag, the second a copy of the first."""
    folder = copied(tmp_path, "repeated")
    second = folder.with_name("GRID-simulated-1")
    shutil.copytree(folder, second)
    change_identity(second, number=1)
    return tmp_path / "results"


def with_exported(folder, exporter, target):
    stored = load_stored(folder)
    with stored.journal() as journal:
        one = exported(stored.spec, stored.folder, stored.state(journal), journal, stored.region)
        exporter(ExportContext("repeated", target, {}, print)).experiment(one, target)


def test_it_is_what_the_analysis_gives():
    assert benchmarking.analysis.load is load
    with pytest.raises(AttributeError, match=r"'benchmarking\.analysis' has no attribute 'lode'"):
        benchmarking.analysis.lode  # noqa: B018


def test_rows_are_those_of_the_csv_with_whose_they_are_before_them(results):
    found = load("repeated", results)
    folder = results / "repeated" / "stored" / "GRID-simulated-0"
    with_exported(folder, CsvExporter, folder)
    with (folder / "trials.csv").open(newline="", encoding="utf-8") as file:
        known = list(csv.DictReader(file))
    assert [*found.trials.columns] == [*ABOUT, *known[0]]
    assert found.trials[ABOUT].drop_duplicates().to_numpy().tolist() == [["repeated", "stored", "GRID", "simulated", at] for at in (0, 1)]
    first = found.trials[found.trials["seed"] == 0]
    assert first["trial"].tolist() == [int(row["trial"]) for row in known]
    assert first["cost_usd"].tolist() == pytest.approx([float(row["cost_usd"]) for row in known])
    assert len(found.trials) == 2 * len(known)
    assert (len(found.reports) > 0, len(found.usage) > 0, len(found.forecasts)) == (True, True, 0)
    assert load(results / "repeated").trials.equals(found.trials)


def test_a_damaged_journal_is_warned_of_and_the_others_are_read(results):
    (results / "repeated" / "stored" / "GRID-simulated-1" / "journal.sqlite").write_bytes(b"half")
    with pytest.warns(UserWarning, match="left out: .*GRID-simulated-1"):
        found = load("repeated", results)
    assert set(found.trials["seed"]) == {0}
    (results / "repeated" / "stored" / "GRID-simulated-0" / "journal.sqlite").write_bytes(b"half")
    with pytest.warns(UserWarning, match="left out"), pytest.raises(UserError, match="journal"):
        load("repeated", results)


def test_a_tag_that_there_is_not_is_said(results):
    with pytest.raises(UserError, match=r"there is no experiment in .*nothing"):
        load("nothing", results)


@pytest.mark.slow
def test_syne_tune_s_loader_reads_the_same_from_what_is_exported(results, tmp_path):
    experiments = pytest.importorskip("syne_tune.experiments")
    for number in (0, 1):
        with_exported(results / "repeated" / "stored" / f"GRID-simulated-{number}", SyneTuneExporter, tmp_path)
    theirs = experiments.load_experiments_df(root=tmp_path / "syne_tune")
    order = ["seed", "trial_id", "st_worker_iter"]
    ours = load("repeated", results).syne_tune
    assert sorted(ours.columns) == sorted(theirs.columns)
    left, right = (frame.sort_values(order, ignore_index=True)[sorted(theirs.columns)] for frame in (ours, theirs))
    pandas.testing.assert_frame_equal(left, right)
