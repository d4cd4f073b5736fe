"""A controller that ends and leaves everything to the next one: jobs that outlive it run on, others are stopped and go on later."""

from __future__ import annotations

import dataclasses

import pytest

from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.ending import Reason
from benchmarking.controller.journal import JournalLostError
from definitions.errors import EXIT_DETACHED
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeTable, MemoryJournal, definition, statuses, tuner

FOUR = definition(budget=Budget(max_num_trials=4))


class Surviving(SimulatedBackend):
    """One whose jobs outlive the controller."""

    def __init__(self, table):
        super().__init__(table)
        self.capabilities = dataclasses.replace(self.capabilities, survives_controller=True)
        self.stopped, self.submitted = [], []

    def submit(self, job):
        self.submitted.append(job.name)
        super().submit(job)

    def stop(self, job, reason):
        self.stopped.append(job)
        super().stop(job, reason)


def kinds(journal):
    return [kind for _, _, kind, _ in journal.rows]


def detached(journal, backend):
    run = tuner(FOUR, journal, backend=backend, observers=(lambda record, state: state.reports == 2 and run.detach(),))
    return run, run.run()


def test_jobs_that_outlive_it_are_neither_stopped_nor_followed_by_others():
    journal, backend = MemoryJournal(), Surviving(FakeTable())
    run, ending = detached(journal, backend)
    assert (ending.reason, ending.exit_code) == (Reason.DETACHED, EXIT_DETACHED)
    assert ending.message == "left to the next controller after 2 trials"
    assert (backend.stopped, backend.submitted, len(run.state.jobs)) == ([], ["job-t0-a1", "job-t1-a1"], 2)
    assert not {"stop", "end"} & {*kinds(journal)}
    assert kinds(journal).count("reported") == 2
    second = tuner(FOUR, journal, backend=Surviving(FakeTable()))
    assert second.run().exit_code == 0
    assert statuses(second) == {"completed": 4}


def test_jobs_of_this_machine_are_stopped_and_go_on_with_the_next():
    journal = MemoryJournal()
    run, ending = detached(journal, SimulatedBackend(FakeTable()))
    assert (ending.reason, ending.exit_code) == (Reason.DETACHED, EXIT_DETACHED)
    assert statuses(run) == {"interrupted": 2}
    assert "end" not in kinds(journal)
    second = tuner(FOUR, journal)
    assert second.run().exit_code == 0
    assert statuses(second) == {"completed": 4}


def test_who_was_told_to_wind_down_does_so_and_the_other_way_round():
    backend = Surviving(FakeTable())
    for first, then in (("interrupt", "detach"), ("detach", "interrupt")):
        run = tuner(FOUR, MemoryJournal(), backend=Surviving(FakeTable()))
        getattr(run, first)()
        getattr(run, then)()
        assert run.run().reason is Reason.INTERRUPTED
    assert backend.stopped == []


def test_whose_journal_is_another_controllers_writes_and_stops_nothing_more():
    class Lost(MemoryJournal):
        def commit(self):
            super().commit()
            if "reported" in kinds(self):
                raise JournalLostError("another controller is at work")

    journal, backend = Lost(), Surviving(FakeTable())
    backend.capabilities = dataclasses.replace(backend.capabilities, virtual_time=False)
    run = tuner(FOUR, journal, backend=backend)
    with pytest.raises(JournalLostError):
        run.run()
    assert backend.stopped == []
    assert "stop" not in kinds(journal)
