import contextlib
import itertools

import pytest

from backends.tracked import RunStatus
from benchmarking.archive.folder_lock import is_held, locked
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.tracking.catching_up import Telling
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.tracking.told import MemoryTracker, finished, prepared, run_into, spec_of


def telling(tracker, said=None, step=100.0):
    clock = itertools.count(0.0, step)
    return Telling(lambda: tracker, "the tracker", (said if said is not None else []).append, lambda: next(clock))


def told(folder, tracker=None):
    tracker = tracker or MemoryTracker()
    one = telling(tracker)
    one.follow(folder)
    assert one.round()
    one.close()
    return tracker


@pytest.fixture
def journaled(tmp_path):
    """The folder of an experiment that has not begun, and the rows that its journal will have."""
    spec = spec_of(tmp_path)
    rows = MemoryJournal()
    run_into(rows, spec)
    return prepared(spec), [*rows.records()]


def write(folder, records):
    with contextlib.closing(SqliteJournal(folder / "journal.sqlite")) as journal:
        for record in records:
            journal.append(record.at, record.kind, record.body)


def test_told_while_it_runs_is_the_same_as_told_afterwards(journaled, tmp_path):
    folder, records = journaled
    live = MemoryTracker()
    one = telling(live)
    one.follow(folder)
    with locked(folder):
        assert one.round()  # it has not begun
        for first in range(0, len(records), 5):
            write(folder, records[first : first + 5])
            assert one.round()
        assert live.runs[next(iter(live.runs))].status is RunStatus.FINISHED
    assert one.round()
    one.close()
    assert live.runs == told(folder).runs


@pytest.mark.parametrize("lost", [False, True])
def test_a_failure_at_any_call_leaves_nothing_twice_and_nothing_out(journaled, lost):
    folder, records = journaled
    write(folder, records)
    whole = told(folder)
    for number in range(1, whole.calls + 1):
        tracker = MemoryTracker({-number if lost else number: "down"})
        one = telling(tracker)
        one.follow(folder)
        while not one.round():
            assert one.failures == 1
        one.close()
        assert tracker.runs == whole.runs


def test_twice_writes_nothing_the_second_time(tmp_path):
    folder = finished(tmp_path)
    tracker = told(folder)
    calls = tracker.calls
    told(folder, tracker)
    assert tracker.calls == calls + 1  # it was looked up


def test_it_waits_longer_after_each_failure_and_says_it_once(tmp_path):
    folder = finished(tmp_path)
    said, tracker = [], MemoryTracker(dict.fromkeys(range(1, 5), "429 Too Many Requests"))
    one = telling(tracker, said, step=0.5)
    one.follow(folder)
    whole = [one.round() for _ in range(60)].index(True)
    assert tracker.calls == 4 + 5
    assert whole > 20  # pauses of 1, 2, 4 and 8 s on a clock of half seconds
    assert said == [
        "the tracker could not be told: 429 Too Many Requests; nothing waits for it, and what it lacks is told as soon as it can be",
        "the tracker takes what it is told again",
    ]


def test_a_run_that_is_refused_keeps_back_no_other(tmp_path):
    folder = finished(tmp_path)
    said, tracker = [], MemoryTracker()
    tracker.refuses = "trial-1"
    one = telling(tracker, said)
    one.follow(folder)
    assert one.round()
    assert sorted(job for job in tracker.runs if job.startswith("job-")) == ["job-t0-a1", "job-t2-a1"]
    assert len(tracker.runs) == 3
    assert said == ["the tracker does not take trial-1: not that one"]


def test_what_a_killed_controller_left_running_is_closed_by_the_next(journaled):
    folder, records = journaled
    tracker = MemoryTracker()
    killed = telling(tracker)
    write(folder, records[:14])
    killed.follow(folder)
    with locked(folder):
        assert killed.round()
    killed.close()  # its process is gone, and with it the lock
    assert {run.status for run in tracker.runs.values()} == {RunStatus.RUNNING}
    write(folder, records[14:])
    told(folder, tracker)
    assert {run.status for run in tracker.runs.values()} == {RunStatus.FINISHED}
    assert tracker.runs == told(folder).runs


def test_two_do_not_tell_of_one_experiment_at_once(tmp_path):
    folder = finished(tmp_path)
    tracker = MemoryTracker()
    first, second = telling(tracker), telling(tracker)
    first.follow(folder)
    second.follow(folder)
    with locked(folder):
        assert first.round()
        assert not second.round()
        assert second.left == [str(folder)]
    first.close()
    assert second.round()


def test_one_that_cannot_be_read_keeps_back_no_other(tmp_path):
    damaged, whole = finished(tmp_path), finished(tmp_path, number=1)
    (damaged / "journal.sqlite").write_bytes(b"no journal")
    said, tracker = [], MemoryTracker()
    one = telling(tracker, said)
    one.follow(damaged)
    one.follow(whole)
    assert not one.round()
    assert one.left == [str(damaged)]
    assert len(said) == 1
    assert "cannot open the journal" in said[0]
    assert len(tracker.runs) == 4


def test_whether_a_controller_is_at_work_is_seen_without_getting_into_its_way(tmp_path):
    assert not is_held(tmp_path)
    with locked(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    with locked(tmp_path / "other"):
        assert not is_held(tmp_path)


def test_experiments_of_a_tag_are_told_of_as_they_are_made(tmp_path):
    first = finished(tmp_path)
    tracker = MemoryTracker()
    one = telling(tracker)
    one.follow_all(first.parent.parent)
    assert one.round()
    assert len(tracker.runs) == 4
    finished(tmp_path, number=1, budget={"max_num_trials": 5})
    assert one.round()
    assert {run.tags["outrider.benchmark"] for run in tracker.runs.values() if "outrider.benchmark" in run.tags} == {"fake"}
    assert len([run for run in tracker.runs.values() if "outrider.benchmark" in run.tags]) == 2


def test_what_has_not_changed_is_not_read_again(tmp_path, monkeypatch):
    folder = finished(tmp_path)
    one = telling(MemoryTracker())
    one.follow(folder)
    assert one.round()
    monkeypatch.setattr("benchmarking.tracking.catching_up.load", None)
    monkeypatch.setattr("benchmarking.archive.stored.SqliteJournal", None)
    assert one.round()


class Absorbed(MemoryTracker):
    """A tracker that keeps to the experiment which it looked for last, as those do that look for one once."""

    def find(self, experiment):
        self.of = experiment.whole.job
        return super().find(experiment)

    def write(self, change, known):
        assert self.of in known or change.run.job == self.of
        return super().write(change, known)


def test_of_two_experiments_that_run_at_once_each_has_a_tracker_that_thinks_of_it_alone(tmp_path):
    made = []
    one = Telling(lambda: made.append(Absorbed()) or made[-1], "the tracker", [].append, itertools.count(0.0, 100.0).__next__)
    lives = []
    for number in range(2):
        spec, rows = spec_of(tmp_path, number=number), MemoryJournal()
        run_into(rows, spec)
        lives.append((prepared(spec), [*rows.records()]))
        one.follow(lives[-1][0])
    with locked(lives[0][0]), locked(lives[1][0]):
        for first in range(0, len(lives[0][1]), 5):
            for folder, records in lives:
                write(folder, records[first : first + 5])
            assert one.round()
    one.close()
    assert [tracker.runs for tracker in made] == [told(folder).runs for folder, _ in lives]
