"""AWS clients of one experiment or command: made once each, counted by operation, with credentials that can be renewed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

from backends.common.aws_client import ATTEMPTS, is_loopback, make_client, make_session
from definitions.errors import UserError


class NoRegionError(UserError):
    """Neither the command nor the AWS configuration names a region."""


class Clients:
    """boto3 clients by service; safe to use from several threads.

    Args:
        region: None for boto3's own search.
        environ: the controller's environment; only the endpoint is looked up here, and of an emulator the credentials that stand beside it.
            The rest is boto3's own search.
        connections: that a client keeps open at most.
        attempts: times that each call is made at most where `get` is not told otherwise.
    """

    def __init__(self, region: str | None, environ: Mapping[str, str], connections: int = 16, attempts: int = ATTEMPTS) -> None:
        self._given_region = region
        self._environ = dict(environ)
        self._connections, self._attempts = connections, attempts
        self._lock = threading.Lock()
        self._session: Any = None
        self._clients: dict[tuple[str, int], Any] = {}
        self.counts: Counter[str] = Counter()
        """How often each operation was called, every attempt counted."""

    @property
    def region(self) -> str:
        """The region that calls go to.

        Raises:
            NoRegionError: neither given nor configured.
        """
        with self._lock:
            # boto3 reads AWS_DEFAULT_REGION alone, other tools of AWS this one too.
            found = self._given_region or self._made_session().region_name or self._environ.get("AWS_REGION")
        if not found:
            raise NoRegionError(
                "no AWS region is known",
                "neither the command, the definition nor the AWS configuration names a region",
                "set AWS_DEFAULT_REGION, or give it: --set region=... for a run, --region for other commands",
            )
        return str(found)

    @property
    def emulated(self) -> bool:
        """Whether calls go to this machine instead of AWS."""
        return is_emulated(self._environ)

    @property
    def access_key(self) -> str:
        """The id of the key that calls are signed with; empty where boto3 finds none."""
        beside = _credentials_beside(self._environ).get("access_key")
        if beside:
            return beside
        with self._lock:
            found = self._made_session().get_credentials()
        return "" if found is None else str(found.access_key)

    def endpoint(self, service: str) -> str | None:
        """Return the URL that calls of a service go to where the environment names one; None for AWS's own."""
        return endpoint_of(service, self._environ)

    def get(self, service: str, attempts: int | None = None) -> Any:
        """Return the client of a service.

        Args:
            service: `sagemaker`, `logs`, `s3`, `sts`, `pricing`, `service-quotas`, `iam` or `ecr`.
            attempts: times that each call is made at most; 1 for the call queue, which paces and repeats calls itself without blocking.
        """
        region = "us-east-1" if service == "pricing" else self.region
        key = service, self._attempts if attempts is None else attempts
        with self._lock:
            if key not in self._clients:
                self._clients[key] = self.make(*key, region)
            return self._clients[key]

    def renew(self) -> None:
        """Forget all clients, so that credentials that were renewed meanwhile are found."""
        with self._lock:
            self._session = None
            self._clients = {}

    def make(self, service: str, attempts: int, region: str) -> Any:
        """Return a new client; whoever observes or changes calls extends this."""
        client = make_client(
            service,
            region=region,
            endpoint_url=endpoint_of(service, self._environ),
            attempts=attempts,
            connections=self._connections,
            session=self._made_session(),
            **_credentials_beside(self._environ),
        )
        client.meta.events.register("before-send", self._count)
        return client

    def _made_session(self) -> Any:
        if self._session is None:
            self._session = make_session()
        return self._session

    def _count(self, event_name: str, **_: Any) -> None:
        with self._lock:
            self.counts[event_name.rpartition(".")[2]] += 1


def endpoint_of(service: str, environ: Mapping[str, str]) -> str | None:
    """Return the URL that the environment sends a service's calls to; None for AWS's own."""
    return environ.get(f"AWS_ENDPOINT_URL_{service.upper().replace('-', '_')}") or environ.get("AWS_ENDPOINT_URL") or None


def _credentials_beside(environ: Mapping[str, str]) -> dict[str, str]:
    # An emulator's own: what boto3 would find elsewhere is for a real account, and none of the emulator's business.
    if not is_emulated(environ) or "AWS_SECRET_ACCESS_KEY" not in environ:
        return {}
    token = environ.get("AWS_SESSION_TOKEN")
    found = {"access_key": environ["AWS_ACCESS_KEY_ID"], "secret_key": environ["AWS_SECRET_ACCESS_KEY"]}
    return {**found, "session_token": token} if token else found


def is_emulated(environ: Mapping[str, str]) -> bool:
    """Return whether the environment sends AWS calls to this machine, where nothing real is spent."""
    return is_loopback(endpoint_of("sagemaker", environ))
