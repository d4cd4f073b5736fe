"""Errors that the emulated services answer with, in the words of the real ones where these are known."""

from __future__ import annotations

from collections.abc import Mapping


class ServiceError(Exception):
    """An error response of a service.

    Args:
        code: the error code that clients see; `message`: its text.
        status: HTTP status.
        details: further fields, where the service has them.
    """

    def __init__(self, code: str, message: str, status: int = 400, details: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status, self.details = code, message, status, dict(details or {})


def invalid(message: str) -> ServiceError:
    """Return a `ValidationException`."""
    return ServiceError("ValidationException", message)


def not_found(name: str) -> ServiceError:
    """Return what SageMaker answers for an unknown training job: not the declared ResourceNotFound (aws-sdk#165)."""
    del name
    return invalid("Requested resource not found.")


def name_taken(arn: str) -> ServiceError:
    """Return the error for a job name that exists."""
    return ServiceError(
        "ResourceInUse",
        f"Training job names must be unique within an AWS account and region, and a training job with this name already exists ({arn})",
    )


def throttled() -> ServiceError:
    """Return the error of a request above the rate; it is not in the service's model."""
    return ServiceError("ThrottlingException", "Rate exceeded")


def limit_exceeded(quota: str, limit: int, used: int, wanted: int) -> ServiceError:
    """Return the error of a request above a quota, all numbers in instances."""
    return ServiceError(
        "ResourceLimitExceeded",
        f"The account-level service limit '{quota}' is {limit} Instances, with current utilization of {used} Instances and a request "
        f"delta of {wanted} Instances. Please use AWS Service Quotas to request an increase for this quota. If AWS Service Quotas is "
        "not available, contact AWS support to request an increase for this quota.",
    )
