"""What can be told to a running emulator by plain HTTP under /_emulator: faults, interruptions, its state."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from backends.emulator.container.context import Context
from backends.emulator.core.credentials import Credentials
from backends.emulator.endpoints.fronts import Fronts
from backends.emulator.endpoints.registry import EndpointRegistry
from backends.emulator.faults.rules import parse_faults
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from backends.emulator.training.registry import JobRegistry
from definitions.errors import UserError

PREFIX = "/_emulator/"
_MOST_BYTES = 1 << 20


def authorization(credentials: Credentials) -> str:
    """Return the header of HTTP that names credentials."""
    return f"Basic {base64.b64encode(f'{credentials.access_key}:{credentials.secret_key}'.encode()).decode()}"


class AdminApi:
    """The calls: GET state, GET endpoints, GET faults; POST faults (a list), POST faults/clear, POST interrupt and POST break (of a job).

    `endpoints` says of each where what serves it tells of itself, and by which key.

    `break` takes a `kind` too: internal_error, host_lost or killed.

    A call names the run's access key and secret by HTTP's basic authentication; one that changes anything is JSON, by its content type
    too, so that no web page can make one.
    """

    def __init__(self, jobs: JobRegistry, endpoints: EndpointRegistry, fronts: Fronts, context: Context) -> None:
        self._jobs, self._endpoints, self._fronts, self._context = jobs, endpoints, fronts, context
        self._calls: Mapping[tuple[str, str], Callable[[Any], Any]] = {
            ("GET", "state"): self._state,
            ("GET", "endpoints"): self._serving,
            ("GET", "faults"): self._faults,
            ("POST", "faults"): self._add,
            ("POST", "faults/clear"): self._clear,
            ("POST", "interrupt"): self._interrupt,
            ("POST", "break"): self._break,
        }

    def answer(self, request: Request, credentials: Credentials) -> Response:
        """Return the response to a call.

        Args:
            request: what is asked.
            credentials: of the run, which have to come with it.
        """
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), authorization(credentials).encode()):
            return _reply(403, {"error": "the access key and secret of this run are missing: curl -u KEY:SECRET ..."})
        name = request.path.partition("?")[0][len(PREFIX) :]
        call = self._calls.get((request.method, name))
        if call is None:
            known = ", ".join(f"{method} {PREFIX}{path}" for method, path in self._calls)
            return _reply(404, {"error": f"no such call; there are {known}"})
        try:
            data = None
            if request.method == "POST":
                if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                    return _reply(415, {"error": "the content type has to be application/json"})
                data = json.loads(request.body(_MOST_BYTES) or b"null")
            return _reply(200, call(data))
        except (UserError, ValueError) as error:
            return _reply(400, {"error": str(error)})
        except ServiceError as error:
            return _reply(409 if error.status == 400 else error.status, {"error": error.message})

    def _state(self, data: Any) -> Any:
        del data
        with self._jobs.lock:
            statuses: dict[str, int] = {}
            for job in self._jobs.all():
                statuses[job.life.status] = statuses.get(job.life.status, 0) + 1
            endpoints = {one.name: one.life.status for one in self._endpoints.all("endpoint") if one.life is not None}
        return {
            "now": self._context.now(),
            "isolation": str(self._context.isolation),
            "jobs": statuses,
            "endpoints": endpoints,
            "billed_endpoints": [asdict(one) for one in self._endpoints.billed()],
            "folder": str(self._context.folder),
        }

    def _serving(self, data: Any) -> Any:
        del data
        with self._jobs.lock:
            names = [one.name for one in self._endpoints.all("endpoint")]
        return {
            name: [
                {"status_url": f"http://127.0.0.1:{front.port}/status", "key": front.settings.key} for front in self._fronts.fronts(name)
            ]
            for name in names
        }

    def _faults(self, data: Any) -> Any:
        del data
        rules = map(asdict, self._context.injector.rules())
        return [{name: dict(value) if name == "fields" else value for name, value in rule.items()} for rule in rules]

    def _add(self, data: Any) -> Any:
        faults = parse_faults(data, "faults")
        self._context.injector.add(faults)
        return {"added": len(faults)}

    def _clear(self, data: Any) -> Any:
        self._context.injector.clear((data or {}).get("kind"))
        return {}

    def _interrupt(self, data: Any) -> Any:
        with self._jobs.lock:
            execution = self._jobs.execution_of(_job(data))
            if not self._jobs.get(data["job"]).spot:
                raise ValueError("only a job of managed spot training can be interrupted")
            execution.interrupt(float(data.get("notice_s", 120.0)))
        return {}

    def _break(self, data: Any) -> Any:
        with self._jobs.lock:
            execution = self._jobs.execution_of(_job(data))
            kind = data.get("kind", "internal_error")
            if kind == "killed":
                execution.kill()
            elif kind in ("internal_error", "host_lost"):
                execution.break_down(lost=kind == "host_lost")
            else:
                raise ValueError(f"kind is {kind!r}; a job breaks by internal_error, host_lost or killed")
        return {}


def _job(data: Any) -> str:
    if not isinstance(data, Mapping) or not isinstance(data.get("job"), str):
        raise ValueError('a JSON object {"job": "name"} is expected')
    return str(data["job"])


def _reply(status: int, data: Any) -> Response:
    return Response(status, json.dumps(data).encode(), {"Content-Type": "application/json"})
