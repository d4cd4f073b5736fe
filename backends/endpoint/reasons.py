"""What an endpoint's FailureReason, or the refusal of a call about one, means. Pure."""

from __future__ import annotations

import re

from backends.events import Closed
from backends.failures import Cause
from backends.sagemaker.aws.errors import CallFailure, FailureKind

_MEMORY = re.compile(r"does not fit into memory|out of memory|insufficient memory|cannot allocate memory", re.IGNORECASE)
_CAPACITY = re.compile(r"unable to provision|InsufficientInstanceCapacity|CapacityError|not enough capacity", re.IGNORECASE)
_EXPIRED = re.compile(r"\bdenied: .*\btoken\b.*\bexpired\b", re.IGNORECASE | re.DOTALL)
_MODEL = re.compile(r"ping health check|failed to download model data|no such model|unpack", re.IGNORECASE)


def cause_of(reason: str) -> Cause:
    """Return the cause that an endpoint's FailureReason tells."""
    if _MEMORY.search(reason):
        return Cause.OUT_OF_MEMORY
    if _CAPACITY.search(reason):
        return Cause.CAPACITY
    return Cause.BAD_REQUEST if _MODEL.search(reason) else Cause.SERVICE_ERROR


def has_expired(end: Closed) -> bool:
    """Return whether a load ended as the service took its credentials no longer, which is no fault of the trial's."""
    return end.cause is Cause.SCRIPT_ERROR and _EXPIRED.search(end.message) is not None


def is_absent(failure: CallFailure) -> bool:
    """Return whether a call failed as what it is about is not there."""
    return failure.kind is FailureKind.MISSING


def is_there_already(failure: CallFailure) -> bool:
    """Return whether a call failed as what it would make is there."""
    return failure.kind is FailureKind.EXISTS


def is_in_progress(failure: CallFailure) -> bool:
    """Return whether a call failed as the endpoint is being created, changed or deleted, which passes by itself."""
    return "in-progress" in failure.message
