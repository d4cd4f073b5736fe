"""What the front answers: InvokeEndpoint as SageMaker words it, and its own status."""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Mapping
from typing import Any

from backends.serving.base import LoadFailedError, ModelLostError, ModelServer, ServerFailedError
from backends.serving.front.cache import ModelCache, NotReadyError
from backends.serving.front.counters import cpu_s
from backends.serving.front.packages import PackageError
from backends.serving.front.settings import MOST_BODY_BYTES, FrontSettings
from backends.serving.gpu_memory import GpuMemory
from backends.serving.wire.listener import JSON, HttpReply, json_reply
from backends.serving.wire.messages import Message

TARGET = "x-amzn-sagemaker-target-model"
KEY = "x-outrider-key"


class FrontService:
    """Answers requests for one endpoint.

    Args:
        settings: of the front.
        server: that has been started.
        cache: of its models.
    """

    def __init__(self, settings: FrontSettings, server: ModelServer, cache: ModelCache) -> None:
        self._settings, self._server, self._cache = settings, server, cache
        self._path = f"/endpoints/{settings.endpoint}/invocations"
        self._gpus = GpuMemory()

    async def answer(self, method: str, path: str, message: Message) -> HttpReply:
        """Return the reply to a request."""
        key = self._settings.key
        if key and not hmac.compare_digest(message.headers.get(KEY, "").encode(), key.encode()):
            return service_error(403, "AccessDeniedException", "the header X-Outrider-Key is missing or wrong")
        if path == self._path and method == "POST":
            return await self._invoke(message)
        match method, path:
            case "GET", "/ping":
                return HttpReply(200 if await self._server.ready() else 503)
            case "GET", "/status":
                return json_reply(await self.status())
            case "POST", "/unload":
                return await self._unload(message)
        if path.startswith("/endpoints/"):
            return service_error(400, "ValidationError", f"Endpoint {path.split('/')[2]} not found.")
        return service_error(404, "UnknownOperationException", f"there is no {method} {path}")

    async def status(self) -> dict[str, Any]:
        """Return what is loaded, counted and taken, as the load script reads it."""
        pids = self._server.pids()
        counted = self._cache.counters
        used_bytes = await self._cache.measure()
        return {
            "resident": self._cache.resident,
            "loads": counted.loads,
            "evictions": counted.evictions,
            "hits": counted.hits,
            "cold": counted.cold,
            "failed_loads": counted.failed_loads,
            "restarts": counted.restarts,
            "unloads": self._cache.leak.unloads,
            "left_bytes": self._cache.leak.left_bytes,
            "base_bytes": self._cache.base_bytes,
            "memory_bytes": used_bytes,
            "limit_bytes": self._settings.limit_bytes,
            "gpu_bytes": self._gpus.used_bytes(),
            "server_cpu_s": cpu_s(pids),
            "server_rss_bytes": used_bytes,
            "front_cpu_s": sum(os.times()[:2]),
        }

    async def _invoke(self, message: Message) -> HttpReply:
        if message.is_too_large:
            words = f"HTTP content length exceeded {MOST_BODY_BYTES} bytes."
            return service_error(413, "ValidationError", words)
        target = message.headers.get(TARGET, "")
        if self._settings.mode == "single":
            if target:
                return service_error(400, "ValidationError", f"Endpoint {self._settings.endpoint} is not a multi-model endpoint.")
            target = self._settings.model
        elif not target:
            words = f"Endpoint {self._settings.endpoint} is a multi-model endpoint: TargetModel is missing."
            return service_error(400, "ValidationError", words)
        try:
            async with self._cache.use(target) as use:
                answer = await self._server.invoke(use.name, message.body, message.headers.get("content-type", JSON))
        except NotReadyError as error:
            return service_error(429, "ModelNotReadyException", f"Model is not ready for inference request: {error}")
        except PackageError as error:
            return service_error(400, "ValidationError", str(error))
        except LoadFailedError as error:
            return self.model_error(507 if error.is_short_of_memory else 400, str(error))
        except ModelLostError as error:
            # Whoever calls it next finds it loaded anew, unless somebody else is just finding out the same.
            await self._cache.unload(target)
            return self.model_error(error.answer.status, str(error))
        except ServerFailedError as error:
            return service_error(503, "ServiceUnavailable", str(error))
        tags = {
            "X-Outrider-Cold": "1" if use.is_cold else "0",
            "X-Outrider-Load-Ms": f"{1000.0 * use.load_s:.3f}",
            "x-Amzn-Invoked-Production-Variant": self._settings.variant,
        }
        if answer.status != 200:
            return self.model_error(answer.status, answer.body.decode("utf-8", "replace"), tags)
        return HttpReply(200, answer.body, answer.content_type, tags)

    async def _unload(self, message: Message) -> HttpReply:
        try:
            target = str(json.loads(message.body)["target"])
        except (ValueError, KeyError, TypeError):
            return service_error(400, "ValidationError", 'the body is {"target": NAME}')
        return json_reply({"unloaded": await self._cache.unload(target)})

    def model_error(self, status: int, words: str, headers: Mapping[str, str] | None = None) -> HttpReply:
        """Return the reply where the model or its container answered with an error: status 424."""
        kind = "server" if status >= 500 else "client"
        body = {
            "ErrorCode": "SERVER_ERROR_FROM_MODEL" if status >= 500 else "CLIENT_ERROR_FROM_MODEL",
            "LogStreamArn": "",
            "Message": f'Received {kind} error ({status}) from model with message "{words}".',
            "OriginalMessage": words,
            "OriginalStatusCode": status,
        }
        return json_reply(body, 424, {"x-amzn-ErrorType": "ModelError", **(headers or {})})


def service_error(status: int, kind: str, words: str) -> HttpReply:
    """Return an error of the service itself, as AWS's JSON protocols word it."""
    return json_reply({"Message": words, "message": words}, status, {"x-amzn-ErrorType": kind})
