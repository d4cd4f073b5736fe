"""What the jobs of the latest run left, for the next one."""

import os

from benchmarking.archive.earlier_files import EarlierFiles, earlier_files
from benchmarking.controller.disk_space import LeftFiles
from benchmarking.controller.sqlite_journal import SqliteJournal


def wrote(results, tag, at, *jobs, backend="local", benchmark="b"):
    folder = results / tag / benchmark / f"RS-{backend}-0"
    folder.mkdir(parents=True)
    journal = SqliteJournal(folder / "journal.sqlite")
    for outcome, usage in jobs:
        journal.append(1.0, "closed", {"job": "j", "outcome": outcome, "usage": usage})
    journal.append(2.0, "end", {})
    journal.close()
    os.utime(folder / "journal.sqlite", (at, at))


def left(spare, lasting):
    return {"left_bytes": {"spare": spare, "lasting": lasting}}


def test_the_latest_run_of_the_benchmark_on_the_back_end_counts(tmp_path):
    assert earlier_files(tmp_path / "none", "b", "local") is None
    wrote(tmp_path, "old", 100, ("completed", left(1, 1)))
    wrote(tmp_path, "new", 200, ("completed", left(2, 3)), ("failed", left(9, 9)), ("stopped", left(4, 5)))
    wrote(tmp_path, "other", 300, ("completed", left(7, 7)), benchmark="c")
    wrote(tmp_path, "elsewhere", 300, ("completed", left(7, 7)), backend="simulated")
    assert earlier_files(tmp_path, "b", "local") == EarlierFiles("new", (LeftFiles(4, 5), LeftFiles(2, 3)))


def test_runs_that_measured_nothing_and_damaged_ones_are_passed_over(tmp_path):
    wrote(tmp_path, "old", 100, ("completed", left(1, 2)))
    wrote(tmp_path, "unmeasured", 200, ("completed", {}))
    wrote(tmp_path, "damaged", 300)
    (tmp_path / "damaged" / "b" / "RS-local-0" / "journal.sqlite").write_bytes(b"no database")
    assert earlier_files(tmp_path, "b", "local") == EarlierFiles("old", (LeftFiles(1, 2),))
