"""What the next controller knows of an endpoint job from notes alone, through the JSON of a journal."""

from __future__ import annotations

import json

import pytest

from backends.deployment import Deployment, ModelPackage
from backends.endpoint.course import new_job
from backends.endpoint.deployed_job import closed_event
from backends.endpoint.memo import held, measured, remember, served
from backends.events import Closed
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec


def job(name="x2"):
    package = ModelPackage("m", "/m.tar.gz", "", "0" * 64, "onnx", (), (), 8)
    return new_job(JobSpec(name, 0, 1, "run.py", endpoint=Deployment((package,), "multi", "ort", 1, "ml.m5.large")), 100.0)


def written(*notes):
    return json.loads(json.dumps({name: value for note in notes for name, value in note.items()}))


def test_a_job_on_an_endpoint_that_was_kept_has_it_again_and_is_billed_from_when_it_got_it():
    first, second = job(), job()
    first.use("x1", 130.0)
    assert not remember(second, written(held(first)), 500.0)
    assert (second.endpoint, second.deletion.endpoint, second.warm, second.billed_from) == ("x1", "x1", True, 130.0)


def test_one_of_its_own_is_none_that_was_kept():
    first, second = job(), job()
    first.billed_from, first.waited_s = 110.0, 42.5
    assert not remember(second, written(held(first), served(first)), 500.0)
    assert (second.endpoint, second.warm, second.billed_from, second.waited_s) == ("x2", False, 110.0, 42.5)


@pytest.mark.parametrize(("outcome", "cause"), [(Outcome.COMPLETED, None), (Outcome.FAILED, Cause.SCRIPT_ERROR)])
def test_what_was_measured_is_closed_as_it_ended_and_not_as_it_was_found(outcome, cause):
    first, second = job(), job()
    first.billed_from, first.waited_s = 110.0, 42.5
    first.script = Closed("x2", 200.0, outcome, cause, "so", 150.0, 190.0, usage={"peak_rss_bytes": 7}, log_tail=("a", "b"))
    assert remember(second, written(held(first), served(first), measured(first, 200.0)), 500.0)
    second.end_as(Outcome.FAILED, Cause.LOST, "its endpoint is gone")
    second.billed_until = 210.0
    end = closed_event(second, 500.0)
    assert (end.outcome, end.cause, end.message, end.started_at, end.ended_at) == (outcome, cause, "so", 150.0, 190.0)
    assert (end.billable_s, end.log_tail, end.usage) == (100.0, ("a", "b"), {"peak_rss_bytes": 7, "waited_s": 42.5})


def test_without_a_note_nothing_is_known():
    found = job()
    assert not remember(found, {}, 500.0)
    assert (found.endpoint, found.warm, found.billed_from, found.verdict) == ("x2", False, None, None)
