"""Sees each call that an emulator is asked, by whom and on what, and holds them against a policy as IAM would."""

from __future__ import annotations

import fnmatch
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest

from backends.emulator.http.messages import Request, Response
from backends.emulator.router import Router
from backends.emulator.s3.operations import operation_of
from backends.emulator.s3.store import S3Store
from backends.sagemaker.aws.iam_operations import OPERATIONS, Grant, Target

ACCOUNT = "123456789012"
REGION = "us-east-1"
_KINDS = {"ModelName": "model", "EndpointConfigName": "endpoint-config", "EndpointName": "endpoint"}


@dataclass(frozen=True)
class SeenCall:
    """One call: the access key that signed it, AWS's name of the operation, and what it asked for."""

    access_key: str
    operation: str
    asked: Mapping[str, Any]
    status: int


class Witness:
    """Sees all calls of emulators in this process, from when it is made to the end of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[SeenCall] = []
        answer, delete, here = Router.answer, S3Store.delete, threading.local()

        def deleted(store: S3Store, bucket: str, key: str, *conditions: Any) -> None:
            here.keys.append(key)
            delete(store, bucket, key, *conditions)

        def seen(router: Router, request: Request) -> Response:
            here.keys = []
            response = answer(router, request)
            signature = request.signature()
            if signature is not None:
                operation, asked = _asked(request)
                # What is deleted together stands in the body, which is read once.
                whole = [{**asked, "Key": key} for key in here.keys] if operation == "DeleteObjects" else [asked]
                self.calls += [SeenCall(signature.access_key, operation, one, response.status) for one in whole]
            return response

        monkeypatch.setattr(Router, "answer", seen)
        monkeypatch.setattr(S3Store, "delete", deleted)

    def of(self, access_key: str) -> list[SeenCall]:
        """Return the calls that were signed with a key."""
        return [call for call in self.calls if call.access_key == access_key]


def _asked(request: Request) -> tuple[str, Mapping[str, Any]]:
    target = request.headers.get("x-amz-target", "")
    if target:
        return target.rpartition(".")[2], json.loads(request.body() or b"{}")
    path, _, query = request.path.partition("?")
    if request.service in ("s3", ""):
        bucket, _, key = unquote(path).lstrip("/").partition("/")
        fields = dict(parse_qsl(query, keep_blank_values=True))
        operation = operation_of(request.method, bucket, key, fields, request.headers)
        return operation, {"Bucket": bucket, "Key": key}
    if request.service == "sagemaker":
        return path.removeprefix("/"), json.loads(request.body() or b"{}")
    fields = dict(parse_qsl(request.body().decode()))
    return fields.get("Action", path), fields


def needs(call: SeenCall) -> Iterator[tuple[Grant, str, dict[str, str]]]:
    """Yield what a call needs: the grant, the ARN that it is on, and what IAM knows of it."""
    asked = call.asked
    tags = {f"aws:RequestTag/{one['Key']}": one["Value"] for one in asked.get("Tags", ()) if isinstance(one, Mapping)}
    for grant in OPERATIONS[call.operation]:
        known = dict(tags)
        named = str(asked.get("ResourceArn", ""))
        if named and (":training-job/" in named) is not (grant.target is Target.JOBS):
            continue  # the same action on things of another kind
        match grant.target:
            case Target.ENDPOINTS:
                kind, name = next((kind, asked[key]) for key, kind in _KINDS.items() if key in asked)
                arn = named or f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:{kind}/{name}"
            case Target.JOBS:
                name = asked.get("TrainingJobName") or named.rpartition("/")[2]
                arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/{name}"
                if grant.action == "sagemaker:AddTags" and call.operation.startswith("Create"):
                    known["sagemaker:TaggingAction"] = call.operation
            case Target.ROLE:
                arn = str(asked.get("RoleArn", ""))
                known["iam:PassedToService"] = "sagemaker.amazonaws.com"
            case Target.BUCKET | Target.DATA_BUCKETS:
                arn = f"arn:aws:s3:::{asked['Bucket']}"
            case Target.OBJECTS | Target.DATA_OBJECTS:
                arn = f"arn:aws:s3:::{asked['Bucket']}/{asked['Key']}"
            case Target.LOGS:
                arn = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{asked['logGroupName']}:log-stream:any"
            case Target.EXPERIMENTS:
                arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:experiment/any"
            case _:
                arn = "*"
        yield grant, arn, known


def allows(document: Mapping[str, Any], action: str, arn: str, known: Mapping[str, str]) -> bool:
    """Return whether a policy of `Allow`s allows an action on a resource, its conditions included."""
    return any(
        any(fnmatch.fnmatchcase(action, pattern) for pattern in _listed(one["Action"]))
        and any(arn == "*" == pattern or fnmatch.fnmatchcase(arn, pattern) for pattern in _listed(one["Resource"]))
        and all(_holds(kind, tests, known) for kind, tests in one.get("Condition", {}).items())
        for one in document["Statement"]
    )


def _holds(kind: str, tests: Mapping[str, Any], known: Mapping[str, str]) -> bool:
    if kind == "StringEquals":
        return all(known.get(key) in _listed(value) for key, value in tests.items())
    assert kind == "Null", kind
    return all((key not in known) is (value == "true") for key, value in tests.items())


def denied(document: Mapping[str, Any], calls: Sequence[SeenCall], tags_of: Mapping[str, Mapping[str, str]]) -> set[tuple[str, str]]:
    """Return what calls need that a policy does not allow, as pairs of operation and action.

    Args:
        document: the policy.
        calls: that were made.
        tags_of: of the jobs that there are, by name.
    """
    found = set()
    for call in calls:
        for grant, arn, known in needs(call):
            if grant.target is Target.DATA_BUCKETS:
                continue  # the same action once more, on buckets of the user's
            given = {f"aws:ResourceTag/{key}": value for key, value in tags_of.get(arn.rpartition("/")[2], {}).items()}
            if not allows(document, grant.action, arn, known | given):
                found.add((call.operation, grant.action))
    return found


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
