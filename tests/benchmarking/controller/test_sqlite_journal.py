import contextlib
import json
import math
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import benchmarking.controller.sqlite_journal as journal_module
from benchmarking.controller.journal import ControllerSession, DiskFullError, Record
from benchmarking.controller.sqlite_journal import RESERVES, SqliteJournal, latest_records
from definitions.errors import UserError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite"


def contents(path, **options):
    journal = SqliteJournal(path, **options)
    found = list(journal.records())
    journal.close()
    return found


def write(path, count, *, commit_each=True, size=20):
    journal = SqliteJournal(path)
    for number in range(count):
        journal.append(number + 0.5, "reported", {"job": f"j{number}", "text": "x" * size})
        if commit_each:
            journal.commit()
    return journal


def test_records_survive_reopening(path):
    journal = SqliteJournal(path)
    first = journal.append(1795000000.1234567, "start", {"trial": 0})
    assert first == Record(1, 1795000000.1234567, "start", {"trial": 0})
    journal.append(2.0, "tell", {"b": [1, None, "ü"]})
    journal.close()
    assert contents(path) == [first, Record(2, 2.0, "tell", {"b": [1, None, "ü"]})]


def test_numbering_goes_on_after_reopening(path):
    write(path, 3).close()
    journal = SqliteJournal(path)
    assert journal.append(9.0, "end", {}).sequence == 4
    journal.close()


def test_what_was_not_committed_is_not_there(path):
    journal = write(path, 3)
    journal.append(9.0, "start", {})
    assert [record.sequence for record in contents(path, read_only=True)] == [1, 2, 3]
    journal.commit()
    assert [record.sequence for record in contents(path, read_only=True)] == [1, 2, 3, 4]


def test_one_commit_is_all_or_nothing_and_an_empty_one_nothing(path):
    journal = write(path, 5, commit_each=False)
    assert contents(path, read_only=True) == []
    journal.commit()
    journal.commit()
    assert len(contents(path, read_only=True)) == 5


def test_nan_and_infinities_are_strict_json_in_the_file(path):
    journal = SqliteJournal(path)
    journal.append(1.0, "reported", {"metrics": {"a": math.nan, "b": [math.inf, -math.inf], "c": 1e-320}})
    journal.close()

    def refuse(constant):
        raise AssertionError(constant)

    rows = sqlite3.connect(path).execute("SELECT body FROM records").fetchall()
    json.loads(rows[0][0], parse_constant=refuse)
    metrics = contents(path)[0].body["metrics"]
    assert math.isnan(metrics["a"])
    assert (metrics["b"], metrics["c"]) == ([math.inf, -math.inf], 1e-320)


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "😀", "\x00", "\\ud800", "\u2028"])
def test_any_text_a_script_can_report_comes_back(path, text):
    journal = SqliteJournal(path)
    journal.append(1.0, "reported", {"metrics": {text: text}})
    journal.close()
    assert contents(path)[0].body["metrics"] == {text: text}


def test_what_is_no_json_is_refused_before_it_is_recorded(path):
    journal = SqliteJournal(path)
    with pytest.raises(TypeError):
        journal.append(1.0, "reported", {"metrics": {1, 2}})
    journal.close()
    assert contents(path) == []


def test_sessions(path):
    journal = SqliteJournal(path)
    journal.begin_session(ControllerSession(7, 2.5, 60.25))
    journal.begin_session(ControllerSession(9, 3.5, 70.0))
    journal.close()
    journal = SqliteJournal(path)
    assert journal.sessions() == [ControllerSession(7, 2.5, 60.25), ControllerSession(9, 3.5, 70.0)]
    journal.close()


def test_a_torn_write_ahead_log_costs_the_last_records_only(path, tmp_path):
    journal = write(path, 30, size=200)
    torn = tmp_path / "torn"
    torn.mkdir()
    wal = Path(f"{path}-wal").read_bytes()
    assert len(wal) > 100_000
    kept = {}
    for length in [0, 1, 31, 32, *range(1000, len(wal), 4999), len(wal) - 1, len(wal)]:
        shutil.copy(path, torn / "journal.sqlite")
        (torn / "journal.sqlite-wal").write_bytes(wal[:length])
        (torn / "journal.sqlite-shm").unlink(missing_ok=True)
        records = contents(torn / "journal.sqlite")
        assert [record.body["job"] for record in records] == [f"j{number}" for number in range(len(records))]
        kept[length] = len(records)
    assert list(kept.values()) == sorted(kept.values())
    assert (kept[0], kept[len(wal) - 1], kept[len(wal)]) == (0, 29, 30)
    journal.close()


def test_garbage_in_the_last_page_of_the_log_is_not_believed(path, tmp_path):
    journal = write(path, 10)
    shutil.copy(path, tmp_path / "copy.sqlite")
    wal = bytearray(Path(f"{path}-wal").read_bytes())
    wal[-100:] = b"\xaa" * 100
    (tmp_path / "copy.sqlite-wal").write_bytes(wal)
    assert len(contents(tmp_path / "copy.sqlite")) == 9
    journal.close()


@pytest.mark.parametrize(
    "content", [b"this is no journal, it is a text of more than a hundred bytes" * 5, b"SQLite format 3\x00" + b"\xff" * 500]
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_journal(path, content, read_only):
    path.write_bytes(content)
    with pytest.raises(UserError, match="cannot open the journal"):
        SqliteJournal(path, read_only=read_only)
    assert path.read_bytes() == content


@pytest.mark.parametrize("filled", [False, True], ids=["shorter", "as long, with zeros"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_journal_that_is_half_copied_is_said_without_a_traceback(path, share, filled):
    write(path, 600, size=200).close()
    data = path.read_bytes()
    there = data[: int(len(data) * share)]
    path.write_bytes(there + bytes(len(data) - len(there)) * filled)
    with pytest.raises(UserError, match=r"cannot (read|open) the journal .*journal\.sqlite"):
        contents(path, read_only=True)


@pytest.mark.parametrize("body", [None, "{", b"\xff"], ids=["nothing", "torn", "bytes"])
def test_a_record_that_holds_something_else_is_said_without_a_traceback(path, body):
    write(path, 3).close()
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        # Not what the table takes, but what pages of another file, or of an older state of this one, can look like.
        database.execute("PRAGMA writable_schema=ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, 'body TEXT NOT NULL', 'body BLOB') WHERE name = 'records'")
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE records SET body = ? WHERE sequence = 2", (body,))
    with pytest.raises(UserError, match="cannot read the journal"):
        contents(path, read_only=True)


def test_a_damaged_page_in_the_middle_is_said_without_a_traceback(path):
    write(path, 400, size=300).close()
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8192] = b"\xff" * 8192
    path.write_bytes(data)
    journal = SqliteJournal(path)
    with pytest.raises(UserError, match="cannot read the journal"):
        list(journal.records())
    journal.close()


@pytest.mark.parametrize("version", ["3", "17", "one"])
def test_another_version_is_refused_and_left_alone(path, version):
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    database.execute("INSERT INTO meta VALUES ('schema_version', ?)", (version,))
    database.commit()
    for read_only in (False, True):
        with pytest.raises(UserError, match=rf"has version {version}\n  this Outrider reads the versions 1 and 2; nothing was changed"):
            SqliteJournal(path, read_only=read_only)
    assert database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("meta",)]


def test_folders_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "missing" / "journal.sqlite", tmp_path / "file" / "journal.sqlite", tmp_path):
        with pytest.raises(UserError, match=r"cannot open the journal[\s\S]*check the folder"):
            SqliteJournal(path)


def test_reading_creates_nothing(path):
    with pytest.raises(UserError):
        SqliteJournal(path, read_only=True)
    assert not path.exists()


@pytest.mark.parametrize("name", ["100%41 real", "a?mode=memory", "b#c", "ü ß"])
def test_folders_with_any_name(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    write(folder / "journal.sqlite", 2).close()
    assert [path.name for path in folder.iterdir()] == ["journal.sqlite"]
    assert len(contents(folder / "journal.sqlite", read_only=True)) == 2


def test_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("journal.sqlite"), 1).close()
    assert len(contents(tmp_path / "journal.sqlite")) == 1


def test_a_full_database_keeps_what_was_committed(path):
    journal = write(path, 5)
    journal._db.execute("PRAGMA max_page_count = 5")  # noqa: SLF001 (the limit is one of this connection alone)
    for number in range(100):
        journal.append(9.0, "reported", {"job": f"lost{number}", "text": "y" * 500})
    with pytest.raises(UserError, match=r"the disk of the journal .* is full"):
        journal.commit()
    with pytest.raises(UserError, match=r"the disk of the journal .* is full"):
        journal.close()
    assert [record.body["job"] for record in contents(path)] == [f"j{number}" for number in range(5)]


def test_room_that_comes_back_loses_nothing(path):
    journal = write(path, 5)
    journal._db.execute("PRAGMA max_page_count = 5")  # noqa: SLF001 (the limit is one of this connection alone)
    for number in range(5, 50):
        journal.append(9.0, "reported", {"job": f"j{number}", "text": "y" * 500})
    with pytest.raises(UserError):
        journal.commit()
    journal._db.execute("PRAGMA max_page_count = 100000")  # noqa: SLF001
    journal.close()
    assert [record.body["job"] for record in contents(path)] == [f"j{number}" for number in range(50)]


class TightJournal(SqliteJournal):
    """A journal on a disk that has room only once some of the reserves are given up."""

    wanted = 1

    def _write(self):
        if sum((self._path.with_name(name)).exists() for name in RESERVES) > len(RESERVES) - self.wanted:
            raise DiskFullError("full")
        super()._write()


def test_the_last_records_take_the_room_that_was_kept_for_them(path):
    journal = TightJournal(path)
    assert [path.with_name(name).stat().st_size for name in RESERVES] == [2**20, 2**20]
    journal.append(1.0, "reported", {"job": "last"})
    assert not journal.is_tight
    journal.commit()
    assert journal.is_tight
    assert [path.with_name(name).exists() for name in RESERVES] == [False, True]
    journal.append(2.0, "reported", {"job": "after"})
    journal.close()
    assert [record.body["job"] for record in contents(path)] == ["last", "after"]
    assert [path.with_name(name).exists() for name in RESERVES] == [False, False]


def test_what_a_running_job_takes_of_the_first_reserve_the_second_gives_at_the_end(path):
    journal = TightJournal(path)
    journal.wanted = 2
    journal.append(1.0, "reported", {"job": "last"})
    with pytest.raises(DiskFullError) as error:
        journal.commit()
    assert error.value.exit_code == 4
    journal.close()
    assert [record.body["job"] for record in contents(path)] == ["last"]


def test_the_latest_records_of_a_kind(path):
    write(path, 5).close()
    assert [record.body["job"] for record in latest_records(path, "reported", 2)] == ["j4", "j3"]
    assert latest_records(path, "settle") == []


FULL_DISK = """
import pathlib, resource, sys
from benchmarking.controller.journal import ControllerSession
from benchmarking.controller.sqlite_journal import SqliteJournal
from definitions.errors import UserError
journal = SqliteJournal(pathlib.Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
done = 0
try:
    while done < 10_000:
        journal.append(1.0, "reported", {"job": f"j{done}", "text": "z" * 100})
        journal.commit()
        done += 1
except UserError as error:
    print(done, str(error).splitlines()[0])
try:
    journal.begin_session(ControllerSession(1, 1.0, 2.0))
except UserError as error:
    print(str(error).splitlines()[0])
import os
os._exit(0)
"""


@pytest.mark.slow
def test_a_full_disk_keeps_what_was_committed(path):
    """The file-size limit of the process stands for the disk: a write fails in the middle, as it does there."""
    run = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    first, second = run.stdout.splitlines()
    done, message = first.split(" ", 1)
    assert message == second == f"cannot write the journal {path}"
    assert int(done) > 10
    assert [record.body["job"] for record in contents(path)] == [f"j{number}" for number in range(int(done))]


@pytest.mark.parametrize("killed", [False, True])
def test_a_journal_beside_which_nothing_can_be_written_is_read_with_all_that_was_committed(tmp_path, killed):
    folder = tmp_path / "results"
    folder.mkdir()
    journal = SqliteJournal(folder / "journal.sqlite")
    journal.append(1.0, "start", {"job": "a"})
    journal.commit()
    there = folder
    if killed:
        # As a killed controller leaves it: the record is in the log alone.
        there = tmp_path / "left"
        shutil.copytree(folder, there, ignore=shutil.ignore_patterns("*-shm"))
        assert (there / "journal.sqlite-wal").stat().st_size > 0
    journal.close()
    # Nobody, root included, can make the file that readers share where a folder has its name.
    (there / "journal.sqlite-shm").mkdir()
    before = (there / "journal.sqlite").read_bytes()
    with contextlib.closing(SqliteJournal(there / "journal.sqlite", read_only=True)) as reader:
        assert [record.body for record in reader.records()] == [{"job": "a"}]
    assert (there / "journal.sqlite").read_bytes() == before
    assert sorted(path.name for path in there.glob("*.sqlite*"))[:2] == ["journal.sqlite", "journal.sqlite-shm"]


def interrupted(call, number):
    """Raise KeyboardInterrupt before the n-th line of the journal's module that a call runs; return whether it has so many."""
    left = number

    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename != journal_module.__file__:
            return None
        if event == "line":
            left -= 1
            if not left:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_a_commit_that_is_interrupted_at_any_line_is_made_good_by_the_next(tmp_path):
    number = 0
    while True:
        number += 1
        path = tmp_path / f"{number}.sqlite"
        journal = write(path, 40, commit_each=False)
        was_interrupted = interrupted(journal.commit, number)
        journal.append(40.5, "stop", {"job": "j0"})
        journal.commit()
        journal.close()
        assert [record.sequence for record in contents(path)] == [*range(1, 42)], number
        if not was_interrupted:
            break
    assert number > 10
