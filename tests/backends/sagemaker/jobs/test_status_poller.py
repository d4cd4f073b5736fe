"""Listings: what is asked for when, what is passed on, what is missed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.aws.errors import CloudError, failure_of
from backends.sagemaker.jobs.status_poller import StatusPoller

T0 = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


class Desk:
    """Answers listings by hand, in place of clients and calls."""

    def __init__(self):
        self.waiting, self.requests, self.taken, self.absences = [], [], [], []

    def put(self, call):
        self.waiting.append(call)

    def get(self, service, attempts=None):
        assert service == "sagemaker"
        return self

    def list_training_jobs(self, **request):
        self.requests.append(request)

    def answer(self, *names, at=T0, token=None):
        call = self.waiting.pop(0)
        call.make()
        summaries = [{"TrainingJobName": name, "CreationTime": at, "LastModifiedTime": at} for name in names]
        call.done({"TrainingJobSummaries": summaries, **({"NextToken": token} if token else {})})

    def refuse(self, code, message):
        call = self.waiting.pop(0)
        call.make()
        call.failed(failure_of(ClientError({"Error": {"Code": code, "Message": message}}, "ListTrainingJobs")))


@pytest.fixture
def desk():
    return Desk()


def listinger(desk, prefix="x-"):
    return StatusPoller(
        prefix,
        desk,
        desk,
        lambda summary: desk.taken.append(summary["TrainingJobName"]),
        lambda names, before: desk.absences.append((sorted(names), before)),
    )


def test_one_listing_at_a_time_and_no_sooner_than_its_pace(desk):
    listing = listinger(desk)
    listing.plan(100.0, 3.0)
    listing.plan(110.0, 3.0)
    assert (listing.polls, len(desk.waiting)) == (1, 1)
    desk.answer()
    listing.plan(102.0, 3.0)
    assert (listing.polls, listing.next_at) == (1, 103.0)
    listing.plan(103.0, 3.0)
    assert listing.polls == 2


def test_all_pages_are_read_and_other_experiments_jobs_left_out(desk):
    listing = listinger(desk)
    listing.plan(0.0, 3.0)
    desk.answer("x-1", "y-x-2", token="t")
    desk.answer("x-11")
    assert desk.taken == ["x-1", "x-11"]
    assert [request.get("NextToken") for request in desk.requests] == [None, "t"]
    assert all(request["NameContains"] == "x-" and request["MaxResults"] == 100 for request in desk.requests)


def test_later_listings_ask_for_changes_since_the_newest_by_the_service_s_own_clock(desk):
    listing = listinger(desk)
    listing.plan(0.0, 3.0)
    desk.answer("x-1", at=T0)
    listing.plan(3.0, 3.0)
    desk.answer("x-1", at=T0 + timedelta(seconds=90))
    listing.plan(6.0, 3.0)
    desk.answer()
    since = [request.get("LastModifiedTimeAfter") for request in desk.requests]
    assert since == [None, T0 - timedelta(seconds=30), T0 + timedelta(seconds=60)]


def test_every_five_minutes_all_are_listed_and_what_is_missing_can_be_known(desk):
    listing = listinger(desk)
    for now in (0.0, 150.0, 297.0, 300.0):
        listing.plan(now, 3.0)
        desk.answer("x-1")
    assert ["LastModifiedTimeAfter" in request for request in desk.requests] == [False, True, True, False]
    assert desk.absences == [(["x-1"], 0.0), (["x-1"], 300.0)]


def test_names_of_all_pages_count(desk):
    listing = listinger(desk)
    listing.plan(0.0, 3.0)
    desk.answer("x-1", token="t")
    assert desk.absences == []
    desk.answer("x-2")
    assert desk.absences == [(["x-1", "x-2"], 0.0)]


def test_a_token_that_has_expired_begins_a_full_listing_anew(desk):
    listing = listinger(desk)
    listing.plan(0.0, 3.0)
    desk.answer("x-1", token="t")
    desk.refuse("ValidationException", "The token is invalid")
    listing.plan(3.0, 3.0)
    desk.answer("x-1")
    assert "LastModifiedTimeAfter" not in desk.requests[-1]
    assert desk.absences == [(["x-1"], 3.0)]


def test_jobs_that_must_not_be_listed_end_the_experiment(desk):
    listing = listinger(desk)
    listing.plan(0.0, 3.0)
    with pytest.raises(CloudError, match="cannot be listed"):
        desk.refuse("AccessDeniedException", "no")


@pytest.mark.parametrize(("token", "code"), [("t", "AccessDeniedException"), (None, "ValidationException")])
def test_only_a_later_page_that_is_found_wrong_is_taken_for_an_expired_token(desk, token, code):
    listing = listinger(desk)
    listing.plan(0.0, 3.0)
    if token is not None:
        desk.answer("x-1", token=token)
    with pytest.raises(CloudError, match="cannot be listed"):
        desk.refuse(code, "no")
