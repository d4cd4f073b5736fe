"""The table of faults: a study of `digits` whose controller is hurt in any way ends as one of which nothing is heard, its bill right.

Each row takes minutes, as what is to strike has to find a controller at work: `OUTRIDER_SOAK=1 pytest -s` prints the table. On a machine
that has no time for that many trainings `OUTRIDER_SOAK=asleep` has trials sleep in place of training.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from benchmarking.remote.controller_word import ControllerState
from tests.launch.remote.launch_lab import LaunchLab, soak

pytestmark = [pytest.mark.slow, soak, pytest.mark.timeout(3600)]

TAG = "study"
TRIALS = 8
STUDY = ("--max_num_trials", str(TRIALS), "--n_workers", "1", "--remote_bucket", "bench")
"""Four experiments that run one trial after the other, so that they take minutes."""
ASLEEP = os.environ.get("OUTRIDER_SOAK") == "asleep"
BENCHMARK = "" if ASLEEP else "digits"
SETTINGS = ("--set", *(("pause=5",) if ASLEEP else ("fidelity.full=3", "sagemaker.bucket=bench")))
LONGER = ("--set", *(("pause=14",) if ASLEEP else ("fidelity.full=300", "sagemaker.bucket=bench")))
"""The same for what strikes by the clock, so that trials are left when it strikes last."""
KINDS = ("code", "suggest", "start", "accepted", "started", "reported", *(() if ASLEEP else ("progressed",)), "ended", "closed", "settle",
         "tell")  # fmt: skip
"""Records after each of which a host is lost, as they come in the life of a trial; trials that sleep count no steps."""


def the_controller(lab: LaunchLab) -> str:
    """Return the job that has a controller at work, once there is one."""
    found: list[str] = []

    def look() -> bool:
        found[:] = [job for job in reversed(lab.controllers()) if lab.child(job) is not None]
        return bool(found) or not lab.running()

    lab.await_that(look, "there is a controller at work", 900.0)
    assert found, "the study is over before everything struck"
    return found[0]


def undisturbed(lab: LaunchLab) -> int:
    """Do nothing."""
    return 0


def killed(lab: LaunchLab) -> int:
    """Kill the controller's process at ten random moments, some late enough for a trial to be finished, so that waits stay short."""
    rng, struck = random.Random(10), 0
    for _ in range(10):
        job = the_controller(lab)
        pid = lab.child(job)
        time.sleep(rng.uniform(0.5, 25.0))
        if pid is not None and pid == lab.child(job):
            os.kill(pid, signal.SIGKILL)
            struck += 1
        # What was killed is no controller any more, and is not killed again.
        lab.await_that(lambda: lab.child(job) != pid, "it is gone")  # noqa: B023
    return struck


def interrupted(lab: LaunchLab) -> int:
    """Take the spot instance away, twice."""
    rng, struck = random.Random(2), 0
    for _ in range(2):
        job = the_controller(lab)
        time.sleep(rng.uniform(6.0, 15.0))
        struck += lab.break_job(job, "interrupt", notice_s=60.0)
        lab.await_that(lambda: lab.child(job) is None, "it has let its trials run on")  # noqa: B023
    lab.await_end(1500)
    passed = [one["Status"] for one in lab.described(lab.controllers()[0])["SecondaryStatusTransitions"]]
    assert passed.count("Interrupted") == struck
    return struck


def over_its_time(lab: LaunchLab) -> int:
    """Let the job come to its limit; return how many generations followed."""
    lab.await_end(1500)
    names = lab.controllers()
    assert [name.rpartition("-")[2] for name in names] == [f"g{number}" for number in range(1, len(names) + 1)]
    return len(names) - 1


def lost(lab: LaunchLab) -> int:
    """Lose the host after a record of each kind, as they come: first those that come rarely."""
    left = [*KINDS]
    while left:
        job = the_controller(lab)
        # What was there before is none that this life wrote.
        seen: set[str] = set()
        lab.kinds_written(TAG, seen)
        written: set[str] = set()

        def look() -> bool:
            written.update(lab.kinds_written(TAG, seen))  # noqa: B023
            return bool(written & {*left}) or not lab.running()  # noqa: B023

        lab.await_that(look, f"a record of {', '.join(left)} is written", 600.0)
        assert written & {*left}, f"the study is over, and no host was lost after {', '.join(left)}"
        kind = next(one for one in left if one in written)
        if lab.break_job(job, "break", kind="host_lost"):
            left.remove(kind)
        lab.await_that(lambda: lab.child(job) is None, "its host is gone")  # noqa: B023
    return len(KINDS)


def frozen(lab: LaunchLab) -> int:
    """Freeze it until its successor works, then wake it."""
    first = the_controller(lab)
    lab.await_that(lambda: len(lab.jobs()) > 4, "trials have begun")
    lab.send_all(first, signal.SIGSTOP)
    second = lab.succeed(TAG, first)
    begun = len(lab.jobs())
    lab.await_that(lambda: lab.child(second) and len(lab.jobs()) > begun, "the successor works")
    lab.send_all(first, signal.SIGCONT)
    lab.await_end(1500)
    assert "another controller is at work" in lab.log(first)
    return 1


ROWS: Mapping[str, tuple[Callable[[LaunchLab], int], int, Sequence[str]]] = {
    "undisturbed": (undisturbed, 0, ()),
    "killed ten times": (killed, 10, ("--remote_restarts", "30")),
    "interrupted twice": (interrupted, 2, ("--remote_spot",)),
    "over its time twice": (over_its_time, 2, ("--remote_max_run", "60")),
    "host lost after each kind of record": (lost, len(KINDS), ()),
    "frozen and woken": (frozen, 1, ()),
}
"""What happens -> who does it, how often it has to strike at least, further flags."""


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """Configurations of a study of which nothing is heard, each of which is finished by one job."""
    with LaunchLab(tmp_path_factory.mktemp("undisturbed")) as lab:
        return run_row(lab, "undisturbed")


def run_row(lab: LaunchLab, what: str) -> dict[str, dict[int, str]]:
    """Launch the study, hurt it, check what holds in any case, and return the configurations of its trials."""
    hurt, least, words = ROWS[what]
    lab.launch(TAG, *STUDY, *words, *(LONGER if hurt is killed else SETTINGS), benchmark=BENCHMARK)
    struck = hurt(lab)
    lab.await_end(2400)
    assert struck >= least, f"{what}: it struck {struck} times"
    found, word = lab.finished(TAG), lab.word(TAG)
    assert word is not None
    assert word.state is ControllerState.ENDED, lab.log(lab.controllers()[-1])
    assert found.running == ()
    assert {one[1:] for trials in found.trials.values() for one in trials.values()} == {("completed", 1)}, found.trials
    assert len(found.jobs) == sum(map(len, found.trials.values()))
    lab.same_bill(TAG, found)
    row = {"struck": struck, "generations": len(lab.controllers()), "restarts": len(word.restarts), "jobs": len(found.jobs)}
    print(f"{what}: {json.dumps(row)}, trials ${found.billed_usd:.6f}, controllers ${found.controllers_usd:.6f}")
    return found.configurations


@pytest.mark.parametrize("what", [name for name in ROWS if name != "undisturbed"])
def test_it_ends_as_one_of_which_nothing_is_heard(tmp_path: Path, expected: dict[str, dict[int, str]], what: str) -> None:
    with LaunchLab(tmp_path) as lab:
        assert run_row(lab, what) == expected
