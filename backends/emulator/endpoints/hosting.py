"""What serves behind the endpoints, as the registry sees it."""

from __future__ import annotations

from typing import Protocol

from backends.emulator.endpoints.resource import HostingResource


class HostingError(Exception):
    """An endpoint cannot be served; its text is what the service gives as the reason."""


class Hosting(Protocol):
    """Brings up what answers an endpoint's invocations; called from helper threads."""

    def start(self, endpoint: HostingResource) -> None:
        """Return when the endpoint answers; raises `HostingError`."""

    def stop(self, name: str) -> None:
        """Return when nothing of an endpoint is left; one that was never started is ignored."""

    def close(self) -> None:
        """End all."""
