"""`outrider collect`: the folder is as a run here leaves it, twice is once, and what cannot be collected is said."""

from __future__ import annotations

import errno

import pytest

from benchmarking.controller.journal import DiskFullError
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.studies.files import write_study
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord
from definitions.errors import OutriderError, UserError
from launch import collecting
from launch.__main__ import main
from launch.collecting import collect, outcome_of_collecting, with_collected
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import fake_spec, run_kept

URI = "s3://bucket/outrider/runs/t"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A store with two experiments, and where they ran."""
    monkeypatch.setattr("benchmarking.archive.environment._git", lambda folder: None)  # which would start a process
    store = MemoryStore(URI)
    for number in range(2):
        run_kept(fake_spec(tmp_path, number), store)
    monkeypatch.setattr(collecting, "store_at", lambda uri, environ: store)
    return store, tmp_path / "results" / "t"


@pytest.fixture
def place(tmp_path):
    return tmp_path / "laptop" / "t"


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(("journal.sqlite", ".restored", "lock"))
    }


def test_the_folder_is_as_the_run_left_it_byte_for_byte(kept, place):
    store, there = kept
    said = []
    found = collect(store, store, place, said.append)
    assert said == []
    here, theirs = contents(place), {name: body for name, body in contents(there).items() if "/source/" not in name}
    assert {*here} == {*theirs} | {"collated_results.json"}
    assert {name for name in theirs if theirs[name] != here[name]} == set()
    assert len([name for name in here if name.endswith(("trials.csv", "reports.csv"))]) == 4
    assert outcome_of_collecting(found, place).endswith(f"t: 2 experiments; {found.records} records and {found.files} files came")
    again = collect(store, store, place, said.append)
    assert outcome_of_collecting(again, place).endswith("t: 2 experiments; nothing is new")
    assert contents(place) == here


def test_what_is_exported_of_it_is_what_the_run_itself_left(kept, place, capsys):
    store, there = kept
    collect(store, store, place, print)
    csv = place / "fake" / "RS-simulated-0" / "trials.csv"
    csv.unlink()
    assert main(["export", "t", "--results_dir", str(place.parent)]) == 0
    assert csv.read_bytes() == (there / "fake" / "RS-simulated-0" / "trials.csv").read_bytes()
    csv.write_text("changed")
    collect(store, store, place, print)  # what is here is not fetched again for being another
    assert csv.read_text() == "changed"


def test_compare_report_and_export_collect_by_themselves(kept, place, capsys):
    options = ["--results_dir", str(place.parent)]
    codes = [main(["compare", URI, *options]), main(["report", URI, *options]), main(["export", URI, *options])]
    taken = capsys.readouterr()
    assert codes == [0, 0, 0]
    assert (place / "report.html").is_file()
    assert [line.rpartition("; ")[2] for line in taken.err.splitlines() if "experiments; " in line][1:] == ["nothing is new"] * 2
    assert main(["compare", "t", *options]) == 0
    assert capsys.readouterr().out.strip() in taken.out
    assert with_collected(["a", "b/c"], place.parent, {}, print) == ["a", "b/c"]


def test_while_it_runs_a_part_comes_and_the_study_says_how_many_are_to_come(kept, place):
    store, there = kept
    planned = tuple(PlannedExperiment("fake", "RS", number, number, "h", False, 1) for number in range(5))
    write_study(there, StudyRecord(StudyFlags("simulated"), {}, planned))
    store.put("study.json", (there / "study.json").read_bytes())
    last = max(key for key in store.objects if key.startswith("fake/RS-simulated-1/journal/"))
    held = {key: store.objects.pop(key) for key in [*store.objects] if key == last or key.startswith("fake/RS-simulated-1/files/trials")}
    assert outcome_of_collecting(collect(store, store, place, print), place).startswith(f"{place}: 2 of 5 experiments; ")
    assert not (place / "fake" / "RS-simulated-1" / "trials.csv").exists()
    store.objects |= held
    collect(store, store, place, print)
    for name in ("trials.csv", "result.json"):
        assert (place / "fake" / "RS-simulated-1" / name).read_bytes() == (there / "fake" / "RS-simulated-1" / name).read_bytes()


def without_the_first(store, experiment):
    store.objects[f"{experiment}/journal/00000002"] = store.objects.pop(f"{experiment}/journal/00000001")


def test_a_segment_that_is_missing_is_named_and_the_others_come(kept, place, capsys, monkeypatch):
    store, _ = kept
    monkeypatch.setattr("launch.remote.stores.store_at", lambda uri, environ, region: store)
    without_the_first(store, "fake/RS-simulated-0")
    assert main(["collect", URI, "--results_dir", str(place.parent)]) == 1
    taken = capsys.readouterr()
    assert taken.err.startswith(
        "not collected: fake/RS-simulated-0: s3://bucket/outrider/runs/t: fake/RS-simulated-0/journal/00000001 is missing"
    )
    assert taken.out.startswith(f"{place}: 2 experiments; ")
    assert (place / "fake" / "RS-simulated-1" / "journal.sqlite").is_file()
    without_the_first(store, "fake/RS-simulated-1")
    with pytest.raises(UserError, match="nothing of it could be collected"):
        collect(store, store, place.with_name("t2"), print)


def test_a_full_disk_is_said_and_later_it_goes_on(kept, place, monkeypatch):
    store, _ = kept

    def full(self):
        raise DiskFullError("the disk is full")

    said = []
    with monkeypatch.context() as patched:
        patched.setattr(SqliteJournal, "_write", full)
        with pytest.raises(UserError, match="nothing of it could be collected"):
            collect(store, store, place, said.append)
    assert len(said) == 2
    assert "there is no room for" in said[0]
    assert "--results_dir" in said[0]
    store.asked.clear()
    assert collect(store, store, place, said.append).files == 0  # those had come
    assert not [key for operation, key in store.asked if operation == "download"]


def test_a_disk_that_has_no_room_for_a_file_is_said_and_later_it_goes_on(kept, place, monkeypatch):
    store, there = kept

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    said = []
    with monkeypatch.context() as patched:
        patched.setattr("definitions.files.os.fsync", full)
        with pytest.raises(UserError, match="nothing of it could be collected"):
            collect(store, store, place, said.append)
    assert len(said) == 2
    assert all("cannot write" in line and "No space left on device" in line and "another --results_dir" in line for line in said)
    # Nothing half written is left, and nothing is taken for fetched.
    assert [path for path in place.rglob("*") if path.is_file() and path.name != "lock"] == []
    collect(store, store, place, print)
    name = "fake/RS-simulated-0/trials.csv"
    assert (place / name).read_bytes() == (there / name).read_bytes()


def test_a_bucket_that_one_may_not_list_or_a_run_that_is_not_there(kept, place):
    store, _ = kept
    store.failing = lambda operation, key: "refused" if operation == "list" else ""
    with pytest.raises(OutriderError, match="list : refused"):
        collect(store, store, place, print)
    assert not place.exists()
    with pytest.raises(UserError, match="there is no run"):
        collect(MemoryStore(), MemoryStore(), place, print)


def test_another_run_of_this_tag_here_is_left_as_it_is(kept, place, tmp_path):
    store, _ = kept
    other = MemoryStore("s3://other/outrider/runs/t")
    (tmp_path / "two").mkdir()
    run_kept(fake_spec(tmp_path / "two"), other)
    collect(other, other, place, print)
    before = contents(place)
    with pytest.raises(UserError, match="holds another run than s3://bucket/outrider/runs/t"):
        collect(store, store, place, print)
    assert contents(place) == before
