"""Which service a request is for, and what it answers: our own services, moto for the rest."""

from __future__ import annotations

import json
import sqlite3
import sys
import traceback
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import parse_qsl

from backends.emulator.account import identity
from backends.emulator.admin import PREFIX, AdminApi
from backends.emulator.core.settings import Settings
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from backends.emulator.http.moto_bridge import MotoBridge
from backends.emulator.s3 import xml as s3_xml
from backends.emulator.s3.api import S3Api

_JSON = {"Content-Type": "application/x-amz-json-1.1"}
_TARGETS = {"SageMaker": "sagemaker", "Logs_20140328": "logs", "AWSPriceListService": "pricing", "ServiceQuotasV20190624": "service-quotas"}


class JsonService(Protocol):
    """A service that takes and gives JSON."""

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether a request is its own."""

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer it; raises `ServiceError`."""


class Router:
    """Answers requests; whatever happens it answers, with 500 where the fault is ours.

    Args:
        services: by botocore's name of them.
    """

    def __init__(
        self, services: Mapping[str, JsonService], s3: S3Api, admin: AdminApi, injector: FaultInjector, settings: Settings, moto: MotoBridge
    ) -> None:
        self._services, self._s3, self._admin, self._injector, self._settings, self._moto = services, s3, admin, injector, settings, moto

    def answer(self, request: Request) -> Response:
        """Return the response to a request."""
        if request.path.startswith(PREFIX):
            return self._admin.answer(request)
        target = request.headers.get("x-amz-target", "")
        if target:
            prefix, _, operation = target.rpartition(".")
            service = _TARGETS.get(prefix, _scope(request))
            return self._guarded(lambda: self._json(service, operation, request), _json_error)
        service = _scope(request)
        if service in ("s3", "s3express", ""):
            return self._guarded(lambda: self._object(request), lambda error: _xml_error(error, request))
        return self._guarded(lambda: self._query(service, request), _query_error)

    def _json(self, service: str, operation: str, request: Request) -> Response:
        self._injector.check_call(service, operation)
        try:
            data = json.loads(request.body() or b"{}")
        except ValueError:
            raise ServiceError("SerializationException", "The request is no JSON.") from None
        if not isinstance(data, dict):
            raise ServiceError("SerializationException", "The request is no JSON object.")
        own = self._services.get(service)
        if own is not None and own.handles(operation, data):
            return Response(200, json.dumps(own.call(operation, data)).encode(), _JSON)
        return self._moto.answer(request, service, operation)

    def _object(self, request: Request) -> Response:
        operation, bucket, key = self._s3.operation(request)
        self._injector.check_call("s3", operation, bucket, key)
        return self._s3.call(request)

    def _query(self, service: str, request: Request) -> Response:
        text = request.body().decode("utf-8", "replace") if request.method == "POST" else request.path.partition("?")[2]
        parameters = dict(parse_qsl(text))
        action = parameters.get("Action", "")
        self._injector.check_call(service, action or request.path)
        found = None
        if service == "sts":
            found = identity.sts(action, parameters, self._settings)
        elif service == "iam" and (action == "SimulatePrincipalPolicy" or not self._moto.used(service)):
            found = identity.iam(action, parameters, self._settings)
        if found is not None:
            return Response(200, found.encode(), {"Content-Type": "text/xml"})
        return self._moto.answer(request, service, action)

    def _guarded(self, call: Any, failed: Any) -> Response:
        try:
            found: Response = call()
            return found
        except ServiceError as error:
            refused: Response = failed(error)
            return refused
        except ConnectionError:
            raise
        except (OSError, sqlite3.OperationalError) as error:
            # The disk is full or gone: the caller is told, as the real service would, by an internal error.
            broken: Response = failed(ServiceError("InternalError", f"The emulator's disk failed: {error}", 500))
            return broken
        except Exception as error:  # noqa: BLE001 (answered with 500, and shown)
            traceback.print_exc(file=sys.stderr)
            ours: Response = failed(ServiceError("InternalFailure", f"The emulator failed: {type(error).__name__}: {error}", 500))
            return ours


def _scope(request: Request) -> str:
    """Return the service that a request is signed for; empty where it is not signed."""
    signature = request.headers.get("authorization", "")
    if "Credential=" in signature:
        parts = signature.split("Credential=", 1)[1].split(",", 1)[0].strip().split("/")
        return parts[-2] if len(parts) >= 5 else ""
    for name, value in parse_qsl(request.path.partition("?")[2]):
        if name == "X-Amz-Credential":
            parts = value.split("/")
            return parts[-2] if len(parts) >= 5 else ""
    return ""


def _json_error(error: ServiceError) -> Response:
    body = json.dumps({"__type": error.code, "message": error.message, "Message": error.message}).encode()
    return Response(error.status, body, {**_JSON, "x-amzn-ErrorType": error.code})


def _xml_error(error: ServiceError, request: Request) -> Response:
    body = s3_xml.error(error.code, error.message, request.path.partition("?")[0])
    return Response(error.status, b"" if request.method == "HEAD" else body, {"Content-Type": "application/xml"})


def _query_error(error: ServiceError) -> Response:
    body = f"<ErrorResponse><Error><Type>Sender</Type><Code>{error.code}</Code><Message>{error.message}</Message></Error></ErrorResponse>"
    return Response(error.status, body.encode(), {"Content-Type": "text/xml"})
