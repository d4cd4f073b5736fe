"""What a failed call means, and how it is said."""

from __future__ import annotations

import pytest
from botocore import exceptions
from botocore.exceptions import ClientError, NoCredentialsError

from backends.sagemaker.aws.errors import TRANSIENT, CloudError, FailureKind, failure_of, one_line

QUOTA = (
    "The account-level service limit 'ml.p3.2xlarge for training job usage' is 4 Instances, with current utilization of 4 Instances "
    "and a request delta of 1 Instances. Please contact AWS support (account 123456789012)."
)


def refused(code, message="", operation="CreateTrainingJob", status=400):
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, operation)


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


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (refused("ThrottlingException", "Rate exceeded"), FailureKind.THROTTLED),
        (refused("SomethingNew", "Rate exceeded"), FailureKind.THROTTLED),
        (refused("SlowDown", "", "PutObject", 503), FailureKind.THROTTLED),
        (refused("ResourceLimitExceeded", QUOTA), FailureKind.QUOTA),
        (refused("CapacityError", "Unable to provision"), FailureKind.CAPACITY),
        (refused("ValidationException", "Insufficient instance capacity"), FailureKind.CAPACITY),
        (refused("ResourceInUse", "Training job names must be unique"), FailureKind.EXISTS),
        (refused("ValidationException", "Requested resource not found.", "DescribeTrainingJob"), FailureKind.MISSING),
        (refused("ResourceNotFoundException", "The specified log group does not exist.", "FilterLogEvents"), FailureKind.MISSING),
        (refused("ValidationException", "The job cannot be stopped in status Completed", "StopTrainingJob"), FailureKind.OVER),
        (refused("ValidationException", "1 validation error detected"), FailureKind.OTHER),
        (refused("ValidationException", "The request was rejected because the training job is in status Completed."), FailureKind.OVER),
        # Words of the service's in names and addresses.
        (refused("ValidationException", "Value 'status-of-terminal' at 'trainingJobName' is wrong"), FailureKind.OTHER),
        (refused("ValidationException", "No S3 objects under s3://insufficient/capacity/"), FailureKind.OTHER),
        (refused("ValidationException", "Bucket 'Rate exceeded' is not valid"), FailureKind.OTHER),
        (refused("AccessDeniedException", "not authorized to perform sagemaker:CreateTrainingJob"), FailureKind.DENIED),
        (refused("ExpiredTokenException", "The security token included in the request is expired"), FailureKind.CREDENTIALS),
        (NoCredentialsError(), FailureKind.CREDENTIALS),
        (refused("InternalFailure", "", status=500), FailureKind.SERVICE),
        (refused("SomethingNew", "", status=502), FailureKind.SERVICE),
        (refused("SomethingNew", "", status=500), FailureKind.SERVICE),
        (refused("SomethingNew", "", status=499), FailureKind.OTHER),
        *((error, FailureKind.UNREACHABLE) for error in UNANSWERED),
        (ValueError("Invalid endpoint: http://a b"), FailureKind.UNREACHABLE),
    ],
)
def test_kinds(error, kind):
    assert failure_of(error).kind is kind


def test_a_quota_error_names_the_quota_and_its_value_and_no_account():
    failure = failure_of(refused("ResourceLimitExceeded", QUOTA))
    assert failure.quota_limit == 4
    assert "ml.p3.2xlarge for training job usage" in failure.line
    assert "123456789012" not in failure.line


def test_a_quota_error_in_other_words_has_no_value():
    failure = failure_of(refused("ResourceLimitExceeded", "too many"))
    assert (failure.kind, failure.quota_limit) == (FailureKind.QUOTA, None)


def test_only_a_quota_error_has_a_quotas_value():
    assert failure_of(refused("ValidationException", "the limit 'steps' is 4")).quota_limit is None


def test_an_error_that_was_put_into_words_already_keeps_its_kind():
    inner = refused("ExpiredToken", "The provided token has expired", "PutObject")
    assert failure_of(CloudError("s3://b/k: it cannot be written", failure_of(inner))).kind is FailureKind.CREDENTIALS


def test_a_fault_of_ours_is_no_failed_call():
    assert failure_of(KeyError("x")) is None
    assert failure_of(ValueError("x")) is None
    assert failure_of(None) is None


def test_one_line_is_one_line_and_cut():
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("x" * 600) == "x" * 496 + " ..."
    assert len(one_line("x" * 600)) == 500


def test_an_account_id_in_what_was_asked_is_not_shown():
    failure = failure_of(exceptions.NoCredentialsError())
    assert failure is not None
    text = str(CloudError("bucket sagemaker-us-east-1-123456789012: it cannot be used", failure))
    assert "123456789012" not in text
    assert "bucket sagemaker-us-east-1-************" in text


def test_a_call_that_nobody_answered_can_be_made_again():
    assert {failure_of(error).kind for error in UNANSWERED} <= TRANSIENT


def test_a_code_is_said_once_and_an_error_without_words_by_its_name():
    assert str(failure_of(refused("ValidationException", "no such thing"))) == "CreateTrainingJob: ValidationException: no such thing"
    assert str(failure_of(refused("404", "An error (404)", "HeadBucket"))) == "HeadBucket: An error (404)"
    assert failure_of(refused("AccessDenied")).message == "no reason was given"
    assert one_line("x" * 500) == "x" * 500


def test_of_the_values_that_are_allowed_a_few_are_shown_and_the_others_counted():
    def said(n_values):
        values = ", ".join(f"ml.m{number}.xlarge" for number in range(n_values))
        text = f"Value 'ml.nope' at 'resourceConfig.instanceType' failed: Member must satisfy enum value set: [{values}]; 'roleArn' failed"
        return failure_of(refused("ValidationException", text)).message

    assert said(8).endswith("ml.m6.xlarge, ml.m7.xlarge]; 'roleArn' failed")
    assert said(225).endswith("ml.m6.xlarge, ml.m7.xlarge and 217 more]; 'roleArn' failed")
