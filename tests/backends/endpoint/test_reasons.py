"""What an endpoint's reason and a refused call mean."""

from __future__ import annotations

import pytest

from backends.endpoint.reasons import cause_of, has_expired, is_absent, is_in_progress, is_there_already
from backends.events import Closed
from backends.failures import Cause, Outcome
from backends.sagemaker.aws.errors import CallFailure, kind_of

PING = "The primary container for production variant AllTraffic did not pass the ping health check."


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error.", Cause.CAPACITY),
        (f"{PING} m.tar.gz does not fit into memory even alone: the server would take 9 GB, 8 GB are there", Cause.OUT_OF_MEMORY),
        (PING, Cause.BAD_REQUEST),
        ("Failed to download model data (bucket: b, key: k)", Cause.BAD_REQUEST),
        ("Request to service failed. If failure persists after retry, contact customer support.", Cause.SERVICE_ERROR),
    ],
)
def test_causes(reason, cause):
    assert cause_of(reason) is cause


def failure(message, code="ValidationException"):
    return CallFailure(kind_of(code, message, 400), "DeleteEndpoint", code, message)


def test_refusals_of_the_service():
    arn = "arn:aws:sagemaker:us-east-1:************:endpoint/x"
    assert is_absent(failure(f'Could not find endpoint "{arn}".'))
    assert is_absent(failure('Could not find endpoint configuration "x".'))
    assert is_there_already(failure(f'Cannot create already existing endpoint "{arn}".'))
    in_progress = failure(f'Cannot update in-progress endpoint "{arn}".')
    assert (is_in_progress(in_progress), is_absent(in_progress), is_there_already(in_progress)) == (True, False, False)
    assert not is_absent(failure("Could not find model data at s3://b/m.tar.gz."))


@pytest.mark.parametrize(
    ("message", "is_so"),
    [
        ('at 128/s 3 requests were denied: {"message": "The security token included in the request is expired"}', True),
        ("target m-v0: its first call ended as denied: Signature expired: 20261130T090000Z is now earlier than 20261130T091000Z", False),
        ("at 128/s 3 requests were denied: User: x is not authorized to perform: sagemaker:InvokeEndpoint", False),
        ("ValueError: the licence has expired", False),
    ],
)
def test_credentials_that_expired_under_load_are_no_fault_of_the_trial(message, is_so):
    assert has_expired(Closed("x1", 1.0, Outcome.FAILED, Cause.SCRIPT_ERROR, message)) is is_so
