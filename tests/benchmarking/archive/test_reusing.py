"""The back-end that runs no job whose results are known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends.events import Accepted, Closed, Ended, Reported, Started
from backends.failures import Cause, Outcome
from backends.simulated.backend import SimulatedBackend
from benchmarking.archive.measured import PastMeasurement, PastReport, is_seeded, is_usable, reports_of
from benchmarking.archive.reusing import ReusingBackend, ReusingJobs, why_not
from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus
from definitions.trial import TrialSpec
from tests.benchmarking.experiments import FakeJobs, FakeTable, definition

TOOK = {"duration_s": 5.0, "billable_s": 4.0, "cost_usd": 0.25}
KNOWN = PastMeasurement(
    "trial 3",
    {"steps": 7},
    {"duration_s": 5.0, "billable_s": 4.0, "cost_usd": 0.25},
    [PastReport(1.0, {"loss": 2.0}), PastReport(2.5, {"loss": 1.0})],
)


def find(trial):
    return KNOWN if trial.configuration == {"x": 1} else None


def left(trial, reports):
    return reports


def key(trial):
    return repr(sorted(trial.configuration.items()))


def made():
    return ReusingBackend(SimulatedBackend(FakeTable(), seed=0), find, left, key)


def job(number, x):
    return FakeJobs().build(number, 1, TrialSpec({"x": x}), None)


def test_what_is_known_is_told_one_event_after_the_other_and_the_rest_runs():
    backend = made()
    backend.submit(job(0, 1))
    backend.submit(job(1, 2))
    told = [backend.wait(0.0) for _ in range(5)]
    assert [len(events) for events in told] == [1] * 5
    events = [events[0] for events in told]
    assert [type(event) for event in events] == [Accepted, Reported, Reported, Ended, Closed]
    assert [(event.sequence, event.elapsed_s, event.metrics) for event in events[1:3]] == [(1, 1.0, {"loss": 2.0}), (2, 2.5, {"loss": 1.0})]
    closed = events[4]
    assert (closed.outcome, closed.billable_s, closed.started_at, closed.message) == (
        Outcome.COMPLETED,
        0.0,
        None,
        "reused: measured by trial 3",
    )
    assert closed.usage == {"steps": 7, "reused": {"from": "trial 3", **TOOK}}
    ran = []
    while not any(isinstance(event, Closed) for event in ran):
        ran += backend.wait(None)
    assert {event.job for event in ran} == {"job-t1-a1"}
    assert any(isinstance(event, Started) for event in ran)


def test_one_that_is_stopped_tells_no_more_reports():
    backend = made()
    backend.submit(job(0, 1))
    assert [type(backend.wait(0.0)[0]) for _ in range(2)] == [Accepted, Reported]
    backend.stop("job-t0-a1", Cause.SCHEDULER)
    ended, closed = (backend.wait(0.0)[0] for _ in range(2))
    assert (type(ended), closed.outcome, closed.cause, closed.usage["reused"]["from"]) == (
        Ended,
        Outcome.STOPPED,
        Cause.SCHEDULER,
        "trial 3",
    )
    assert backend.wait(0.0) == []


def waiting(outcome):
    """Two jobs of one measurement at once, of which the first ends so; what is known of it is known once it is closed."""
    known = {}

    def found(trial):
        return known.get(key(trial))

    backend = ReusingBackend(SimulatedBackend(FakeTable(), seed=0), found, left, key)
    backend.submit(job(0, 2))
    backend.submit(job(1, 2))
    backend.submit(job(2, 3))
    assert [event.text for event in backend.wait(0.0)] == ["job-t1-a1 waits for job-t0-a1, which measures the same"]
    if outcome is Outcome.STOPPED:
        backend.stop("job-t0-a1", Cause.SCHEDULER)
    events = []
    while not {"job-t0-a1"} <= {event.job for event in events if isinstance(event, Closed)}:
        events += backend.wait(None)
    assert not [event for event in events if event.job == "job-t1-a1"]
    if outcome is Outcome.COMPLETED:
        known[key(TrialSpec({"x": 2}))] = KNOWN
    while not {"job-t1-a1", "job-t2-a1"} <= {event.job for event in events if isinstance(event, Closed)}:
        events += backend.wait(None)
    return [event for event in events if event.job == "job-t1-a1"]


def test_what_is_being_measured_is_waited_for_and_taken():
    events = waiting(Outcome.COMPLETED)
    assert [type(event) for event in events] == [Accepted, Reported, Reported, Ended, Closed]
    assert events[-1].message == "reused: measured by trial 3"


def test_where_the_other_one_came_to_nothing_it_is_run():
    events = waiting(Outcome.STOPPED)
    assert any(isinstance(event, Started) for event in events)
    assert events[-1].outcome is Outcome.COMPLETED


def test_one_that_waits_can_be_stopped():
    backend = made()
    backend.submit(job(0, 2))
    backend.submit(job(1, 2))
    backend.stop("job-t1-a1", Cause.BUDGET)
    ended, closed = (backend.wait(0.0)[0] for _ in range(2))
    assert (type(ended), closed.job, closed.outcome, closed.cause) == (Ended, "job-t1-a1", Outcome.STOPPED, Cause.BUDGET)


def test_of_a_trial_that_was_paused_only_what_is_left_is_told():
    backend = ReusingBackend(
        SimulatedBackend(FakeTable(), seed=0), find, lambda trial, reports: reports[1:] if trial == 4 else reports, key
    )
    backend.submit(FakeJobs().build(4, 2, TrialSpec({"x": 1}), None))
    told = [backend.wait(0.0)[0] for _ in range(4)]
    assert [event.metrics for event in told if isinstance(event, Reported)] == [{"loss": 1.0}]
    assert told[-1].outcome is Outcome.COMPLETED


@pytest.mark.parametrize(
    ("method", "code", "said"),
    [
        (SimpleNamespace(copies_checkpoints=False, needs_checkpoints=True), "1a", ""),
        (SimpleNamespace(copies_checkpoints=False), "", "reuse: nothing, as nobody knows which code runs on this back-end"),
        (
            SimpleNamespace(copies_checkpoints=True),
            "1a",
            "reuse: not with MINE: it starts trials from others' checkpoints, and a trial that is not run leaves none",
        ),
    ],
)
def test_what_keeps_an_experiment_from_reusing_is_said(method, code, said):
    assert why_not(method, "MINE", code) == said


def test_money_is_reserved_for_what_runs_alone():
    jobs = ReusingJobs(FakeJobs(usd_per_hour=36.0, max_run_s=100.0), find)
    assert (jobs.worst_usd(TrialSpec({"x": 1})), jobs.worst_usd(TrialSpec({"x": 2}))) == (0.0, 1.0)


def test_reports_belong_to_trials_whichever_attempt_made_them():
    records = [
        Record(1, 0.0, "start", {"job": "a", "trial": 0}),
        Record(2, 0.0, "reported", {"job": "a", "elapsed_s": 1.0, "metrics": {"loss": 3}}),
        Record(3, 0.0, "start", {"job": "b", "trial": 0}),
        Record(4, 0.0, "reported", {"job": "b", "elapsed_s": 2.0, "metrics": {"loss": 2}}),
        Record(5, 0.0, "reported", {"job": "unknown", "elapsed_s": 2.0, "metrics": {"loss": 1}}),
    ]
    assert reports_of(records) == {0: [PastReport(1.0, {"loss": 3}), PastReport(2.0, {"loss": 2})]}


def test_whether_a_seed_can_matter_follows_from_definition_and_code():
    plain, told, named = (
        definition(),
        definition(seed_argument="seed"),
        definition(command=("python", "a.py", "--s=${seed}", "${arguments}")),
    )
    found = [
        [is_seeded(SimpleNamespace(definition=one), reads_seed=reads) for reads in (False, True)]  # type: ignore[arg-type]
        for one in (plain, told, named, definition(command=("python", "seed.py", "${arguments}")))
    ]
    assert found == [[False, True], [True, True], [True, True], [False, True]]


def test_what_began_from_another_s_checkpoint_stands_for_no_configuration():
    trial = SimpleNamespace(evaluation=1, status=TrialStatus.COMPLETED, code="1a", value_of={"loss": 0.5}.get)
    spec = SimpleNamespace(definition=definition(objectives={"loss": "min"}))

    def usable(checkpoint_from, code="1a"):
        state = SimpleNamespace(evaluations={1: SimpleNamespace(checkpoint_from=checkpoint_from)})
        return is_usable(spec, state, trial, code)

    assert usable(None)
    assert not usable(0)
    assert not usable(None, code="2b")
