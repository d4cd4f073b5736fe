"""What becomes of a job of several parts, by what becomes of these."""

from __future__ import annotations

from backends.events import Accepted, Closed, Ended, Reported, Started
from backends.failures import Cause, Outcome
from backends.ray.parts import JobParts, part_name, part_of


def closed(job: str, at: float, outcome: Outcome = Outcome.COMPLETED, cause: Cause | None = None, **more) -> Closed:
    return Closed(job, at, outcome, cause, "why" if cause else "", started_at=more.pop("began", 1.0), ended_at=at, **more)


def test_the_first_part_has_the_jobs_name_and_names_lead_back():
    assert part_name("toy-3", 0) == "toy-3"
    assert [part_of(part_name("toy-3", rank)) for rank in (0, 1, 12)] == [("toy-3", 0), ("toy-3", 1), ("toy-3", 12)]


def test_a_job_of_one_part_is_that_part():
    parts = JobParts(1)
    events = [Accepted("a", 1.0), Started("a", 2.0), Reported("a", 3.0, 0, {}, 1.0), Ended("a", 4.0), closed("a", 5.0)]
    assert [parts.take(0, event) for event in events] == events


def test_a_job_starts_with_its_first_part_and_ends_with_its_last():
    parts = JobParts(2)
    assert parts.take(1, Started("a.rank1", 2.0)) == Started("a.rank1", 2.0)
    assert parts.take(0, Started("a", 3.0)) is None
    assert parts.take(1, Reported("a.rank1", 3.5, 0, {}, 1.0)) is None
    assert parts.take(0, Ended("a", 4.0)) is None
    assert parts.take(0, closed("a", 4.0, usage={"cpu_s": 2.0, "peak_rss_bytes": 10, "steps": 7})) is None
    assert parts.take(1, Ended("a.rank1", 6.0)) == Ended("a.rank1", 6.0)
    end = parts.take(1, closed("a.rank1", 6.0, began=0.5, usage={"cpu_s": 3.0, "peak_rss_bytes": 40}))
    assert (end.job, end.outcome, end.started_at, end.ended_at, end.billable_s) == ("a", Outcome.COMPLETED, 0.5, 6.0, 5.5)
    assert end.usage == {"cpu_s": 5.0, "peak_rss_bytes": 40, "steps": 7}


def test_the_first_part_that_fails_judges_the_job_and_the_others_are_to_end():
    parts = JobParts(3)
    parts.take(2, closed("a.rank2", 4.0))
    assert not parts.is_doomed
    parts.take(1, closed("a.rank1", 5.0, Outcome.FAILED, Cause.OUT_OF_MEMORY))
    assert parts.is_doomed
    assert parts.open_ranks == [0]
    end = parts.take(0, closed("a", 6.0, Outcome.STOPPED, Cause.INTERRUPTED))
    assert (end.outcome, end.cause, end.message) == (Outcome.FAILED, Cause.OUT_OF_MEMORY, "rank 1: why")
