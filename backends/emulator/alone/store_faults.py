"""Answers of the store under the faults in force, alike for the emulator and for S3 alone."""

from __future__ import annotations

from backends.emulator.faults.injector import FaultInjector
from backends.emulator.http.authentication import Authenticator
from backends.emulator.http.messages import Request, Response
from backends.emulator.s3.api import S3Api


def with_faults(api: S3Api, request: Request, authenticator: Authenticator, injector: FaultInjector) -> Response:
    """Return the response to a request, with the faults that strike it: another answer, or another way of sending it."""
    calls: list[tuple[str, str, str]] = []

    def check(operation: str, bucket: str, key: str) -> None:
        calls.append((operation, bucket, key))
        injector.check_call("s3", operation, bucket, key)

    response = api.answer(request, authenticator, check, injector.list_lag_s)
    for call in calls:
        response.transfer = injector.transfer(*call)
    return response
