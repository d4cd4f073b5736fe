import pytest

from benchmarking.tracking import process as module
from definitions.errors import UserError
from launch.tracking import check_tracking, tracking


class Process:
    """Stands for the process that tells a tracker."""

    made: list["Process"] = []  # noqa: RUF012 (emptied by the fixture)
    answer = ([], "")

    def __init__(self, kind, say, environ):
        self.kind, self.followed, self.timeout_s = kind, [], None
        Process.made.append(self)

    def follow_all(self, folder):
        self.followed.append(folder)

    def close(self, *, timeout_s=25.0):
        self.timeout_s = timeout_s
        return Process.answer


@pytest.fixture(autouse=True)
def processes(monkeypatch):
    Process.made, Process.answer = [], ([], "")
    monkeypatch.setattr(module, "TrackingProcess", Process)
    return Process


def test_each_tracker_follows_the_tag_while_the_run_lasts(tmp_path):
    said = []
    with tracking(["mlflow", "mlflow"], tmp_path / "t", {}, said.append):
        assert [(one.kind, one.followed, one.timeout_s) for one in Process.made] == [("mlflow", [tmp_path / "t"], None)]
    assert Process.made[0].timeout_s == 25.0
    assert said == []


@pytest.mark.parametrize("answer", [(["t/b/RS-local-0"], "down"), (None, "down")])
def test_what_a_tracker_lacks_is_said_with_what_brings_it_there(tmp_path, processes, answer):
    processes.answer = answer
    said = []
    with tracking(["mlflow"], tmp_path / "t", {}, said.append):
        pass
    assert said == ["mlflow lacks something of t (down); `outrider export t --to mlflow` brings it there"]


def test_who_interrupts_twice_waits_two_seconds_at_most(tmp_path):
    with pytest.raises(KeyboardInterrupt), tracking(["mlflow"], tmp_path / "t", {}, print):
        raise KeyboardInterrupt
    assert Process.made[0].timeout_s == 2.0


def test_without_trackers_nothing_is_started(tmp_path):
    with tracking([], tmp_path / "t", {}, print):
        pass
    assert Process.made == []


def test_a_tracker_that_there_is_not_is_refused_with_the_nearest_name():
    with pytest.raises(UserError, match="did you mean 'mlflow'"):
        check_tracking(["mlfow"], {})
