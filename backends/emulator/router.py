"""Which service a request is for, and what answers it: our own, moto for what is handed to it by name, a refusal for the rest."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import parse_qsl

from backends.emulator.account import identity
from backends.emulator.admin import PREFIX, AdminApi
from backends.emulator.alone.store_faults import with_faults
from backends.emulator.core.credentials import Keyring
from backends.emulator.core.metric_series import MetricSeries
from backends.emulator.core.settings import Settings
from backends.emulator.endpoints.data_plane import OPERATION, PATH, DataPlane
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.http.answering import answered
from backends.emulator.http.authentication import MOST_BYTES, Authenticator
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from backends.emulator.http.moto_bridge import MotoBridge
from backends.emulator.imitated import HANDED, SERVED, WHOLE, unknown
from backends.emulator.s3.api import S3Api
from backends.emulator.training.validation import RequestValidator

_JSON = {"Content-Type": "application/x-amz-json-1.1"}
_TARGETS = {
    "SageMaker": ("sagemaker", "sagemaker"),
    "Logs_20140328": ("logs", "logs"),
    "AWSPriceListService": ("pricing", "pricing"),
    "ServiceQuotasV20190624": ("service-quotas", "servicequotas"),
}
"""By the first word of a request's target: botocore's name of the service, and that which requests are signed for."""


class JsonService(Protocol):
    """A service that takes and gives JSON."""

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether a request is its own."""

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer it; raises `ServiceError`."""


class EitherService:
    """Services that share a name: the first whose own a request is answers it."""

    def __init__(self, *services: JsonService) -> None:
        self._services = services

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether a request is one's own."""
        return any(one.handles(operation, request) for one in self._services)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer it; raises `ServiceError`."""
        return next(one for one in self._services if one.handles(operation, request)).call(operation, request)


class Router:
    """Answers requests; whatever happens it answers, with 500 where the fault is ours.

    Args:
        services: by botocore's name of them.
        by_path: what answers requests whose operation is their path: a `/` and its name.
        keyring: whose credentials are accepted.
        metrics: of jobs, which CloudWatch shows.
        data_plane: answers invocations of endpoints.
    """

    def __init__(
        self,
        services: Mapping[str, JsonService],
        by_path: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]],
        s3: S3Api,
        admin: AdminApi,
        injector: FaultInjector,
        settings: Settings,
        moto: MotoBridge,
        keyring: Keyring,
        metrics: MetricSeries,
        data_plane: DataPlane,
    ) -> None:
        self._services, self._by_path, self._s3, self._admin = services, by_path, s3, admin
        self._injector, self._settings, self._moto, self._keyring = injector, settings, moto, keyring
        self._metrics, self._data_plane = metrics, data_plane
        self._authenticator = Authenticator(keyring, settings.region)
        self._models: dict[str, RequestValidator] = {}
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Response:
        """Return the response to a request."""
        if request.path.startswith(PREFIX):
            return self._admin.answer(request, self._keyring.own)
        target = request.headers.get("x-amz-target", "")
        if target:
            prefix, _, operation = target.rpartition(".")
            service, signed_for = _TARGETS.get(prefix, (request.service, ""))
            return answered(lambda: self._json(service, signed_for, operation, request), _json_error)
        service = request.service
        if service == "sagemaker":
            return answered(lambda: self._rest(service, request), _json_error)
        form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        if service in ("s3", "s3express") or (not service and not form):
            return with_faults(self._s3, request, self._authenticator, self._injector)
        return answered(lambda: self._query(service, request, form), _query_error if form else _json_error)

    def _json(self, service: str, signed_for: str, operation: str, request: Request) -> Response:
        self._authenticator.check(request, "json", signed_for)
        self._injector.check_call(service, operation)
        data = _object(request)
        own = self._services.get(service)
        if own is not None and operation in SERVED[service] and own.handles(operation, data):
            answer = json.dumps(own.call(operation, data)).encode()
            return Response(200, answer, _JSON, transfer=self._injector.unanswered(operation))
        if operation in HANDED.get(service, ()):
            self._model(service).check(operation, data)  # as moto does not
        if service in WHOLE or operation in HANDED.get(service, ()):
            return self._handed(request, service, operation, "json")
        raise unknown(f"{operation} of {data['Resource']}" if operation == "Search" and "Resource" in data else operation)

    def _rest(self, service: str, request: Request) -> Response:
        self._authenticator.check(request, "json", service)
        invoked = PATH.fullmatch(request.path)
        if invoked is not None and request.method == "POST":
            self._injector.check_call("sagemaker-runtime", OPERATION)
            return self._data_plane.invoke(invoked[1], request)
        name = request.path.partition("?")[0]
        self._injector.check_call(service, name.removeprefix("/"))
        if name not in self._by_path:
            raise unknown(f"{request.method} {name}")
        return Response(200, json.dumps(self._by_path[name](_object(request))).encode(), _JSON)

    def _query(self, service: str, request: Request, form: bool) -> Response:
        protocol = "query" if form else "json"
        self._authenticator.check(request, protocol)
        text = request.body(MOST_BYTES).decode("utf-8", "replace") if request.method == "POST" else request.path.partition("?")[2]
        parameters = dict(parse_qsl(text))
        action = parameters.get("Action", "")
        self._injector.check_call(service, action or request.path)
        found = None
        if service == "sts":
            found = identity.sts(action, parameters, self._settings, self._keyring)
        elif service == "iam":
            found = identity.iam(action, parameters, self._settings, self._injector.denies)
        if found is not None and action == "GetRole" and self._moto.used(service):
            # A role that somebody made is as it was made.
            made = self._moto.answer(request, service, action)
            if made.status != 404:
                return made
        if found is not None:
            return Response(200, found.encode(), {"Content-Type": "text/xml"})
        if service in WHOLE:
            return self._handed(request, service, action, protocol)
        raise unknown(action or f"{service} {request.method} {request.path.partition('?')[0]}", protocol)

    def _model(self, service: str) -> RequestValidator:
        with self._lock:
            if service not in self._models:
                self._models[service] = RequestValidator(service)
            return self._models[service]

    def _handed(self, request: Request, service: str, operation: str, protocol: str) -> Response:
        if service == "monitoring":
            place = self._settings.account, self._settings.region
            if points := self._metrics.take():
                self._moto.put_metrics(*place, points)
            if sums := self._data_plane.metrics.take():
                self._moto.put_sums(*place, sums)
        try:
            return self._moto.answer(request, service, operation)
        except NotImplementedError:
            what = operation or f"{service} {request.method} {request.path.partition('?')[0]}"
            raise unknown(what, protocol) from None


def _object(request: Request) -> dict[str, Any]:
    try:
        data = json.loads(request.body(MOST_BYTES) or b"{}")
    except ValueError:
        raise ServiceError("SerializationException", "The request is no JSON.") from None
    if not isinstance(data, dict):
        raise ServiceError("SerializationException", "The request is no JSON object.")
    return data


def _json_error(error: ServiceError) -> Response:
    body = json.dumps({"__type": error.code, "message": error.message, "Message": error.message}).encode()
    return Response(error.status, body, {**_JSON, "x-amzn-ErrorType": error.code})


def _query_error(error: ServiceError) -> Response:
    body = f"<ErrorResponse><Error><Type>Sender</Type><Code>{error.code}</Code><Message>{error.message}</Message></Error></ErrorResponse>"
    return Response(error.status, body.encode(), {"Content-Type": "text/xml"})
