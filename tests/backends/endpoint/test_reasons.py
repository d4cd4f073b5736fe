"""What an endpoint's reason and a refused call mean."""

from __future__ import annotations

import pytest

from backends.endpoint.reasons import cause_of, is_absent, is_in_progress, is_there_already
from backends.failures import Cause
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
