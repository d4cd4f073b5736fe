"""That there is no mark is read once for all experiments of a machine; that there is one, by each."""

from __future__ import annotations

import pytest

from backends.sagemaker.aws.errors import CloudError
from backends.sagemaker.lifecycle.known_absence import KnownAbsence
from backends.sagemaker.lifecycle.stop_watch import StopWatch
from backends.stop_mark import StopMark, leave, lift
from tests.backends.memory_store import MemoryStore


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Run:
    """Experiments of one run, each with a watch as a process of its own would have it."""

    def __init__(self, folder):
        self.store, self.clock, self.folder = MemoryStore(), Clock(), folder

    def watch(self, number, key="k"):
        return StopWatch(self.store, f"toy/RS-sagemaker-{number}", self.clock, absence=KnownAbsence(self.folder, key, self.clock))

    @property
    def reads(self):
        return self.store.calls["get"]


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def test_one_read_serves_the_creations_of_all_experiments_for_two_seconds_since_it_was_asked(run):
    first, second = run.watch(0), run.watch(1)
    first.check()
    run.clock.now = 101.9
    second.check()
    assert (run.reads, second.age_s()) == (1, pytest.approx(1.9))
    leave(run.store, StopMark(0.0, "ann"))
    run.store.calls.clear()
    run.clock.now = 102.0
    for watch in (second, first):
        with pytest.raises(CloudError, match="ann asked"):
            watch.check()
    assert run.reads == 2, "each reads a mark itself"


def test_a_mark_that_is_lifted_holds_nobody_up_who_begins_then(run):
    leave(run.store, StopMark(0.0, "ann"))
    assert run.watch(0).mark() is not None
    lift(run.store)
    assert run.watch(1).mark() is None


def test_a_mark_of_another_experiment_is_none_for_this_one_and_says_nothing_to_that_one(run):
    leave(run.store, StopMark(0.0, "ann", ("toy/RS-sagemaker-1",)))
    assert run.watch(0).mark() is None
    assert run.watch(1).mark() == StopMark(0.0, "ann", ("toy/RS-sagemaker-1",))


def test_who_asks_for_no_older_answer_gets_none_and_tells_the_others(run):
    first, second = run.watch(0), run.watch(1)
    first.check()
    run.clock.now = 101.0
    assert second.mark(0.0) is None
    assert run.reads == 1 + 1
    run.clock.now = 102.5
    assert first.mark() is None
    assert (run.reads, first.age_s()) == (2, 1.5)


def test_other_runs_and_times_before_a_restart_of_the_machine_say_nothing(run):
    run.watch(0).check()
    run.watch(0, "other").check()
    run.clock.now = 3.0
    run.watch(1).check()
    assert run.reads == 3


@pytest.mark.parametrize("left_there", ["", "{", "[]", '{"k": "x"}', '{"k": null}'])
def test_a_torn_file_is_no_answer_and_is_mended(run, left_there):
    (run.folder / "marks.json").write_text(left_there)
    run.watch(0).check()
    run.watch(1).check()
    assert run.reads == 1


def test_where_no_file_can_be_kept_each_looks_for_itself(tmp_path):
    (tmp_path / "file").write_text("")
    run = Run(tmp_path / "file")
    run.watch(0).check()
    run.watch(1).check()
    assert run.reads == 2
