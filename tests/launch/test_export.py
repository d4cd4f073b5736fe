"""`outrider export`: formats side by side, what cannot be read or written, and files of which none is half written."""

import json
import resource
import shutil
from importlib.metadata import EntryPoint

import pytest

from launch.__main__ import main
from tests.benchmarking.archive.stored_folders import copied
from tests.launch.conftest import rows

FILES = ("trials.csv", "reports.csv", "usage.csv", "result.json")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    folder = copied(tmp_path, "repeated")
    monkeypatch.setenv("OUTRIDER_RESULTS", str(tmp_path / "results"))
    return folder


def test_without_a_format_it_writes_what_a_run_leaves(stored, capfd):
    assert main(["export", "repeated"]) == 0
    told = capfd.readouterr().out.splitlines()
    assert told == [*(f"{stored}/{name}" for name in FILES), f"{stored.parent.parent}/collated_results.json"]
    collated = json.loads((stored.parent.parent / "collated_results.json").read_text(encoding="utf-8"))
    assert [one["method"] for one in collated["experiments"]] == ["GRID"]


def test_several_formats_elsewhere_leave_the_folder_as_it_was(stored, tmp_path):
    before = sorted(stored.rglob("*"))
    assert main(["export", "repeated", "--to", "csv", "--to", "parquet", "syne_tune", "--output", str(tmp_path / "out")]) == 0
    there = tmp_path / "out" / "stored" / stored.name
    assert {path.name for path in there.iterdir()} == {
        "trials.csv", "reports.csv", "usage.csv", "trials.parquet", "reports.parquet", "usage.parquet",
    }  # fmt: skip
    (tree,) = (tmp_path / "out" / "syne_tune" / "repeated").iterdir()
    assert {path.name for path in tree.iterdir()} == {"results.csv.zip", "metadata.json"}
    assert sorted(stored.rglob("*")) == before


def test_an_unknown_format_is_refused_before_anything_is_written(stored, capfd):
    before = sorted(stored.rglob("*"))
    assert main(["export", "repeated", "--to", "csv", "parkett"]) == 2
    assert "--to parkett: there is no such format" in capfd.readouterr().err
    assert sorted(stored.rglob("*")) == before


def test_an_experiment_that_cannot_be_read_is_named_and_the_others_are_exported(stored, capfd):
    broken = stored.parent / "RS-simulated-9"
    shutil.copytree(stored, broken)
    (broken / "journal.sqlite").write_bytes(b"SQLite format 3\0" + b"\0" * 50)
    assert main(["export", "repeated"]) == 2
    told = capfd.readouterr()
    assert str(broken / "journal.sqlite") in told.err
    assert rows(stored / "usage.csv")
    collated = json.loads((stored.parent.parent / "collated_results.json").read_text(encoding="utf-8"))
    assert [one["method"] for one in collated["experiments"]] == ["GRID"]
    assert str(broken / "journal.sqlite") in collated["left_out"][0]


@pytest.mark.parametrize("formats", ["csv", "json", "parquet", "syne_tune"])
def test_a_full_disk_leaves_what_was_there_and_nothing_torn(stored, formats, capsys):
    assert main(["export", "repeated", "--to", formats]) == 0
    root = stored.parent.parent
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    capsys.readouterr()
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    # From here on no file may be longer than this, as on a disk that has no more room; the reader's own files are shorter.
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, most))
    try:
        code = main(["export", "repeated", "--to", formats])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert code == 2
    said = capsys.readouterr().err
    assert "error: cannot write " in said
    assert "the room on the disk" in said
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_plug_in_s_exporter_that_writes_no_files_gets_a_read_only_copy(stored, monkeypatch, capfd):
    point = EntryPoint("counting", f"{__name__}:Counting", "outrider.exporters")
    monkeypatch.setattr("benchmarking.export.registry.installed", lambda group: (point,))
    stored.chmod(0o555)
    try:
        assert main(["export", "repeated", "--to", "counting"]) == 0
    finally:
        stored.chmod(0o755)
    assert capfd.readouterr().out.splitlines() == ["stored x GRID x seed 0 on simulated: 6 trials", "1 in all, 0 left out"]


class Counting:
    writes_files = False

    def __init__(self, context):
        self.count = 0

    def experiment(self, one, folder):
        self.count += 1
        return [f"{one.title}: {len(one.state.trials)} trials"]

    def finish(self, left_out):
        return [f"{self.count} in all, {len(left_out)} left out"]
