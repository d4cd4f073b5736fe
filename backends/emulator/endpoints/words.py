"""What the service says of models, endpoint configurations and endpoints that are not there, are there already, or cannot be changed."""

from __future__ import annotations

from backends.emulator.http.errors import ServiceError, invalid

WORDS = {"model": "model", "config": "endpoint configuration", "endpoint": "endpoint"}
NO_CAPACITY = (
    "Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error. "
    "Please retry using a different ML instance type or after some time."
)
INTERNAL = "Request to service failed. If failure persists after retry, contact customer support."


def missing(kind: str, arn: str) -> ServiceError:
    """Return what is answered for one that does not exist: a ValidationException, which the waiters of the SDKs go by."""
    return invalid(f'Could not find {WORDS[kind]} "{arn}".')


def there_already(kind: str, arn: str) -> ServiceError:
    """Return what is answered where a name is taken."""
    return invalid(f'Cannot create already existing {WORDS[kind]} "{arn}".')


def in_progress(arn: str) -> ServiceError:
    """Return what is answered to a change of an endpoint that is being created or deleted."""
    return invalid(f'Cannot update in-progress endpoint "{arn}".')


def unhealthy(variant: str) -> str:
    """Return why an endpoint failed whose server did not come up in time."""
    return (
        f"The primary container for production variant {variant} did not pass the ping health check. "
        "Please check CloudWatch logs for this endpoint."
    )


def not_imitated(what: str) -> ServiceError:
    """Return the refusal of what nothing here can serve."""
    return ServiceError("NotImplemented", f"The emulator does not imitate {what}.", 501)
