"""What AWS refused and why, in words for a person and without account ids. Pure; used by `doctor`, `stop` and `clean`."""

from __future__ import annotations

import contextlib
import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from definitions.errors import EXIT_CLOUD, OutriderError


class Kind(enum.StrEnum):
    """Kinds of refusals, by what a person can do about them."""

    CREDENTIALS = "credentials"
    UNREACHABLE = "unreachable"
    DENIED = "denied"
    MISSING = "missing"
    THROTTLED = "throttled"
    SERVICE = "service"
    OTHER = "other"


# Answers to HEAD have no body, thus a status for a code; with credentials that have expired S3's is a bare 400.
_CODES: dict[Kind, frozenset[str]] = {
    kind: frozenset(codes.split())
    for kind, codes in {
        Kind.CREDENTIALS: """ExpiredToken ExpiredTokenException RequestExpired InvalidClientTokenId UnrecognizedClientException
            InvalidAccessKeyId SignatureDoesNotMatch InvalidSignatureException AuthFailure InvalidToken TokenRefreshRequired
            MissingAuthenticationToken MissingAuthenticationTokenException IncompleteSignature IncompleteSignatureException
            RequestTimeTooSkewed 400 401""",
        Kind.DENIED: """AccessDenied AccessDeniedException UnauthorizedOperation NotAuthorized AllAccessDisabled OptInRequired
            SubscriptionRequiredException AuthorizationError 403""",
        Kind.MISSING: """NoSuchBucket NoSuchKey NoSuchEntity ResourceNotFound ResourceNotFoundException RepositoryNotFoundException
            ImageNotFoundException NoSuchResourceException 404""",
        Kind.THROTTLED: """Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException SlowDown
            TooManyRequestsException RequestLimitExceeded PriorRequestNotComplete BandwidthLimitExceeded 429 503""",
        Kind.SERVICE: "InternalError InternalFailure InternalServerError ServiceUnavailable 500 502 504",
    }.items()
}
_CREDENTIAL_ERRORS = {
    *("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError", "NoAuthTokenError"),
    *("SSOError", "LoginError", "ProfileNotFound", "ConfigParseError", "ConfigNotFound"),
}
_ADVICE = {
    Kind.CREDENTIALS: "renew them (aws sso login, aws configure, or AWS_* variables); `aws sts get-caller-identity` shows if they work",
    Kind.UNREACHABLE: "check the region's name, the network and the proxy (HTTPS_PROXY, NO_PROXY), and AWS_ENDPOINT_URL if it is set",
    Kind.DENIED: "let the account's administrator allow it: `outrider doctor --policy` prints what is needed",
    Kind.MISSING: "check the name and the region",
    Kind.THROTTLED: "try again later",
    Kind.SERVICE: "try again later",
    Kind.OTHER: "",
}


@dataclass(frozen=True)
class Refusal:
    """One call that did not do what it was asked.

    Args:
        kind: what to do about it.
        operation: of AWS, e.g. `HeadBucket`; empty where no call was made.
        code: AWS's error code, or the name of boto's exception.
        message: its text, account ids and keys masked.
    """

    kind: Kind
    operation: str
    code: str
    message: str

    @property
    def transient(self) -> bool:
        """Whether the same call can succeed a little later."""
        return self.kind in (Kind.THROTTLED, Kind.SERVICE, Kind.UNREACHABLE)

    @property
    def advice(self) -> str:
        """What to do now; may be empty."""
        return _ADVICE[self.kind]

    def __str__(self) -> str:
        said = self.message if self.code in self.message else f"{self.code}: {self.message}"
        return f"{self.operation}: {said}" if self.operation else said


class CloudError(OutriderError):
    """AWS refused what a command needs; shown without a traceback."""

    exit_code = EXIT_CLOUD

    def __init__(self, asked: str, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__("\n  ".join(part for part in (masked(asked), str(refusal), refusal.advice) if part))


def refusal_of(error: BaseException) -> Refusal | None:
    """Return what an exception of boto3 or botocore means; None for one that is not theirs."""
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
    from botocore.exceptions import ConnectionError as NoConnectionError
    from botocore.parsers import ResponseParserError

    if isinstance(error, ClientError):
        details: dict[str, Any] = error.response.get("Error", {})
        code, message = str(details.get("Code") or ""), str(details.get("Message") or "")
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") or 0)
        return Refusal(_kind(code, message, status), str(error.operation_name), code, masked(message) or "no reason was given")
    name = type(error).__name__
    if isinstance(error, (HTTPClientError, ResponseParserError, NoConnectionError, IncompleteReadError)):
        return Refusal(Kind.UNREACHABLE, "", name, masked(_first_line(error)))
    if isinstance(error, BotoCoreError):
        kind = Kind.CREDENTIALS if any(one.__name__ in _CREDENTIAL_ERRORS for one in type(error).__mro__) else Kind.OTHER
        return Refusal(kind, "", name, masked(_first_line(error)))
    if isinstance(error, ValueError) and str(error).startswith("Invalid endpoint"):
        return Refusal(Kind.UNREACHABLE, "", "InvalidEndpoint", masked(_first_line(error)))
    return None


@contextlib.contextmanager
def as_cloud_errors(asked: str) -> Iterator[None]:
    """Inside the block what AWS refuses becomes a `CloudError` that begins with what was asked."""
    try:
        yield
    except Exception as error:
        refusal = None if isinstance(error, OutriderError) else refusal_of(error)
        if refusal is None:
            raise
        raise CloudError(asked, refusal) from error


def masked(text: str) -> str:
    """Return a text without account ids and access keys."""
    text = re.sub(r"(?<![\dA-Za-z])\d{12}(?!\d)", "************", text)
    return re.sub(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b", "<key>", text)


def _kind(code: str, message: str, status: int) -> Kind:
    found = next((kind for kind, codes in _CODES.items() if code in codes), None)
    if found is not None:
        return found
    if "Rate exceeded" in message:
        return Kind.THROTTLED
    # SageMaker's answer for an unknown job.
    if code == "ValidationException" and message.startswith("Requested resource not found"):
        return Kind.MISSING
    return Kind.SERVICE if status >= 500 else Kind.OTHER


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
