"""What the errors of calls mean: nobody answering is no refusal."""

from __future__ import annotations

import pytest
from botocore import exceptions

from backends.sagemaker.aws.errors import CloudError, Kind, refusal_of
from backends.sagemaker.aws.failure_kinds import Kind as TroubleKind
from backends.sagemaker.aws.failure_kinds import trouble_of

URL = {"endpoint_url": "https://api.sagemaker.us-east-1.amazonaws.com"}
UNANSWERED = [
    exceptions.ConnectTimeoutError(**URL),
    exceptions.ReadTimeoutError(**URL),
    exceptions.EndpointConnectionError(**URL),
    exceptions.ConnectionClosedError(**URL),
    exceptions.SSLError(**URL, error="handshake failed"),
    exceptions.ProxyConnectionError(proxy_url="http://proxy:3128", error="refused"),
    exceptions.IncompleteReadError(actual_bytes=1, expected_bytes=2),
]


@pytest.mark.parametrize("error", UNANSWERED, ids=lambda error: type(error).__name__)
def test_a_call_that_nobody_answered_is_made_again(error):
    refusal = refusal_of(error)
    assert refusal is not None
    assert refusal.kind is Kind.UNREACHABLE
    assert refusal.transient
    trouble = trouble_of(error)
    assert trouble is not None
    assert trouble.kind is TroubleKind.SERVICE


def test_an_account_id_in_what_was_asked_is_not_shown():
    refusal = refusal_of(exceptions.NoCredentialsError())
    assert refusal is not None
    text = str(CloudError("bucket sagemaker-us-east-1-123456789012: it cannot be used", refusal))
    assert "123456789012" not in text
    assert "bucket sagemaker-us-east-1-************" in text
