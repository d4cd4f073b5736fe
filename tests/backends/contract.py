"""The back-end contract as a test class: every back-end's tests inherit it and say how a back-end and its jobs are made."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from backends.adopted import AdoptedJob
from backends.base import Backend
from backends.events import Accepted, Closed, Ended, Event, Noted, Progressed, Rejected, Reported, Restarted, Retained, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec, Limits

_ROUNDS = 20_000

Until = Callable[[list[Event]], bool]


def of_job(events: Sequence[Event], name: str, kind: type[Event] = Event) -> list[Any]:
    """Return the events of one job, of one kind."""
    return [event for event in events if event.job == name and isinstance(event, kind)]


def closed(events: Sequence[Event], name: str) -> Closed:
    """Return the one `Closed` of a job."""
    (event,) = of_job(events, name, Closed)
    assert isinstance(event, Closed)
    return event


def all_closed(*names: str) -> Until:
    """Return a condition: each of the jobs is closed or rejected."""
    return lambda events: {event.job for event in events if isinstance(event, (Closed, Rejected))} >= set(names)


def has(name: str, kind: type[Event], count: int = 1) -> Until:
    """Return a condition: the job has so many events of a kind."""
    return lambda events: len(of_job(events, name, kind)) >= count


def collect(backend: Backend, until: Until, limit_s: float = 45.0, into: list[Event] | None = None) -> list[Event]:
    """Wait until the condition holds; fails after `limit_s` seconds of the back-end's clock, or when waiting returns for ever.

    The limit is only less than what a script that hangs would take, a minute: a busy machine takes its time.
    """
    events = [] if into is None else into
    deadline = backend.now() + limit_s
    for _ in range(_ROUNDS):
        if until(events):
            return events
        left = deadline - backend.now()
        assert left > 0, f"not there after {limit_s} s: {events}"
        events += backend.wait(left)
    raise AssertionError(f"not there after {_ROUNDS} waits: {events[-20:]}")


def check_order(events: Sequence[Event]) -> None:
    """Assert the order of events that the contract promises, for each job."""
    for name in dict.fromkeys(event.job for event in events):
        mine = [event for event in of_job(events, name) if not isinstance(event, (Noted, Retained))]
        kinds = [type(event) for event in mine]
        for earlier, later in itertools.pairwise(mine):
            assert earlier.at <= later.at, f"{name}: time goes back from {earlier} to {later}"
        for kind in (Rejected, Accepted, Started, Ended, Closed):
            assert kinds.count(kind) <= 1, f"{name}: {kind.__name__} came more than once"
        if Rejected in kinds:
            assert kinds == [Rejected], f"{name}: nothing precedes or follows Rejected: {kinds}"
            continue
        if Closed in kinds:
            assert kinds[-1] is Closed, f"{name}: nothing follows Closed: {kinds}"
            assert Accepted not in kinds or Ended in kinds, f"{name}: an accepted job ends before it is closed: {kinds}"
        if Accepted in kinds:
            assert kinds[0] is Accepted, f"{name}: {kinds}"
        if Started in kinds:
            assert kinds[:2] == [Accepted, Started], f"{name}: {kinds}"
        else:
            assert not {Reported, Progressed} & set(kinds), f"{name}: a report of a job that never started"
        if Ended in kinds:
            assert set(kinds[kinds.index(Ended) + 1 :]) <= {Reported, Progressed, Closed}, f"{name}: {kinds}"
        identities = [(event.incarnation, event.rank, event.sequence) for event in mine if isinstance(event, Reported)]
        assert len(identities) == len(set(identities)), f"{name}: a report came twice"
        assert all(rank == 0 for _, rank, _ in identities), f"{name}: a report of another rank than 0"
        lives = [event.incarnation for event in mine if isinstance(event, Restarted)]
        assert lives == sorted(set(lives)), f"{name}: {lives}"


class BackendContract:
    """What every back-end does. A subclass gives `make_backend` and `job`, and may change the class's numbers.

    Kinds of jobs, all with reports `{"epoch": 1, ...}`, `{"epoch": 2, ...}`, ...:
        reports3: three reports, then success.
        fails: ends by itself without success, after any number of reports.
        silent: success without a report.
        endless: one report at least, then runs until it is stopped.
        counts: says that 0 of 4 are done and that 4 of 4 are, and reports once.
        steps: says after each of a thousand steps of 0.05 s how far it is, and reports at its end.
    """

    runs_scripts = True
    """Whether its jobs are scripts, which say how far they are."""

    limit_s = 60.0
    max_run_s = 0.5
    slack_s = 5.0
    billed_beside_s = 1.0
    """Seconds that a job may be billed for beside its script's own."""
    many = 8

    def make_backend(self, folder: Path) -> Backend:
        """Return a new back-end that keeps what it keeps in this folder; called twice with one folder, it is the next controller."""
        raise NotImplementedError

    def job(self, kind: str, name: str) -> JobSpec:
        """Return a job of this kind."""
        raise NotImplementedError

    def wide(self, spec: JobSpec) -> JobSpec | None:
        """Return the job on an instance type for which there is no room at all; None where there is none such."""
        return None

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Iterator[Backend]:
        backend = self.make_backend(tmp_path)
        yield backend
        assert backend.close() == []

    def run(self, backend: Backend, *jobs: JobSpec) -> list[Event]:
        for job in jobs:
            backend.submit(job)
        events = collect(backend, all_closed(*(job.name for job in jobs)), self.limit_s)
        check_order(events)
        return events

    def started(self, backend: Backend, *jobs: JobSpec) -> list[Event]:
        """Submit endless jobs and return the events up to each one's first report."""
        for job in jobs:
            backend.submit(job)
        return collect(backend, lambda events: all(has(job.name, Reported)(events) for job in jobs), self.limit_s)

    def test_a_job_that_reports_and_succeeds(self, backend: Backend) -> None:
        before = backend.now()
        events = self.run(backend, self.job("reports3", "one"))
        assert [type(event) for event in events if not isinstance(event, (Reported, Ended, Noted, Retained))] == [Accepted, Started, Closed]
        reports = of_job(events, "one", Reported)
        assert [report.metrics["epoch"] for report in reports] == [1, 2, 3]
        assert [report.sequence for report in reports] == sorted({report.sequence for report in reports})
        assert all(report.elapsed_s >= 0 for report in reports)
        assert not any(key.startswith(("st_", "outrider_")) for report in reports for key in report.metrics)
        end = closed(events, "one")
        assert (end.outcome, end.cause) == (Outcome.COMPLETED, None)
        assert end.started_at is not None
        assert end.ended_at is not None
        assert before <= end.started_at <= end.ended_at <= backend.now()
        assert end.billable_s == pytest.approx(end.ended_at - end.started_at, abs=self.billed_beside_s)

    def test_a_job_that_says_how_far_it_is(self, backend: Backend) -> None:
        if not self.runs_scripts:
            pytest.skip("its jobs are no scripts")
        events = self.run(backend, self.job("counts", "one"))
        first, last = of_job(events, "one", Progressed)
        assert [(one.done, one.total, one.number) for one in (first, last)] == [(0.0, 4.0, 0), (4.0, 4.0, 1)]
        assert 0 < first.elapsed_s <= last.elapsed_s
        assert 0 < last.phases_s["startup"] <= first.elapsed_s
        assert closed(events, "one").outcome is Outcome.COMPLETED

    def test_a_prefix_that_its_reporter_ends(self, backend: Backend) -> None:
        if not self.runs_scripts:
            pytest.skip("its jobs are no scripts")
        spec = self.job("steps", "one")
        events = self.run(backend, dataclasses.replace(spec, environment={**spec.environment, "OUTRIDER_STOP_AFTER_S": "0.5"}))
        said = of_job(events, "one", Progressed)
        assert all(one.elapsed_s < 0.5 for one in said[:-1])
        assert said[-1].elapsed_s >= 0.5
        assert said[-1].done < said[-1].total == 1000
        end = closed(events, "one")
        # It had no time to report; the loop knows better than the back-end what that means.
        assert (end.outcome, end.cause) in ((Outcome.COMPLETED, None), (Outcome.FAILED, Cause.NO_METRICS))
        assert end.usage["phases_s"]["startup"] > 0

    def test_a_prefix_that_is_stopped(self, backend: Backend) -> None:
        if not self.runs_scripts:
            pytest.skip("its jobs are no scripts")
        backend.submit(self.job("steps", "one"))
        events = collect(backend, has("one", Progressed), self.limit_s)
        backend.stop("one", Cause.PREFIX)
        collect(backend, all_closed("one"), self.limit_s, events)
        check_order(events)
        assert of_job(events, "one", Progressed)[-1].done < 1000
        assert (closed(events, "one").outcome, closed(events, "one").cause) == (Outcome.STOPPED, Cause.PREFIX)

    def test_a_job_that_fails(self, backend: Backend) -> None:
        end = closed(self.run(backend, self.job("fails", "one")), "one")
        assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.SCRIPT_ERROR)
        assert end.message

    def test_success_without_a_report_is_a_failure(self, backend: Backend) -> None:
        end = closed(self.run(backend, self.job("silent", "one")), "one")
        assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.NO_METRICS)
        assert end.message

    def test_many_jobs_each_close_once_and_one_failure_does_not_touch_the_others(self, backend: Backend) -> None:
        kinds = {f"job-{n}": ("fails" if n == 2 else "reports3") for n in range(self.many)}
        events = self.run(backend, *(self.job(kind, name) for name, kind in kinds.items()))
        for name, kind in kinds.items():
            wanted = Outcome.FAILED if kind == "fails" else Outcome.COMPLETED
            assert closed(events, name).outcome is wanted
            if kind == "reports3":
                assert [report.metrics["epoch"] for report in of_job(events, name, Reported)] == [1, 2, 3]

    def test_names_that_are_prefixes_of_each_other_keep_their_own_reports(self, backend: Backend) -> None:
        events = self.run(backend, self.job("reports3", "x-1"), self.job("reports3", "x-11"))
        assert [len(of_job(events, name, Reported)) for name in ("x-1", "x-11")] == [3, 3]

    def test_stop_of_a_running_job(self, backend: Backend) -> None:
        events = self.started(backend, self.job("endless", "one"))
        backend.stop("one", Cause.SCHEDULER)
        collect(backend, all_closed("one"), self.limit_s, events)
        check_order(events)
        assert (closed(events, "one").outcome, closed(events, "one").cause) == (Outcome.STOPPED, Cause.SCHEDULER)
        assert [event for event in backend.wait(0.0) if not isinstance(event, (Noted, Retained))] == []

    def test_stop_before_the_job_starts(self, backend: Backend) -> None:
        backend.submit(self.job("endless", "one"))
        backend.stop("one", Cause.BUDGET)
        events = collect(backend, all_closed("one"), self.limit_s)
        check_order(events)
        assert (closed(events, "one").outcome, closed(events, "one").cause) == (Outcome.STOPPED, Cause.BUDGET)

    def test_the_first_of_two_stops_counts(self, backend: Backend) -> None:
        events = self.started(backend, self.job("endless", "one"))
        backend.stop("one", Cause.PAUSED)
        backend.stop("one", Cause.BUDGET)
        collect(backend, all_closed("one"), self.limit_s, events)
        backend.stop("one", Cause.BUDGET)
        assert backend.wait(0.1) == []
        check_order(events)
        assert closed(events, "one").cause is Cause.PAUSED

    def test_stop_of_one_leaves_the_other(self, backend: Backend) -> None:
        first, second = self.job("endless", "one"), self.job("reports3", "two")
        events = self.started(backend, first)
        backend.submit(second)
        backend.stop("one", Cause.SCHEDULER)
        collect(backend, all_closed("one", "two"), self.limit_s, events)
        check_order(events)
        assert closed(events, "two").outcome is Outcome.COMPLETED

    def test_stop_of_unknown_and_closed_jobs_is_ignored(self, backend: Backend) -> None:
        backend.stop("nobody", Cause.BUDGET)
        events = self.run(backend, self.job("reports3", "one"))
        backend.stop("one", Cause.BUDGET)
        assert closed(events, "one").outcome is Outcome.COMPLETED
        assert backend.wait(0.1) == []

    def test_a_job_over_its_time_fails(self, backend: Backend) -> None:
        job = dataclasses.replace(self.job("endless", "one"), limits=Limits(max_run_s=self.max_run_s, grace_s=1.0))
        end = closed(self.run(backend, job), "one")
        assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.TIME_OUT)
        assert end.started_at is not None
        assert end.ended_at is not None
        assert end.ended_at - end.started_at >= self.max_run_s - 1e-6

    def test_a_job_without_a_limit_of_time_runs_to_its_end(self, backend: Backend) -> None:
        job = dataclasses.replace(self.job("reports3", "one"), limits=Limits(max_run_s=None, grace_s=1.0))
        assert closed(self.run(backend, job), "one").outcome is Outcome.COMPLETED

    def test_a_name_is_used_once(self, backend: Backend) -> None:
        backend.submit(self.job("reports3", "one"))
        with pytest.raises(ValueError, match="one"):
            backend.submit(self.job("reports3", "one"))
        collect(backend, all_closed("one"), self.limit_s)
        with pytest.raises(ValueError, match="one"):
            backend.submit(self.job("reports3", "one"))

    def test_wait_keeps_its_deadline(self, backend: Backend) -> None:
        before = backend.now()
        assert backend.wait(0.2) == []
        assert 0.2 <= backend.now() - before < self.slack_s
        self.started(backend, self.job("endless", "one"))
        deadline = backend.now() + 0.3
        for _ in range(_ROUNDS):
            if backend.now() >= deadline:
                break
            backend.wait(deadline - backend.now())
        assert deadline <= backend.now() < deadline + self.slack_s

    def test_wait_with_nothing_to_wait_for_returns_at_once(self, backend: Backend) -> None:
        before = backend.now()
        assert backend.wait(None) == []
        self.run(backend, self.job("reports3", "one"))
        assert backend.wait(None) == []
        assert backend.now() - before < self.limit_s

    def test_wait_without_a_limit_returns_what_happens_next(self, backend: Backend) -> None:
        backend.submit(self.job("reports3", "one"))
        events: list[Event] = []
        for _ in range(_ROUNDS):
            batch = backend.wait(None)
            if not batch:
                break
            events += batch
        check_order(events)
        assert closed(events, "one").outcome is Outcome.COMPLETED

    def test_wake_ends_the_next_wait(self, backend: Backend) -> None:
        self.started(backend, self.job("endless", "one"))
        backend.wait(0.0)
        before = backend.now()
        backend.wake()
        backend.wait(6 * self.slack_s)
        assert backend.now() - before < 5 * self.slack_s

    def test_now_never_goes_back(self, backend: Backend) -> None:
        backend.submit(self.job("reports3", "one"))
        times = [backend.now()]
        for _ in range(50):
            backend.wait(0.01)
            times.append(backend.now())
        assert times == sorted(times)

    def test_room_is_there_for_the_jobs_own_type(self, backend: Backend) -> None:
        assert backend.capacity(self.job("reports3", "one").instance_type) >= 1

    def test_a_job_that_can_never_fit_is_rejected_for_good(self, backend: Backend) -> None:
        job = self.wide(self.job("reports3", "one"))
        if job is None:
            pytest.skip("every job fits")
        assert backend.capacity(job.instance_type) == 0
        (event,) = self.run(backend, job)
        assert isinstance(event, Rejected)
        assert event.retry_at is None
        assert event.message

    def test_checkpoints_are_copied_and_deleted(self, backend: Backend) -> None:
        if not backend.capabilities.checkpoints:
            pytest.skip("keeps no checkpoints")
        store = backend.checkpoints
        assert not store.exists("a")
        self.write_checkpoint(backend, "a", b"12")
        store.copy("a", "b")
        store.copy("nothing", "c")
        assert [store.exists(key) for key in "abc"] == [True, True, False]
        store.delete(["a", "nothing"])
        assert [store.exists(key) for key in "abc"] == [False, True, False]

    def write_checkpoint(self, backend: Backend, key: str, content: bytes) -> None:
        """Put one file into a checkpoint as a job would; needed where `capabilities.checkpoints`."""
        raise NotImplementedError

    def test_adopted_jobs_each_close_once(self, tmp_path: Path) -> None:
        first = self.make_backend(tmp_path)
        specs = [self.job("reports3", "seen"), self.job("reports3", "unseen")]
        seen_at = first.now()
        first.close()
        backend = self.make_backend(tmp_path)
        try:
            never = AdoptedJob(specs[1], submitted_at=seen_at)
            known = AdoptedJob(specs[0], submitted_at=seen_at, last_event_at=seen_at, accepted_at=seen_at)
            backend.adopt([known, never], last_seen_at=seen_at)
            events = collect(backend, all_closed("seen", "unseen"), self.limit_s)
            for name in ("seen", "unseen"):
                end = closed(events, name)
                if not (backend.capabilities.survives_controller or backend.capabilities.virtual_time):
                    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.CONTROLLER)
                else:
                    assert end.outcome is Outcome.COMPLETED or end.cause in (Cause.LOST, Cause.CONTROLLER)
                assert end.at >= seen_at
                assert of_job(events, name)[-1] is end
            with pytest.raises(ValueError, match="seen"):
                backend.submit(specs[0])
            check_order(self.run(backend, self.job("reports3", "new")))
        finally:
            assert backend.close() == []

    def test_close_stops_what_runs(self, tmp_path: Path) -> None:
        backend = self.make_backend(tmp_path)
        self.started(backend, self.job("endless", "one"))
        assert backend.close() == []
        assert backend.close() == []
