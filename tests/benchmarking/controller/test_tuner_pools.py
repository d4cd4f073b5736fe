"""Instances that are kept warm at the end of an experiment: they are released once, and what they cost is awaited for some minutes."""

import pytest

from backends.capabilities import Capabilities
from backends.events import Closed, Retained
from backends.simulated.backend import SimulatedBackend
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeJobs, FakeTable, Killed, MemoryJournal, definition, tuner


class KeepsInstances(SimulatedBackend):
    """Keeps the instances of each job that has ended; where it `gives_back`, a release says at once that they cost 7 s."""

    capabilities = Capabilities(virtual_time=True, checkpoints=True, warm_pools=True)

    def __init__(self, gives_back=True):
        super().__init__(FakeTable(), seed=0)
        self.gives_back, self.kept, self.pending, self.released, self.adopted = gives_back, [], [], [], None

    def idle(self, instance_type, instance_count, key=""):
        return 0

    def wait(self, timeout_s):
        if self.pending:
            return [self.pending.pop(0)]
        found = []
        for event in super().wait(timeout_s):
            found.append(event)
            if isinstance(event, Closed):
                self.kept.append(event.job)
                found.append(Retained(event.job, event.at, "t", 1, worst_s=60.0))
        return found

    def release(self):
        self.released.append(self.now())
        if self.gives_back:
            self.pending += [Retained(job, self.now(), "t", 1, billable_s=7.0) for job in self.kept]

    def adopt_pools(self, pools):
        self.adopted = [pool.job for pool in pools]


class TypedJobs(FakeJobs):
    def deploy_key(self, configuration):
        return ""

    def instances(self, configuration):
        return "t", 1


def run(backend, journal=None):
    loop = tuner(definition(budget=Budget(max_num_trials=3)), journal or MemoryJournal(), backend=backend, jobs=TypedJobs())
    return loop, loop.run()


def test_what_is_kept_is_released_once_and_its_cost_is_waited_for():
    backend = KeepsInstances()
    loop, _ = run(backend)
    assert len(backend.released) == 1
    assert loop.state.money.pools == {}
    assert loop.state.money.retained_s == 21.0
    assert loop.state.money.retained_usd == pytest.approx(21 / 3600 * 3.6)


def test_what_is_not_given_back_is_waited_for_a_minute():
    backend = KeepsInstances(gives_back=False)
    loop, _ = run(backend)
    assert len(backend.released) == 1
    assert len(loop.state.money.pools) == 3
    assert backend.now() == pytest.approx(backend.released[0] + 300.0)


def test_a_resume_takes_over_what_is_kept():
    whole = MemoryJournal()
    run(KeepsInstances(), whole)
    kept_at = next(k for k, row in enumerate(whole.rows) if row[2] == "retained") + 1
    killed = MemoryJournal(limit=kept_at)
    with pytest.raises(Killed):
        run(KeepsInstances(), killed)
    again = KeepsInstances()
    with pytest.raises(Killed):
        run(again, MemoryJournal(killed.rows, limit=kept_at))
    assert len(again.adopted) == 1
