"""When the next listing is worth its call, by what jobs were last seen to do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends.failures import Cause
from backends.sagemaker.lifecycle.poll_intervals import PollIntervals, listing_s


def job(stage="Training", exists_since=0.0, stop_reason=None, *, outlives=False):
    runs = stage in ("Training", "Uploading", "Interrupted", "Restarting")
    return SimpleNamespace(stage=stage, exists_since=exists_since, stop_reason=stop_reason, outlives_script=outlives, runs_script=runs)


@pytest.mark.parametrize(("age_s", "every_s"), [(0.0, 3.0), (60.0, 3.0), (100.0, 5.0), (3600.0, 15.0)])
def test_the_older_the_youngest_job_the_rarer_is_a_look(age_s, every_s):
    assert PollIntervals().every_s(age_s) == every_s


def waits(*live, begun_at=100.0, start_s=0.0, sharers=1):
    return listing_s(live, begun_at, 3.0, start_s, sharers)


def test_while_all_scripts_run_their_logs_tell_and_listings_are_rare():
    assert waits(job(), job()) == 12.0


def test_who_share_the_pace_make_together_as_many_listings_as_one_and_hear_at_most_a_minute_later():
    assert waits(job(), sharers=3) == 36.0
    assert waits(job(), sharers=50) == 72.0


@pytest.mark.parametrize("one", [job(stop_reason=Cause.SCHEDULER), job(outlives=True), job("Uploading"), job("Interrupted")])
def test_what_only_a_listing_tells_is_looked_for_at_once_whoever_shares(one):
    assert waits(job(), one, sharers=3) == 3.0


def test_a_job_that_was_just_created_is_looked_for_when_it_may_run():
    assert waits(job("", exists_since=101.0)) == 4.0
    assert waits(job("Starting", exists_since=101.0), start_s=12.0) == 7.0
    assert waits(job("Starting", exists_since=90.0), start_s=12.0) == 3.0


def test_beside_a_script_that_runs_the_log_tells_that_another_one_does():
    assert waits(job(), job("Starting", exists_since=50.0), sharers=3) == 12.0
