"""`outrider clean --tracking` at a tracker in memory; at a real server it is tested beside the other ways to MLflow."""

import pytest

from backends.tracked import TrackerError
from benchmarking.archive.folder_lock import locked
from definitions.errors import UserError
from launch import tracking_cleanup
from launch.tracking_cleanup import delete_tracked
from tests.benchmarking.tracking.told import MemoryTracker, finished


class Asked(MemoryTracker):
    """Has three runs of any tag; says what it was asked."""

    def __init__(self):
        super().__init__()
        self.runs, self.asked, self.fails_at = dict.fromkeys("abc"), [], ""

    def holds(self, tag):
        return self._did("holds", tag, super().holds)

    def delete(self, tag):
        return self._did("delete", tag, super().delete)

    def _did(self, what, tag, does):
        self.asked.append((what, tag))
        print("what a client prints")
        if what == self.fails_at:
            raise TrackerError("it is down")
        return does(tag)


@pytest.fixture
def tracker(monkeypatch):
    found = Asked()
    monkeypatch.setattr(tracking_cleanup, "check_tracker", lambda kind, environ: None)
    monkeypatch.setattr(tracking_cleanup, "make_tracker", lambda kind, environ: found)
    return found


def delete(folder, agree=lambda: None, tag="t"):
    return delete_tracked(tag, (), folder, {}, agree)


def test_what_is_there_is_shown_and_deleted_once(tracker, tmp_path, capsys):
    agreed = []
    assert delete(tmp_path, lambda: agreed.append(capsys.readouterr().out)) == 0
    (shown,) = agreed
    assert shown.splitlines()[-1].split() == ["mlflow", "t", "3"]
    assert capsys.readouterr().out == "3 runs of t deleted at mlflow\n"
    assert delete(tmp_path, lambda: agreed.append("again")) == 0
    assert capsys.readouterr().out == "mlflow has nothing of t\n"
    assert (len(agreed), tracker.asked) == (1, [("holds", "t"), ("delete", "t"), ("holds", "t")])


def test_nothing_is_deleted_unless_agreed_to(tracker, tmp_path):
    def refuse():
        raise UserError("not agreed, so nothing was deleted")

    with pytest.raises(UserError, match="not agreed"):
        delete(tmp_path, refuse)
    assert len(tracker.runs) == 3


def test_nothing_is_deleted_while_the_tag_runs(tracker, tmp_path):
    folder = finished(tmp_path, budget={"max_num_trials": 1})
    with locked(folder), pytest.raises(UserError, match=r"t still runs: .*RS-local-0\n  it would be told again\n  outrider stop t"):
        delete(tmp_path / "results")
    assert tracker.asked == []
    assert delete(tmp_path / "results") == 0


@pytest.mark.parametrize(("fails_at", "said"), [("holds", "could not be asked"), ("delete", "not all of t could be deleted")])
def test_a_tracker_that_is_down_is_said_and_is_an_exit_code(tracker, tmp_path, capsys, fails_at, said):
    tracker.fails_at = fails_at
    assert delete(tmp_path) == 5
    assert said in capsys.readouterr().err
    assert len(tracker.runs) == 3
