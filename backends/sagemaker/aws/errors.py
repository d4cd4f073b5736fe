"""Why a call of AWS failed: by what can be done about it, in words for a person, without account ids. Pure."""

from __future__ import annotations

import contextlib
import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from backends.sagemaker.aws import missing_permission
from definitions.errors import EXIT_CLOUD, OutriderError


class FailureKind(enum.StrEnum):
    """Kinds of failed calls, by what can be done about them."""

    CREDENTIALS = "credentials"
    UNREACHABLE = "unreachable"
    THROTTLED = "throttled"
    SERVICE = "service"
    QUOTA = "quota"
    CAPACITY = "capacity"
    DENIED = "denied"
    MISSING = "missing"
    EXISTS = "exists"
    OVER = "over"
    """The job has ended, or is ending, so that nothing about it can be changed any more."""
    MARKED = "marked"
    """Not made: somebody has asked from elsewhere that no more such calls are."""
    OTHER = "other"


TRANSIENT = frozenset({FailureKind.THROTTLED, FailureKind.SERVICE, FailureKind.UNREACHABLE})
"""Kinds that pass by themselves, so that the same call can succeed a little later."""

# Answers to HEAD have no body, thus a status for a code; with credentials that have expired S3's is a bare 400.
_CODES: dict[FailureKind, frozenset[str]] = {
    kind: frozenset(codes.split())
    for kind, codes in {
        FailureKind.CREDENTIALS: """ExpiredToken ExpiredTokenException RequestExpired InvalidClientTokenId UnrecognizedClientException
            InvalidAccessKeyId SignatureDoesNotMatch InvalidSignatureException AuthFailure InvalidToken TokenRefreshRequired
            MissingAuthenticationToken MissingAuthenticationTokenException IncompleteSignature IncompleteSignatureException
            RequestTimeTooSkewed 400 401""",
        FailureKind.DENIED: """AccessDenied AccessDeniedException UnauthorizedOperation NotAuthorized AllAccessDisabled OptInRequired
            SubscriptionRequiredException AuthorizationError 403""",
        FailureKind.MISSING: """NoSuchBucket NoSuchKey NoSuchEntity ResourceNotFound ResourceNotFoundException RepositoryNotFoundException
            ImageNotFoundException NoSuchResourceException 404""",
        FailureKind.THROTTLED: """Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException SlowDown
            TooManyRequestsException RequestLimitExceeded PriorRequestNotComplete BandwidthLimitExceeded 429 503""",
        FailureKind.SERVICE: "InternalError InternalFailure InternalServerError ServiceUnavailable RequestTimeout 500 502 504",
    }.items()
}
_CREDENTIAL_ERRORS = {
    *("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError", "NoAuthTokenError"),
    *("SSOError", "LoginError", "ProfileNotFound", "ConfigParseError", "ConfigNotFound"),
}
_ADVICE = {
    FailureKind.CREDENTIALS: "renew them (aws sso login, aws configure, or AWS_* variables); "
    "`aws sts get-caller-identity` shows if they work",
    FailureKind.UNREACHABLE: "check the region's name, the network and the proxy (HTTPS_PROXY, NO_PROXY), "
    "and AWS_ENDPOINT_URL if it is set",
    FailureKind.MISSING: "check the name and the region",
    FailureKind.THROTTLED: "try again later",
    FailureKind.SERVICE: "try again later",
}
_QUOTA = re.compile(r"'([^']{1,200})' is (\d+)")
# A message may hold any words in a name or an address, but no sentence, as those hold no spaces.
_OVER = re.compile(r"\bin status [A-Z]\w+|\bin (?:a )?terminal (?:state|status)|cannot be (?:stopped|updated)\b")
_CAPACITY = re.compile(r"(?:unable to provision|there is not enough|insufficient)\b[^'\"]{0,40}\bcapacity\b", re.IGNORECASE)


@dataclass(frozen=True)
class CallFailure:
    """One call that did not do what it was asked.

    Args:
        kind: what to do about it.
        operation: of AWS, e.g. `HeadBucket`; empty where no call was made.
        code: AWS's error code, or the name of boto's exception.
        message: its text, account ids and keys masked.
    """

    kind: FailureKind
    operation: str
    code: str
    message: str

    @property
    def advice(self) -> str:
        """What to do now; may be empty."""
        if self.kind is FailureKind.DENIED:
            return missing_permission.advice(self.operation, self.message)
        return _ADVICE.get(self.kind, "")

    @property
    def quota_limit(self) -> int | None:
        """Value of the quota that was reached; None where the message does not tell, or it is no quota."""
        found = _QUOTA.search(self.message) if self.kind is FailureKind.QUOTA else None
        return None if found is None else int(found[2])

    @property
    def line(self) -> str:
        """The whole on one line of at most 500 characters."""
        return one_line(str(self))

    def __str__(self) -> str:
        said = self.message if self.code in self.message else f"{self.code}: {self.message}"
        return f"{self.operation}: {said}" if self.operation else said


class CloudError(OutriderError):
    """AWS does not do what a command or an experiment needs; shown without a traceback."""

    exit_code = EXIT_CLOUD

    def __init__(self, asked: str, failure: CallFailure) -> None:
        self.failure, self.is_denied = failure, failure.kind is FailureKind.DENIED
        super().__init__("\n  ".join(part for part in (masked(asked), str(failure), failure.advice) if part))


def failure_of(error: BaseException | None) -> CallFailure | None:
    """Return what an exception of boto3 or botocore means, or one that was made of such a one; None for any other."""
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
    from botocore.exceptions import ConnectionError as NoConnectionError
    from botocore.parsers import ResponseParserError

    if isinstance(error, CloudError):
        return error.failure
    if isinstance(error, ClientError):
        details: dict[str, Any] = error.response.get("Error", {})
        code, message = str(details.get("Code") or ""), str(details.get("Message") or "")
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") or 0)
        said = without_long_lists(masked(message))
        return CallFailure(kind_of(code, message, status), str(error.operation_name), code, said or "no reason was given")
    name = type(error).__name__
    if isinstance(error, (HTTPClientError, ResponseParserError, NoConnectionError, IncompleteReadError)):
        return CallFailure(FailureKind.UNREACHABLE, "", name, masked(_first_line(error)))
    if isinstance(error, BotoCoreError):
        credentials = any(one.__name__ in _CREDENTIAL_ERRORS for one in type(error).__mro__)
        return CallFailure(FailureKind.CREDENTIALS if credentials else FailureKind.OTHER, "", name, masked(_first_line(error)))
    if isinstance(error, ValueError) and str(error).startswith("Invalid endpoint"):
        return CallFailure(FailureKind.UNREACHABLE, "", "InvalidEndpoint", masked(_first_line(error)))
    return None


def kind_of(code: str, message: str = "", status: int = 0) -> FailureKind:
    """Return what can be done about an error that AWS answered.

    Args:
        code: AWS's, e.g. `ResourceLimitExceeded`.
        message: its text.
        status: of HTTP; 0 where it is not known.
    """
    low = code.lower()
    if low.startswith("resourcelimitexceeded"):
        return FailureKind.QUOTA
    if "capacity" in low or _CAPACITY.match(message):
        return FailureKind.CAPACITY
    if low.startswith("resourceinuse"):
        return FailureKind.EXISTS
    if code == "ValidationException" and message.startswith("Cannot create already existing"):
        return FailureKind.EXISTS
    found = next((kind for kind, codes in _CODES.items() if code in codes), None)
    if found is not None:
        return found
    if message.startswith("Rate exceeded"):
        return FailureKind.THROTTLED
    # SageMaker's answers for an unknown job, and an unknown endpoint or part of one.
    if code == "ValidationException" and message.startswith(
        ("Requested resource not found", "Could not find endpoint", 'Could not find model "')
    ):
        return FailureKind.MISSING
    if status >= 500:
        return FailureKind.SERVICE
    return FailureKind.OVER if code == "ValidationException" and _OVER.search(message) else FailureKind.OTHER


@contextlib.contextmanager
def as_cloud_errors(asked: str) -> Iterator[None]:
    """Inside the block a failed call becomes a `CloudError` that begins with what was asked."""
    try:
        yield
    except Exception as error:
        failure = None if isinstance(error, OutriderError) else failure_of(error)
        if failure is None:
            raise
        raise CloudError(asked, failure) from error


def masked(text: str) -> str:
    """Return a text without account ids and access keys."""
    text = re.sub(r"(?<![\dA-Za-z])\d{12}(?!\d)", "************", text)
    return re.sub(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b", "<key>", text)


def without_long_lists(text: str) -> str:
    """Return a refusal with the first eight of the values that it says are allowed: of instance types AWS has some hundreds."""

    def shortened(found: re.Match[str]) -> str:
        values = found[1].split(", ")
        return found[0] if len(values) <= 8 else f"enum value set: [{', '.join(values[:8])} and {len(values) - 8} more]"

    return re.sub(r"enum value set: \[([^\]]*)\]", shortened, text)


def one_line(text: str, most: int = 500) -> str:
    """Return a text on one line of at most `most` characters, without account ids and keys."""
    found = masked(" ".join(text.split()))
    return found if len(found) <= most else found[: most - 4] + " ..."


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
