"""All endpoints of an emulator and what they are made of: creation, quotas, faults, deletion, what a crash leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.emulator.container.context import Context
from backends.emulator.core.settings import ENDPOINT_QUOTA
from backends.emulator.core.timers import TimerGroup
from backends.emulator.endpoints.hosting import Hosting, HostingError
from backends.emulator.endpoints.life import EndpointLife, move_endpoint
from backends.emulator.endpoints.resource import HostingResource, arn
from backends.emulator.endpoints.rules import check_endpoint
from backends.emulator.endpoints.store import BilledEndpoint, HostingStore
from backends.emulator.endpoints.words import INTERNAL, NO_CAPACITY, in_progress, missing, there_already
from backends.emulator.http.errors import ServiceError, invalid
from backends.emulator.training import quotas

_MOST_TAGS = 50


class EndpointRegistry:
    """The registry. Its methods hold the loop's lock, so that answers and the endpoints' own steps never mix.

    Args:
        store: what outlives this process; endpoints in it are brought up again.
        limit: returns a quota's limit by its name, in instances.
        hosting: what serves.
    """

    def __init__(self, context: Context, store: HostingStore, limit: Callable[[str], int], hosting: Hosting) -> None:
        self._context, self._store, self._limit, self._hosting = context, store, limit, hosting
        self._timers: dict[str, TimerGroup] = {}
        self._closing = False

    @property
    def lock(self) -> Any:
        """The lock under which resources may be looked at."""
        return self._context.loop.lock

    def take_up(self) -> None:
        """Bring up what an emulator that ended left: endpoints that were in service or being created, and deletions that had begun."""
        with self.lock:
            for endpoint in self._store.all("endpoint"):
                self._timers[endpoint.name] = TimerGroup(self._context.loop)
                status = _life(endpoint).status
                if status == "Creating":
                    self._begin(endpoint)
                elif status == "InService":
                    self._host(endpoint)
                elif status == "Deleting":
                    self._end(endpoint)

    def all(self, kind: str) -> list[HostingResource]:
        """Return all of a kind, in the order of their creation."""
        return self._store.all(kind)

    def get(self, kind: str, name: str) -> HostingResource:
        """Return one; raises the service's error for an unknown one."""
        found = self._store.find(kind, name)
        if found is None:
            raise missing(kind, arn(kind, name, self._context.settings))
        return found

    def create(self, kind: str, name: str, request: dict[str, Any]) -> HostingResource:
        """Accept a valid request; raises the service's error for a name that exists, parts that do not, a quota, no capacity."""
        with self.lock:
            if self._store.find(kind, name) is not None:
                raise there_already(kind, arn(kind, name, self._context.settings))
            tags = {tag["Key"]: tag["Value"] for tag in request.pop("Tags", [])}
            now = self._context.now()
            made = HostingResource(kind, name, 0, request, tags, now)
            if kind == "config":
                for variant in request["ProductionVariants"]:
                    self.get("model", variant.get("ModelName", ""))
            if kind == "endpoint":
                made.config = self.get("config", request["EndpointConfigName"]).request
                names = [variant["ModelName"] for variant in made.config["ProductionVariants"] if "ModelName" in variant]
                made.models = {one: self.get("model", one).request for one in names}
                check_endpoint(request, made.config, made.models)
                self._check_room(made)
                made.life = EndpointLife(now, now)
            made.number = self._store.next_number()
            self._store.save(made)
            if kind == "endpoint":
                self._timers[name] = TimerGroup(self._context.loop)
                self._begin(made)
            return made

    def is_in_service(self, name: str) -> bool:
        """Return whether an endpoint is there and in service."""
        with self.lock:
            found = self._store.find("endpoint", name)
            return found is not None and _life(found).status == "InService"

    def delete(self, kind: str, name: str) -> None:
        """Delete one; an endpoint is gone some time later, and one that is still being created or deleted is refused."""
        with self.lock:
            found = self.get(kind, name)
            if kind != "endpoint":
                self._store.delete(found)
                return
            if not _life(found).may_be_deleted:
                raise in_progress(arn(kind, name, self._context.settings))
            self._move(found, "Deleting")
            self._end(found)

    def tagged(self, resource: HostingResource, tags: Mapping[str, str], removed: tuple[str, ...] = ()) -> None:
        """Set and remove tags."""
        with self.lock:
            kept = {key: value for key, value in {**resource.tags, **tags}.items() if key not in removed}
            if len(kept) > _MOST_TAGS:
                raise invalid(f"A resource can have at most {_MOST_TAGS} tags")
            resource.tags = kept
            self._store.save(resource)

    def used(self, quota: str) -> int:
        """Return how many instances count against a quota now."""
        return sum(
            endpoint.instance_count
            for endpoint in self._store.all("endpoint")
            if _life(endpoint).has_instances and ENDPOINT_QUOTA.format(endpoint.instance_type) == quota
        )

    def billed(self) -> list[BilledEndpoint]:
        """Return what endpoints that are deleted were billed for."""
        with self.lock:
            return self._store.billed()

    def close(self) -> None:
        """End what serves; endpoints stay, for the next emulator on the folder."""
        with self.lock:
            self._closing = True
            for timers in self._timers.values():
                timers.cancel()
        self._hosting.close()

    def _check_room(self, made: HostingResource) -> None:
        quota = ENDPOINT_QUOTA.format(made.instance_type)
        quotas.check(quota, self._limit(quota), self.used(quota), made.instance_count)
        injector = self._context.injector
        for number, rule in injector.planned("capacity", made.name, made.instance_type, 0):
            if rule.get("on", "start") == "create":
                injector.struck(number, made.name)
                raise ServiceError("CapacityError", str(rule.get("message", NO_CAPACITY)))

    def _begin(self, endpoint: HostingResource) -> None:
        pending = self._context.injector.for_job("pending", endpoint.name, endpoint.instance_type)
        wait_s = self._context.settings.delays.deploy_s + (0.0 if pending is None else float(pending.get("seconds", 0.0)))
        self._timers[endpoint.name].call_later(wait_s, lambda: self._provision(endpoint))

    def _provision(self, endpoint: HostingResource) -> None:
        injector = self._context.injector
        for number, rule in injector.planned("capacity", endpoint.name, endpoint.instance_type, 0):
            if rule.get("on", "start") == "start":
                injector.struck(number, endpoint.name)
                self._move(endpoint, "Failed", str(rule.get("message", NO_CAPACITY)))
                return
        failing = [
            one for one in injector.planned("endpoint_failed", endpoint.name, endpoint.instance_type, 0) if "at_s" not in one[1].fields
        ]
        if failing:
            injector.struck(failing[0][0], endpoint.name)
            self._move(endpoint, "Failed", str(failing[0][1].get("message", INTERNAL)))
            return
        self._host(endpoint)

    def _host(self, endpoint: HostingResource) -> None:
        """Have it served, in a helper thread; one that is in service already stays so meanwhile."""

        def up(_: None, error: BaseException | None) -> None:
            if self._closing or self._store.find("endpoint", endpoint.name) is not endpoint:
                return
            if error is not None:
                reason = str(error) if isinstance(error, HostingError) else f"{INTERNAL} ({type(error).__name__}: {error})"
                self._move(endpoint, "Failed", reason)
                return
            if _life(endpoint).status == "Creating":
                self._move(endpoint, "InService")
            self._plan_failures(endpoint)

        self._context.loop.run_in_thread(lambda: self._hosting.start(endpoint), up)

    def _plan_failures(self, endpoint: HostingResource) -> None:
        for number, rule in self._context.injector.planned("endpoint_failed", endpoint.name, endpoint.instance_type, 0):

            def fail(number: int = number, message: str = str(rule.get("message", INTERNAL))) -> None:
                if _life(endpoint).status == "InService":
                    self._context.injector.struck(number, endpoint.name)
                    self._move(endpoint, "Failed", message)
                    self._context.loop.run_in_thread(lambda: self._hosting.stop(endpoint.name), lambda *_: None)

            self._timers[endpoint.name].call_later(float(rule.get("at_s", 0.0)), fail)

    def _end(self, endpoint: HostingResource) -> None:
        slow = self._context.injector.for_job("slow_stop", endpoint.name, endpoint.instance_type)
        wait_s = self._context.settings.delays.delete_s + (0.0 if slow is None else float(slow.get("seconds", 0.0)))

        def stopped(*_: object) -> None:
            self._timers[endpoint.name].call_later(wait_s, gone)

        def gone() -> None:
            now = self._context.now()
            billed = BilledEndpoint(endpoint.name, endpoint.instance_type, endpoint.instance_count, endpoint.created_at, now)
            self._store.bill(billed)
            self._store.delete(endpoint)
            self._timers.pop(endpoint.name).cancel()

        self._timers[endpoint.name].cancel()
        self._context.loop.run_in_thread(lambda: self._hosting.stop(endpoint.name), stopped)

    def _move(self, endpoint: HostingResource, status: str, reason: str = "") -> None:
        endpoint.life = move_endpoint(_life(endpoint), status, self._context.now(), reason)
        self._store.save(endpoint)


def _life(endpoint: HostingResource) -> EndpointLife:
    assert endpoint.life is not None
    return endpoint.life
