"""What the keeper of warm pools asks of the service, and when; no service."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends.adopted import AdoptedPool
from backends.events import Retained
from backends.sagemaker.jobs.job import JobPhase
from backends.sagemaker.pools.keeper import PoolKeeper
from backends.sagemaker.pools.pools import MatchKey

A, A2 = MatchKey("ml.a", 1), MatchKey("ml.a", 2)


class JobTable:
    """As much of the back-end's table as the keeper needs; calls are written down, and answered by hand."""

    def __init__(self, keep_alive_s=600):
        self.options = SimpleNamespace(keep_alive_s=keep_alive_s)
        self.jobs, self.events, self.made, self.at = {}, [], [], 100.0
        self.calls = SimpleNamespace(put=lambda call: self.made.append((call.operation, call)))
        self.clients = SimpleNamespace(get=lambda service, attempts: SimpleNamespace(update_training_job=lambda **request: request))

    def now(self):
        return self.at

    def describe(self, name, done, missing):
        self.made.append(("Describe", SimpleNamespace(job=name, done=done, failed=missing)))

    def take(self, operation):
        """Return the calls of an operation so far, and forget them."""
        found = [call for name, call in self.made if name == operation]
        self.made = [(name, call) for name, call in self.made if name != operation]
        return found


@pytest.fixture
def table():
    return JobTable()


def end(keeper, job, key=A, status="Available"):
    keeper.job_ended({"TrainingJobName": job, "WarmPoolStatus": {"Status": status} if status else {}}, key)


def released(table):
    return [call.make()["TrainingJobName"] for call in table.take("UpdateTrainingJob")]


def test_a_job_that_begins_has_the_pools_looked_at_that_it_may_have_got(table):
    keeper = PoolKeeper(table)
    end(keeper, "a")
    end(keeper, "two", A2)
    table.made.clear()
    keeper.job_began("next", A)
    (look,) = table.take("Describe")
    assert look.job == "a"
    look.done({"WarmPoolStatus": {"Status": "Reused", "ReusedByJob": "b", "ResourceRetainedBillableTimeInSeconds": 7}})
    assert table.events[-1] == Retained("a", 100.0, "ml.a", 1, billable_s=7.0, reused_by="b")
    assert keeper.was_warm("b")


def test_release_asks_once_for_each_and_also_for_what_comes_later(table):
    keeper = PoolKeeper(table)
    end(keeper, "a")
    keeper.release()
    keeper.plan()
    assert released(table) == ["a"]
    assert keeper.releasing
    end(keeper, "b")
    keeper.plan()
    assert released(table) == ["b"]


def test_nothing_is_given_up_unasked_and_a_release_is_a_keep_alive_of_no_time(table):
    keeper = PoolKeeper(table)
    end(keeper, "a")
    keeper.plan()
    assert (table.take("UpdateTrainingJob"), keeper.releasing) == ([], False)
    keeper.release()
    (call,) = table.take("UpdateTrainingJob")
    assert call.make() == {"TrainingJobName": "a", "ResourceConfig": {"KeepAlivePeriodInSeconds": 0}}


def test_a_job_that_ended_before_it_was_seen_to_start_may_have_used_up_a_pool(table):
    keeper = PoolKeeper(table)
    end(keeper, "a")
    table.made.clear()
    end(keeper, "b")
    assert [look.job for look in table.take("Describe")] == ["a"]


def test_a_release_that_is_refused_is_settled_by_a_look(table):
    keeper = PoolKeeper(table)
    end(keeper, "a")
    keeper.release()
    (update,) = table.take("UpdateTrainingJob")
    table.made.clear()
    update.failed(None)
    keeper.plan()
    (look,) = table.take("Describe")
    assert look.job == "a"
    look.done({"WarmPoolStatus": {"Status": "Reused", "ReusedByJob": "foreign", "ResourceRetainedBillableTimeInSeconds": 2}})
    assert not keeper.releasing
    assert table.events[-1].reused_by == "foreign"


def test_a_job_that_comes_after_all_makes_pools_worth_keeping_again(table):
    keeper = PoolKeeper(table)
    keeper.release()
    table.jobs["b"] = SimpleNamespace(phase=JobPhase.NEW, stage="")
    keeper.submitted("b", A)
    end(keeper, "b")
    keeper.plan()
    assert released(table) == []
    assert not keeper.releasing


def test_a_pool_that_is_due_to_a_job_is_not_given_up_before_the_job_has_begun(table):
    keeper = PoolKeeper(table)
    end(keeper, "a")
    table.jobs["b"] = job = SimpleNamespace(phase=JobPhase.LIVE, stage="Starting")
    keeper.submitted("b", A)
    keeper.free_quota(A2)
    assert released(table) == []
    job.stage = "Training"
    keeper.status_seen("a", {"Status": "Available"})
    keeper.free_quota(A2)
    assert released(table) == ["a"]


def test_a_pool_whose_job_was_never_created_is_idle_again_after_a_look(table):
    keeper = PoolKeeper(table)
    end(keeper, "a")
    keeper.submitted("b", A)
    table.made.clear()
    keeper.plan()
    (look,) = table.take("Describe")
    assert keeper.idle(A) == 0
    look.done({"WarmPoolStatus": {"Status": "Available"}})
    assert keeper.idle(A) == 1


def test_an_adopted_pool_is_looked_at_at_once(table):
    keeper = PoolKeeper(table)
    keeper.adopt(AdoptedPool("a", "ml.a", 1, 40.0))
    (look,) = table.take("Describe")
    look.failed()
    assert table.events == [Retained("a", 100.0, "ml.a", 1, billable_s=60.0)]


def test_without_keep_alive_nothing_is_followed():
    table = JobTable(keep_alive_s=0)
    keeper = PoolKeeper(table)
    end(keeper, "a")
    assert (table.events, table.made, keeper.idle(A)) == ([], [], 0)
