"""What serves the emulator's endpoints: for each instance a front with a server of models behind it."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from backends.emulator.container.context import Context
from backends.emulator.core.settings import client_environment
from backends.emulator.endpoints.front_process import FrontGoneError, FrontProcess
from backends.emulator.endpoints.hosting import HostingError
from backends.emulator.endpoints.invocation_faults import held_s, unloads_due
from backends.emulator.endpoints.resource import HostingResource
from backends.emulator.endpoints.stand_in import FrontPlaces, front_settings
from backends.emulator.endpoints.words import unhealthy
from backends.serving.servers import server_class
from definitions.errors import UserError
from definitions.instance_tables import load_tables

MOST_INSTANCES = 8
"""Instances of an endpoint that are really there; one of more is served by as many."""


@dataclass
class _Served:
    endpoint: HostingResource
    fronts: list[FrontProcess]
    folder: Path
    turns: Iterator[int] = field(default_factory=itertools.count)
    first_at: float | None = None
    unloads: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Fronts:
    """The endpoints that are served; safe to use from several threads.

    Args:
        context: of the emulator.
        missing: returns why a server cannot run here, empty where it can.
    """

    def __init__(self, context: Context, missing: Callable[[str], str] | None = None) -> None:
        self._context, self._missing = context, missing or _missing
        self._served: dict[str, _Served] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._is_closed = False

    def start(self, endpoint: HostingResource) -> None:
        """Return when the endpoint answers; raises `HostingError`."""
        folder = self._context.folder / "hosting" / f"{endpoint.name}-{next(self._numbers)}"
        served = _Served(endpoint, [], folder)
        try:
            for number in range(min(endpoint.instance_count, MOST_INSTANCES)):
                served.fronts.append(self._front(endpoint, folder / str(number)))
            with self._lock:
                if self._is_closed:
                    raise HostingError("the emulator is closing")
                self._served[endpoint.name] = served
        except BaseException:
            _end(served)
            raise

    def stop(self, name: str) -> None:
        """Return when nothing of an endpoint is left; one that was never started is ignored."""
        with self._lock:
            served = self._served.pop(name, None)
        if served is not None:
            _end(served)

    def close(self) -> None:
        """End all."""
        with self._lock:
            self._is_closed = True
            left, self._served = [*self._served.values()], {}
        for served in left:
            _end(served)

    def fronts(self, name: str) -> list[FrontProcess]:
        """Return the fronts of an endpoint; none where it is not served."""
        with self._lock:
            found = self._served.get(name)
        return [] if found is None else [*found.fronts]

    def next_front(self, name: str) -> FrontProcess | None:
        """Return the front whose turn it is, with the models unloaded that a fault unloads now; None where the endpoint is not served."""
        with self._lock:
            served = self._served.get(name)
        if served is None:
            return None
        self._unload(served)
        return served.fronts[next(served.turns) % len(served.fronts)]

    def held_s(self, name: str) -> float:
        """Return the seconds for which faults hold an answer of an endpoint that would be given now."""
        with self._lock:
            served = self._served.get(name)
        if served is None or served.first_at is None:
            return 0.0
        since_s = self._context.now() - served.first_at
        planned = self._context.injector.planned("stall", name, served.endpoint.instance_type, 0)
        return max((held_s(rule, since_s) for _, rule in planned), default=0.0)

    def revive(self, name: str) -> None:
        """Start fronts of an endpoint again that have ended, as the service replaces instances."""
        with self._lock:
            served = self._served.get(name)
        if served is None or not served.lock.acquire(blocking=False):
            return
        try:
            for number, front in enumerate(served.fronts):
                if not front.is_running:
                    front.close()
                    with contextlib.suppress(HostingError):
                        served.fronts[number] = self._front(served.endpoint, served.folder / f"{number}-{next(self._numbers)}")
        finally:
            served.lock.release()
        with self._lock:
            is_gone = self._served.get(name) is not served
        if is_gone:
            _end(served)

    def _unload(self, served: _Served) -> None:
        now = self._context.now()
        if served.first_at is None:
            served.first_at = now
        for number, rule in self._context.injector.planned("unload", served.endpoint.name, served.endpoint.instance_type, 0):
            if served.unloads[number] < (due := unloads_due(rule, now - served.first_at)):
                served.unloads[number] = due
                for front in served.fronts:
                    with contextlib.suppress(FrontGoneError):
                        front.unload_all()

    def _front(self, endpoint: HostingResource, folder: Path) -> FrontProcess:
        context = self._context
        folder.mkdir(parents=True, exist_ok=True)
        facts = load_tables().facts.get(endpoint.instance_type)
        region = context.settings.region
        places = FrontPlaces(str(folder / "work"), str(folder / "server.log"), context.endpoint_url, region, secrets.token_urlsafe(24))
        settings = front_settings(endpoint, places, None if facts is None else facts.memory_bytes, self._missing)
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        try:
            return FrontProcess(settings, folder, {**own, **client_environment(context.endpoint_url, region, context.credentials)})
        except HostingError as error:
            raise HostingError(f"{unhealthy(settings.variant)} {error}") from None


def _missing(server: str) -> str:
    try:
        return server_class(server).missing()
    except UserError as error:
        return str(error)


def _end(served: _Served) -> None:
    for front in served.fronts:
        front.close()
    shutil.rmtree(served.folder, ignore_errors=True)
