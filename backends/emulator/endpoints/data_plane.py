"""InvokeEndpoint of SageMaker's runtime: from a signed request to what the endpoint's front answers."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

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

    def invoke(self, name: str, request: Request) -> Response:
        """Return the response to InvokeEndpoint; raises `ServiceError`."""
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
        try:
            status, answered, body = front.ask("POST", f"/endpoints/{name}/invocations", request.body(MOST_BODY_BYTES), headers)
        except FrontGoneError:
            threading.Thread(target=self._fronts.revive, args=(name,), name=f"revive {name}", daemon=True).start()
            raise _unavailable(name) from None
        held_s = self._fronts.held_s(name)
        if held_s > 0:
            self._sleep(held_s)
        shown = {key: value for key, value in answered.items() if key in _ANSWERED or key.startswith("x-outrider-")}
        return Response(status, body, shown)


def _unavailable(name: str) -> ServiceError:
    return ServiceError("ServiceUnavailable", f"Endpoint {name} is not available at the moment; please try again.", 503)
