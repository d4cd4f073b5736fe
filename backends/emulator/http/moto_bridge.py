"""Passes what the emulator does not imitate itself to moto, in this process; moto is an extra."""

from __future__ import annotations

import importlib.util
import io
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from backends.emulator.core.endpoint_metrics import ENDPOINT_NAMESPACE, MetricSum
from backends.emulator.core.metric_series import DIMENSION, NAMESPACE, MetricPoint
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from definitions.program import install_extra


class MotoBridge:
    """moto's server application, loaded when it is first needed: it takes a second."""

    def __init__(self) -> None:
        self._application: Any = None
        self._lock = threading.Lock()
        self._used: set[str] = set()

    def used(self, service: str) -> bool:
        """Return whether a service has been handed to moto, which then has a state that ours does not know of."""
        return service in self._used

    def put_metrics(self, account: str, region: str, points: Sequence[MetricPoint]) -> None:
        """Have moto's CloudWatch show values of jobs' metrics; raises ServiceError where moto is not installed."""
        self._load("monitoring", "PutMetricData")
        from moto.cloudwatch.models import cloudwatch_backends

        data = [
            {
                "MetricName": point.name,
                "Value": point.value,
                "Timestamp": datetime.fromtimestamp(point.at, UTC).replace(tzinfo=None),  # as it compares them
                "Dimensions": [{"Name": DIMENSION, "Value": point.job}],
            }
            for point in points
        ]
        cloudwatch_backends[account][region].put_metric_data(NAMESPACE, data)

    def put_sums(self, account: str, region: str, sums: Sequence[MetricSum]) -> None:
        """Have moto's CloudWatch show metrics of endpoints; raises ServiceError where moto is not installed."""
        self._load("monitoring", "PutMetricData")
        from moto.cloudwatch.models import cloudwatch_backends

        data = [
            {
                "MetricName": one.name,
                "Unit": one.unit,
                "Timestamp": datetime.fromtimestamp(one.at, UTC).replace(tzinfo=None),
                "Dimensions": [{"Name": "EndpointName", "Value": one.endpoint}, {"Name": "VariantName", "Value": one.variant}],
                "StatisticValues": {"SampleCount": one.count, "Sum": one.total, "Minimum": one.least, "Maximum": one.most},
            }
            for one in sums
        ]
        cloudwatch_backends[account][region].put_metric_data(ENDPOINT_NAMESPACE, data)

    def answer(self, request: Request, service: str, operation: str) -> Response:
        """Return moto's answer; raises ServiceError where moto is not installed."""
        application = self._load(service, operation)
        self._used.add(service)
        path, _, query = request.path.partition("?")
        body = request.body()
        environ: dict[str, Any] = {
            "REQUEST_METHOD": request.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": request.headers.get("content-type", ""),
        }
        environ.update({f"HTTP_{name.upper().replace('-', '_')}": value for name, value in request.headers.items()})
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], _: Any = None) -> None:
            started.append((status, headers))

        try:
            parts: Iterable[bytes] = application(environ, start)
            content = b"".join(parts)
        except KeyError as error:
            # How moto looks for what is not there, where it has no error of its own for it.
            raise ServiceError("ResourceNotFound", f"Requested resource not found: {error}") from error
        status, headers = started[-1]
        return Response(int(status.split(" ", 1)[0]), content, dict(headers))

    def _load(self, service: str, operation: str) -> Any:
        with self._lock:
            if self._application is None:
                if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
                    raise ServiceError(
                        "NotImplemented",
                        f"The emulator does not imitate {service} {operation} itself, and moto, which might, is not installed "
                        f"({install_extra('emulator')}).",
                        501,
                    )
                from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

                self._application = DomainDispatcherApplication(create_backend_app)
            return self._application
