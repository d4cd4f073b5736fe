"""AWS clients of one experiment: made once, counted by operation, never retrying by themselves. Used by all that calls AWS."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from definitions.errors import UserError


class Clients:
    """boto3 clients by service; safe to use from several threads.

    Retries are left to the caller, so that every call passes one limiter and is counted once.

    Args:
        region: None for boto3's own search.
        environ: the controller's environment; only the endpoint is looked up here, the rest is boto3's own search.
        connections: that a client keeps open at most.
    """

    def __init__(self, region: str | None, environ: Mapping[str, str], connections: int = 16) -> None:
        self._given_region = region
        self._environ = dict(environ)
        self._connections = connections
        self._lock = threading.Lock()
        self._session: Any = None
        self._clients: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()

    @property
    def region(self) -> str:
        """The region that calls go to.

        Raises:
            UserError: neither given nor configured.
        """
        with self._lock:
            # boto3 reads AWS_DEFAULT_REGION alone, other tools of AWS this one too.
            found = self._given_region or self._made_session().region_name or self._environ.get("AWS_REGION")
        if not found:
            raise UserError(
                "no AWS region is known",
                "neither the command, the definition nor the AWS configuration names a region",
                "set AWS_DEFAULT_REGION, or give it: --set region=... for a run, --region for other commands",
            )
        return str(found)

    @property
    def emulated(self) -> bool:
        """Whether calls go to this machine instead of AWS."""
        return is_emulated(self._environ)

    def get(self, service: str) -> Any:
        """Return the client of a service, e.g. `sagemaker`, `logs`, `s3`, `sts`, `pricing`, `service-quotas`, `iam`."""
        region = "us-east-1" if service == "pricing" else self.region
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._make(service, region)
            return self._clients[service]

    def renew(self) -> None:
        """Forget all clients, so that credentials that were renewed meanwhile are found."""
        with self._lock:
            self._session = None
            self._clients = {}

    def _make(self, service: str, region: str) -> Any:
        from botocore.config import Config

        endpoint = self._environ.get(f"AWS_ENDPOINT_URL_{service.upper().replace('-', '_')}") or self._environ.get("AWS_ENDPOINT_URL")
        options: dict[str, Any] = {
            "retries": {"total_max_attempts": 1},
            "max_pool_connections": self._connections,
            "connect_timeout": 10,
            "read_timeout": 60,
        }
        if self.emulated:
            options["proxies"] = {}  # a proxy of the user's cannot reach this machine's loopback
        if endpoint and service == "s3":
            options |= {"s3": {"addressing_style": "path"}, "request_checksum_calculation": "when_required"}
        client = self._made_session().client(service, region_name=region, endpoint_url=endpoint, config=Config(**options))
        client.meta.events.register("before-call", self._count)
        return client

    def _made_session(self) -> Any:
        if self._session is None:
            try:
                import boto3
            except ImportError as error:
                raise UserError("this back-end talks to AWS", "the package boto3 is not installed", "pip install boto3") from error
            self._session = boto3.session.Session()
        return self._session

    def _count(self, model: Any, **_: Any) -> None:
        with self._lock:
            self.counts[str(model.name)] += 1


def is_emulated(environ: Mapping[str, str]) -> bool:
    """Return whether the environment sends AWS calls to this machine, where nothing real is spent."""
    host = urlsplit(environ.get("AWS_ENDPOINT_URL_SAGEMAKER") or environ.get("AWS_ENDPOINT_URL") or "").hostname
    return host in ("127.0.0.1", "localhost", "::1")
