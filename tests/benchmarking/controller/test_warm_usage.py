"""What warm instances amount to: money in flight, money spent, hits, and the words for it."""

from __future__ import annotations

import pytest

from backends.adopted import AdoptedPool
from backends.events import Closed, Ended, Retained
from backends.failures import Outcome
from benchmarking.controller.adopting import adopted_pools
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.journal import Record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.warm_usage import WarmStarts
from benchmarking.report.warm import warm_document, warm_text

RATE = 3.6 / 3600  # dollars a second


class Fold:
    """A state, fed with records of jobs on one instance type; a job's worst case is 100 s and 60 s of kept instances."""

    def __init__(self):
        self.state = ExperimentState(StateSetup({"loss": "min"}))
        self.sequence = 0

    def record(self, kind, body, at):
        self.sequence += 1
        self.state.apply(Record(self.sequence, at, kind, body))

    def start(self, number, at=0.0):
        configuration = {"x": number, "instance_type": "ml.a"}
        self.record("suggest", {"evaluation": number, "configuration": configuration, "level": None, "repeat": 0, "block_of": 1}, at)
        body = {"trial": number, "evaluation": number, "repeat": 0, "attempt": 1, "job": f"j{number}", "restore_from": None}
        self.record("start", {**body, "worst_usd": 160 * RATE}, at)

    def event(self, event):
        kind, body = event_record(event)
        if isinstance(event, Retained):
            body |= {"worst_usd": event.worst_s * RATE, "cost_usd": None if event.billable_s is None else event.billable_s * RATE}
        self.record(kind, body, event.at)

    def kept(self, number, at):
        self.event(Retained(f"j{number}", at, "ml.a", 1, worst_s=60.0))

    def gone(self, number, at, billable_s, by=""):
        self.event(Retained(f"j{number}", at, "ml.a", 1, billable_s=billable_s, reused_by=by))

    def close(self, number, at, starting_s=8.0, warm=False, **usage):
        self.event(Ended(f"j{number}", at))
        usage = {"warm": warm, "waited_s": starting_s, **usage}
        self.event(Closed(f"j{number}", at, Outcome.COMPLETED, billable_s=50.0, usage=usage, started_at=at - 50, ended_at=at))
        body = {"job": f"j{number}", "trial": number, "status": "completed", "cause": None, "message": "", "counts": False}
        self.record("settle", {**body, "retry_at": None, "cost_usd": 50.0 * RATE}, at)


def test_money_in_flight_counts_the_kept_instances_once():
    fold = Fold()
    fold.start(0)
    assert fold.state.money.reserved_usd == pytest.approx(160 * RATE)
    fold.kept(0, 50.0)
    # Its worst case held them already.
    assert fold.state.money.reserved_usd == pytest.approx(160 * RATE)
    fold.close(0, 51.0)
    assert fold.state.money.reserved_usd == pytest.approx(60 * RATE)
    assert fold.state.money.spent_usd == pytest.approx(50 * RATE)
    fold.start(1, 60.0)
    assert fold.state.money.reserved_usd == pytest.approx(220 * RATE)
    fold.gone(0, 61.0, 10.0, "j1")
    assert fold.state.money.reserved_usd == pytest.approx(160 * RATE)
    assert (fold.state.money.retained_s, fold.state.money.retained_usd) == (10.0, pytest.approx(10 * RATE))
    assert fold.state.money.spent_usd == pytest.approx(60 * RATE)


def test_instances_that_were_booked_before_their_job_was_closed_are_not_booked_again():
    fold = Fold()
    fold.start(0)
    fold.kept(0, 50.0)
    fold.gone(0, 51.0, 1.0, "somebody-else")
    # The next controller finds the job described as reused, and says so once more.
    fold.kept(0, 55.0)
    fold.gone(0, 55.0, 1.0, "somebody-else")
    fold.close(0, 56.0)
    assert (fold.state.money.retained_s, fold.state.money.pools) == (1.0, {})
    assert fold.state.money.reserved_usd == pytest.approx(0.0)


def test_what_is_open_can_be_taken_over():
    fold = Fold()
    fold.start(0)
    fold.kept(0, 50.0)
    fold.close(0, 51.0)
    assert adopted_pools(fold.state) == [AdoptedPool("j0", "ml.a", 1, 50.0)]
    fold.kept(0, 70.0)
    assert adopted_pools(fold.state) == [AdoptedPool("j0", "ml.a", 1, 50.0)]
    fold.gone(0, 80.0, 12.0)
    fold.gone(0, 81.0, 12.0)
    assert fold.state.money.retained_s == 12.0


def test_hits_count_among_jobs_that_came_after_the_first_instances_were_kept():
    starts = WarmStarts()
    for job, at, starting_s, warm in (("a", 0, 8.0, False), ("b", 1, 10.0, False), ("c", 20, 1.0, False), ("d", 21, 9.0, False)):
        starts.closed(job, at, {"warm": warm, "waited_s": starting_s})
    starts.closed("never-began", 22, {"warm": False})
    starts.kept_at(15.0)
    # Known from the instances' side only.
    starts.reused_by("c")
    starts.reused_by("another-experiment's")
    figures = starts.figures()
    assert (figures.jobs, figures.eligible, figures.warm, figures.hit_rate) == (4, 2, 1, 0.5)
    assert (figures.cold_s, figures.warm_s, figures.saved_s) == (9.0, 1.0, 8.0)


def test_a_job_that_got_instances_before_their_keeping_was_seen_could_have_them():
    starts = WarmStarts()
    starts.closed("a", 10, {"warm": True, "waited_s": 1.0})
    starts.kept_at(11.0)
    assert (starts.figures().eligible, starts.figures().hit_rate) == (1, 1.0)
    assert starts.figures().saved_s is None


def test_a_journal_of_an_earlier_version_is_read_by_the_words_that_it_has():
    starts = WarmStarts()
    quota = "ml.a for training warm pool usage"
    starts.closed("a", 0, {"warm": False, "stages_s": {"Starting": 8.0, "Training": 3.0}, "warm_pool_quota_at_zero": quota})
    starts.kept_at(10.0)
    starts.closed("b", 20, {"warm": True, "stages_s": {"Starting": 2.0}})
    figures = starts.figures()
    assert (figures.cold_s, figures.warm_s, figures.saved_s, figures.quotas_at_zero) == (8.0, 2.0, 6.0, (quota,))
    # What is said in both ways counts as it is said now.
    starts.closed("c", 21, {"warm": True, "waited_s": 4.0, "stages_s": {"Starting": 99.0}})
    assert starts.figures().warm_s == 3.0


def test_the_summary_says_how_often_what_it_saved_and_what_it_cost():
    fold = Fold()
    fold.start(0)
    fold.kept(0, 50.0)
    fold.close(0, 51.0)
    fold.start(1, 60.0)
    fold.gone(0, 61.0, 10.0, "j1")
    fold.kept(1, 120.0)
    fold.close(1, 121.0, starting_s=1.0, warm=True)
    assert warm_text(fold.state, "emulated") == (
        "Warm pools: of 1 jobs that came after the first instances were kept, 1 (100 %) started warm, in 1.0 s on average where a cold "
        "start took 8.0 s, which saved 7 s of waiting. Spent (emulated): $0.10 on trials and $0.010 on 10 s of kept instances, $0.11 "
        "together. What 1 more kept sets of instances cost is not known yet: $0.060 at most; a resume looks."
    )
    document = warm_document(fold.state)
    assert (document["hit_rate"], document["saved_s"], document["retained_s"], document["pools_open"]) == (1.0, 7.0, 10.0, 1)
    assert document["retained_usd"] == pytest.approx(10 * RATE)


def test_without_quota_the_summary_says_so():
    fold = Fold()
    fold.start(0)
    fold.close(0, 51.0, quota_at_zero="ml.a for training warm pool usage")
    assert warm_text(fold.state) == "No warm pools: the quota 'ml.a for training warm pool usage' is 0. Every job started cold."
    fold.start(1, 60.0)
    fold.kept(1, 70.0)
    fold.close(1, 71.0)
    assert warm_text(fold.state).endswith("Some jobs could not be kept warm: the quota 'ml.a for training warm pool usage' is 0.")


def test_a_back_end_that_keeps_nothing_leaves_no_trace():
    fold = Fold()
    fold.start(0)
    fold.event(Closed("j0", 51.0, Outcome.COMPLETED, usage={"waited_s": 8.0}))
    assert fold.state.warm.figures().jobs == 0
    assert warm_text(fold.state) == "No warm pools: no instances were kept. Every job started cold."
