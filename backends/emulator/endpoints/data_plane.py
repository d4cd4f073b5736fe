"""InvokeEndpoint of SageMaker's runtime: from a signed request to what the endpoint's front answers."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping

from backends.emulator.core.endpoint_metrics import EndpointMetrics
from backends.emulator.core.settings import Settings
from backends.emulator.endpoints.front_process import FrontGoneError
from backends.emulator.endpoints.fronts import Fronts
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from backends.serving.front.settings import MOST_BODY_BYTES

PATH = re.compile(r"/endpoints/([^/?]+)/invocations")
OPERATION = "InvokeEndpoint"
_PASSED_ON = (
    *("content-type", "accept", "x-amzn-sagemaker-target-model", "x-amzn-sagemaker-target-variant"),
    *("x-amzn-sagemaker-custom-attributes", "x-amzn-sagemaker-inference-id"),
)
_ANSWERED = ("content-type", "x-amzn-errortype", "x-amzn-invoked-production-variant", "x-amzn-sagemaker-custom-attributes")


class DataPlane:
    """Answers invocations.

    Args:
        fronts: what serves.
        in_service: whether an endpoint is in service.
        settings: of the emulator.
        sleep: waits so many real seconds.
    """

    def __init__(
        self, fronts: Fronts, in_service: Callable[[str], bool], settings: Settings, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._fronts, self._in_service, self._settings, self._sleep = fronts, in_service, settings, sleep
        self.metrics = EndpointMetrics()
        """Of invocations, for CloudWatch."""

    def invoke(self, name: str, request: Request) -> Response:
        """Return the response to InvokeEndpoint; raises `ServiceError`."""
        begun_s = time.monotonic()
        if request.length is not None and request.length > MOST_BODY_BYTES:
            raise ServiceError("ValidationError", f"HTTP content length exceeded {MOST_BODY_BYTES} bytes.", 413)
        if not self._in_service(name):
            raise ServiceError("ValidationError", f"Endpoint {name} of account {self._settings.account} not found.")
        variant = request.headers.get("x-amzn-sagemaker-target-variant", "")
        front = self._fronts.next_front(name)
        if front is None:
            raise _unavailable(name)
        if variant and variant != front.settings.variant:
            raise ServiceError("ValidationError", f"Variant {variant} of endpoint {name} not found.")
        headers = {key: request.headers[key] for key in _PASSED_ON if key in request.headers}
        sent_body, asked_s = request.body(MOST_BODY_BYTES), time.monotonic()
        try:
            status, answered, body = front.ask("POST", f"/endpoints/{name}/invocations", sent_body, headers)
        except FrontGoneError:
            threading.Thread(target=self._fronts.revive, args=(name,), name=f"revive {name}", daemon=True).start()
            raise _unavailable(name) from None
        answered_s = time.monotonic()
        held_s = self._fronts.held_s(name)
        if held_s > 0:
            self._sleep(held_s)
        around_s = asked_s - begun_s + time.monotonic() - answered_s
        self._count(name, front.settings.variant, answered, (around_s, answered_s - asked_s))
        shown = {key: value for key, value in answered.items() if key in _ANSWERED or key.startswith("x-outrider-")}
        return Response(status, body, shown)

    def _count(self, name: str, variant: str, answered: Mapping[str, str], spent_s: tuple[float, float]) -> None:
        """Add an invocation to the metrics; `spent_s`: seconds around the model's part, and of that."""
        overhead_s, model_s = spent_s
        values = {"Invocations": (1.0, "None")}
        load_ms = float(answered.get("x-outrider-load-ms", 0.0))
        values["ModelLatency"] = (max(0.0, 1e6 * model_s - 1e3 * load_ms), "Microseconds")
        # All that is not the model's, which a wait for it to be loaded is not either.
        values["OverheadLatency"] = (1e6 * overhead_s + 1e3 * load_ms, "Microseconds")
        if "x-outrider-cold" in answered:
            values["ModelCacheHit"] = (float(answered["x-outrider-cold"] == "0"), "None")
            values["ModelLoadingWaitTime"] = (1e3 * load_ms, "Microseconds")
        self.metrics.add(name, variant, time.time(), values)


def _unavailable(name: str) -> ServiceError:
    return ServiceError("ServiceUnavailable", f"Endpoint {name} is not available at the moment; please try again.", 503)
