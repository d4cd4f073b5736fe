"""What a failed call means for the loop."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ReadTimeoutError

from backends.sagemaker.aws.errors import CloudError, refusal_of
from backends.sagemaker.aws.failure_kinds import PASSING, Kind, one_line, trouble_of

QUOTA = (
    "The account-level service limit 'ml.p3.2xlarge for training job usage' is 4 Instances, with current utilization of 4 Instances "
    "and a request delta of 1 Instances. Please contact AWS support (account 123456789012)."
)


def refused(code, message="", operation="CreateTrainingJob", status=400):
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, operation)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (refused("ThrottlingException", "Rate exceeded"), Kind.THROTTLED),
        (refused("SomethingNew", "Rate exceeded"), Kind.THROTTLED),
        (refused("SlowDown", "", "PutObject", 503), Kind.THROTTLED),
        (refused("ResourceLimitExceeded", QUOTA), Kind.QUOTA),
        (refused("CapacityError", "Unable to provision"), Kind.CAPACITY),
        (refused("ValidationException", "Insufficient instance capacity"), Kind.CAPACITY),
        (refused("ResourceInUse", "Training job names must be unique"), Kind.EXISTS),
        (refused("ValidationException", "Requested resource not found.", "DescribeTrainingJob"), Kind.MISSING),
        (refused("ResourceNotFoundException", "The specified log group does not exist.", "FilterLogEvents"), Kind.MISSING),
        (refused("ValidationException", "The job cannot be stopped in status Completed", "StopTrainingJob"), Kind.OVER),
        (refused("ValidationException", "1 validation error detected"), Kind.REFUSED),
        (refused("AccessDeniedException", "not authorized to perform sagemaker:CreateTrainingJob"), Kind.REFUSED),
        (refused("ExpiredTokenException", "The security token included in the request is expired"), Kind.CREDENTIALS),
        (NoCredentialsError(), Kind.CREDENTIALS),
        (refused("InternalFailure", "", status=500), Kind.SERVICE),
        (refused("SomethingNew", "", status=502), Kind.SERVICE),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:1"), Kind.SERVICE),
        (ReadTimeoutError(endpoint_url="http://127.0.0.1:1"), Kind.SERVICE),
    ],
)
def test_kinds(error, kind):
    assert trouble_of(error).kind is kind


def test_what_passes_by_itself_is_exactly_what_is_made_again():
    assert set(PASSING) == {Kind.THROTTLED, Kind.CREDENTIALS, Kind.SERVICE}


def test_a_quota_error_names_the_quota_and_its_value_and_no_account():
    trouble = trouble_of(refused("ResourceLimitExceeded", QUOTA))
    assert (trouble.quota, trouble.limit) == ("ml.p3.2xlarge for training job usage", 4)
    assert "ml.p3.2xlarge for training job usage" in trouble.message
    assert "123456789012" not in trouble.message


def test_a_quota_error_in_other_words_has_no_value():
    trouble = trouble_of(refused("ResourceLimitExceeded", "too many"))
    assert (trouble.kind, trouble.quota, trouble.limit) == (Kind.QUOTA, "", None)


def test_an_error_that_was_put_into_words_already_keeps_its_kind():
    inner = refused("ExpiredToken", "The provided token has expired", "PutObject")
    assert trouble_of(CloudError("s3://b/k: it cannot be written", refusal_of(inner))).kind is Kind.CREDENTIALS


def test_a_fault_of_ours_is_no_trouble():
    assert trouble_of(KeyError("x")) is None


def test_one_line_is_one_line_and_cut():
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("x" * 600) == "x" * 496 + " ..."
    assert len(one_line("x" * 600)) == 500
