"""What the keeper of warm pools asks of the service, and when; no service."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends.base import AdoptedPool
from backends.events import Retained
from backends.sagemaker.jobs.job import Phase
from backends.sagemaker.pools.keeper import PoolKeeper
from backends.sagemaker.pools.pools import MatchKey

A, A2 = MatchKey("ml.a", 1), MatchKey("ml.a", 2)


class Fleet:
    """As much of the back-end's fleet as the keeper needs; calls are written down, and answered by hand."""

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
def fleet():
    return Fleet()


def end(keeper, job, key=A, status="Available"):
    keeper.job_ended({"TrainingJobName": job, "WarmPoolStatus": {"Status": status} if status else {}}, key)


def released(fleet):
    return [call.make()["TrainingJobName"] for call in fleet.take("UpdateTrainingJob")]


def test_a_job_that_begins_has_the_pools_looked_at_that_it_may_have_got(fleet):
    keeper = PoolKeeper(fleet)
    end(keeper, "a")
    end(keeper, "two", A2)
    fleet.made.clear()
    keeper.job_began("next", A)
    (look,) = fleet.take("Describe")
    assert look.job == "a"
    look.done({"WarmPoolStatus": {"Status": "Reused", "ReusedByJob": "b", "ResourceRetainedBillableTimeInSeconds": 7}})
    assert fleet.events[-1] == Retained("a", 100.0, "ml.a", 1, billable_s=7.0, reused_by="b")
    assert keeper.was_warm("b")


def test_release_asks_once_for_each_and_also_for_what_comes_later(fleet):
    keeper = PoolKeeper(fleet)
    end(keeper, "a")
    keeper.release()
    keeper.plan()
    assert released(fleet) == ["a"]
    assert keeper.releasing
    end(keeper, "b")
    keeper.plan()
    assert released(fleet) == ["b"]


def test_a_release_that_is_refused_is_settled_by_a_look(fleet):
    keeper = PoolKeeper(fleet)
    end(keeper, "a")
    keeper.release()
    (update,) = fleet.take("UpdateTrainingJob")
    fleet.made.clear()
    update.failed(None)
    keeper.plan()
    (look,) = fleet.take("Describe")
    assert look.job == "a"
    look.done({"WarmPoolStatus": {"Status": "Reused", "ReusedByJob": "foreign", "ResourceRetainedBillableTimeInSeconds": 2}})
    assert not keeper.releasing
    assert fleet.events[-1].reused_by == "foreign"


def test_a_job_that_comes_after_all_makes_pools_worth_keeping_again(fleet):
    keeper = PoolKeeper(fleet)
    keeper.release()
    fleet.jobs["b"] = SimpleNamespace(phase=Phase.NEW, stage="")
    keeper.submitted("b", A)
    end(keeper, "b")
    keeper.plan()
    assert released(fleet) == []
    assert not keeper.releasing


def test_a_pool_that_is_due_to_a_job_is_not_given_up_before_the_job_has_begun(fleet):
    keeper = PoolKeeper(fleet)
    end(keeper, "a")
    fleet.jobs["b"] = job = SimpleNamespace(phase=Phase.LIVE, stage="Starting")
    keeper.submitted("b", A)
    keeper.make_room(A2)
    assert released(fleet) == []
    job.stage = "Training"
    keeper.seen("a", {"Status": "Available"})
    keeper.make_room(A2)
    assert released(fleet) == ["a"]


def test_a_pool_whose_job_was_never_created_is_idle_again_after_a_look(fleet):
    keeper = PoolKeeper(fleet)
    end(keeper, "a")
    keeper.submitted("b", A)
    fleet.made.clear()
    keeper.plan()
    (look,) = fleet.take("Describe")
    assert keeper.idle(A) == 0
    look.done({"WarmPoolStatus": {"Status": "Available"}})
    assert keeper.idle(A) == 1


def test_an_adopted_pool_is_looked_at_at_once(fleet):
    keeper = PoolKeeper(fleet)
    keeper.take_over(AdoptedPool("a", "ml.a", 1, 40.0))
    (look,) = fleet.take("Describe")
    look.failed()
    assert fleet.events == [Retained("a", 100.0, "ml.a", 1, billable_s=60.0)]


def test_without_keep_alive_nothing_is_followed():
    fleet = Fleet(keep_alive_s=0)
    keeper = PoolKeeper(fleet)
    end(keeper, "a")
    assert (fleet.events, fleet.made, keeper.idle(A)) == ([], [], 0)
