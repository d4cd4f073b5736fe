from dataclasses import replace

import pytest

from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.interfaces import Wallet
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.recorder import Recorder
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.starter import Starter
from benchmarking.controller.state import ExperimentState
from benchmarking.methods.registry import build_method
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeJobs, FakeTable, MemoryJournal, definition


class Submitted(SimulatedBackend):
    """Remembers how many records were there, and how often they had been committed, at each submission."""

    def __init__(self, journal, **capabilities):
        super().__init__(FakeTable())
        self._journal, self._changes, self.jobs = journal, capabilities, []

    @property
    def capabilities(self):
        return replace(super().capabilities, **self._changes)

    def submit(self, job):
        self.jobs.append((job.name, len(self._journal.rows), self._journal.commits))
        super().submit(job)


def starter(budget=None, *, n_workers=2, spent_usd=0.0, code=None, **capabilities):
    benchmark = definition(budget=budget or Budget(max_num_trials=9))
    journal, state = MemoryJournal(), ExperimentState(StateSetup(objectives=benchmark.objectives))
    backend = Submitted(journal, **capabilities)
    adapter = MethodAdapter(build_method("RS", benchmark, 0, {}, region="us-east-1"), lambda trial: None)
    adapter.attach(backend.capabilities, backend.wake)
    made = Starter(
        state=state, adapter=adapter, backend=backend, recorder=Recorder(journal, state, backend.now, (), virtual=False), jobs=FakeJobs(),
        budget=benchmark.budget, n_workers=n_workers, wallet=Wallet(spent_usd), code=code,
    )  # fmt: skip
    return made, state, journal, backend


def kinds(journal):
    return [kind for _, _, kind, _ in journal.rows]


def test_first_is_asked_then_started_and_the_start_is_committed_before_the_job_is_submitted():
    made, state, journal, backend = starter()
    assert made.start_one()
    assert (kinds(journal), backend.jobs) == (["suggest"], [])
    assert made.start_one()
    assert (kinds(journal), backend.jobs) == (["suggest", "start"], [("job-t0-a1", 2, 1)])
    assert (state.busy, [*state.trials]) == (1, [0])


@pytest.mark.parametrize(("real_money", "room"), [(False, [True, True, False]), (True, [True, False, False])])
def test_on_a_paid_back_end_the_first_trial_of_a_script_runs_alone(real_money, room):
    made, state, _, _ = starter(real_money=real_money)
    found = []
    for busy in range(3):
        state.busy = busy
        found.append(made.has_room)
    assert found == room
    state.busy, state.succeeded = 1, 1
    assert made.has_room


def test_at_the_limit_of_trials_nothing_more_is_asked_or_started():
    made, _, journal, _ = starter(Budget(max_num_trials=1))
    assert [made.start_one() for _ in range(3)] == [True, True, False]
    assert kinds(journal) == ["suggest", "start"]


# A job costs 0.1 at most: 100 s of 3.6 $/h.
@pytest.mark.parametrize(("spent_usd", "starts"), [(0.0, 2), (0.05, 1), (0.12, 1), (0.15, 0)])
def test_what_may_be_spent_counts_what_earlier_experiments_spent_and_what_is_reserved(spent_usd, starts):
    made, _, _, backend = starter(Budget(max_cost=0.22, max_num_trials=9), spent_usd=spent_usd, n_workers=9)
    while made.start_one():
        pass
    assert len(backend.jobs) == starts


def test_what_the_back_end_does_not_take_now_waits():
    made, state, _, backend = starter()
    made.start_one()
    state.doors.until[""] = 10.0
    assert not made.start_one()
    state.doors.until = {"ml.m5.large": 10.0}
    assert made.start_one()
    assert [name for name, *_ in backend.jobs] == ["job-t0-a1"]


def test_a_version_of_the_code_is_written_before_its_first_trial_alone():
    made, state, journal, _ = starter(code={"code": "v2"})
    for _ in range(4):
        assert made.start_one()
    assert kinds(journal) == ["suggest", "code", "start", "suggest", "start"]
    assert state.code == "v2"


def test_a_trial_that_was_interrupted_goes_first_and_by_its_next_attempt():
    made, state, _, backend = starter()
    made.start_one()
    made.start_one()
    state.interrupted.append(0)
    assert made.start_one()
    assert [name for name, *_ in backend.jobs] == ["job-t0-a1", "job-t0-a2"]
