"""What trials to come will take of the disk, and that it is said once, in time, and as it is."""

import pytest

from benchmarking.controller.disk_space import DiskWatch, LeftFiles, Outlook, left_files, needed_bytes, shortage, trials_to_come
from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import TrialState
from definitions.schema import Budget
from definitions.trial import TrialSpec

MIB = 1024**2
LEFT = [LeftFiles(100, 10), LeftFiles(200, 30)]


@pytest.mark.parametrize(
    ("keep", "outlook", "needed"),
    [
        # lasting: 10 x 20; the best one stays: 150; two others at once, each as large as the largest: 400
        (1, Outlook(10, 2), 200 + 150 + 400),
        (1, Outlook(10, 2, kept=1), 200 + 400),
        (3, Outlook(10, 2, kept=1), 200 + 2 * 150 + 400),
        ("none", Outlook(10, 2), 200 + 400),
        ("all", Outlook(10, 2), 200 + 10 * 150),
        ("none", Outlook(1, 8), 20 + 200),
        ("paused", Outlook(10, 2, paused=0.5), 200 + 5 * 150 + 400),
        (20, Outlook(10, 2), 200 + 10 * 150),
        (1, Outlook(0, 2), 0),
    ],
)
def test_what_lasts_adds_up_and_the_rest_is_what_stays_and_what_runs(keep, outlook, needed):
    assert needed_bytes(LEFT, outlook, keep) == needed


def test_what_a_back_end_measured_of_a_job():
    assert left_files({"left_bytes": {"spare": 5, "lasting": 7}}) == LeftFiles(5, 7)
    assert left_files({"cpu_s": 1.0}) is None


class State:
    """As much of an experiment's state as is asked for."""

    def __init__(self, *statuses, exhausted=False, queue=(), left=(MIB, MIB)):
        usage = {"left_bytes": {"spare": left[0], "lasting": left[1]}}
        self.trials = {n: TrialState(n, n, TrialSpec({}), status=TrialStatus(one), usage=usage) for n, one in enumerate(statuses)}
        self.finished = self.succeeded = sum(trial.status.is_final for trial in self.trials.values())
        self.exhausted, self.queue = exhausted, list(queue)


def test_trials_to_come_by_the_limit_that_comes_first():
    done = State("completed", "completed", "running")
    assert trials_to_come(done, Budget(max_num_trials=10), 0.0) == 8
    # two trials in 10 s are eight in the 40 s that are left, and one runs
    assert trials_to_come(done, Budget(max_wallclock_time=50.0), 10.0) == 9
    assert trials_to_come(done, Budget(max_num_trials=6, max_wallclock_time=50.0), 10.0) == 4
    assert trials_to_come(done, Budget(), 10.0) == 3
    assert trials_to_come(State("completed", "running", exhausted=True, queue=[1, 2]), Budget(), 10.0) == 3


def test_the_sentence_says_how_much_where_and_what_to_do():
    assert shortage(3 * MIB, 2 * MIB, 12, 1, "/r") == (
        "disk: 12 trials to come need about 3.0 MiB at once, 2.0 MiB are free in /r; make room, or keep less (keep: none)"
    )
    one = "disk: 1 trial to come needs about 3.0 MiB at once, 2.0 MiB are free in /r; make room"
    assert shortage(3 * MIB, 2 * MIB, 1, "none", "/r") == one
    assert shortage(2 * MIB, 2 * MIB, 1, 1, "/r") == ""


def watch(free, written=0):
    said = []
    free_bytes = iter(free)
    made = DiskWatch(
        Budget(max_num_trials=10),
        "all",
        2,
        "/r",
        free=lambda: next(free_bytes),
        written=lambda state: written,
        elapsed_s=lambda: 1.0,
        say=said.append,
    )
    return made, said


def settled(number):
    return Record(number, 0.0, "settle", {"trial": number})


def test_it_is_said_as_soon_as_it_will_not_fit_and_once():
    made, said = watch([18 * MIB, 15 * MIB, 0])
    state = State("completed", "running")
    made.observe(settled(0), state)
    assert said == []  # 9 trials of 2 MiB
    made.observe(settled(1), State("completed", "completed"))
    made.observe(settled(2), State("completed", "completed", "completed"))
    assert len(said) == 1
    assert said[0].startswith("disk: 8 trials to come need about 16.0 MiB at once, 15.0 MiB are free in /r")


def test_what_running_trials_have_written_is_not_counted_twice():
    made, said = watch([16 * MIB], written=2 * MIB)
    made.observe(settled(0), State("completed", "running"))
    assert said == []
    made, said = watch([16 * MIB], written=MIB)
    made.observe(settled(0), State("completed", "running"))
    assert len(said) == 1


def test_a_resumed_run_knows_what_was_left_before():
    made, said = watch([10 * MIB])
    made.observe(settled(3), State("completed", "stopped", "paused", "completed"))
    assert said[0].startswith("disk: 7 trials to come need about 14.0 MiB")


def test_trials_that_were_not_measured_say_nothing():
    made, said = watch([])
    state = State("completed")
    state.trials[0].usage = {}
    made.observe(settled(0), state)
    assert said == []
