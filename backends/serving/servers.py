"""The servers of models, by the names that definitions give them."""

from __future__ import annotations

from backends.deployment import SERVED
from backends.serving.base import ModelServer
from backends.serving.mms.server import MmsServer
from backends.serving.ort.server import OrtServer
from backends.serving.triton.server import TritonServer
from definitions.errors import UserError, did_you_mean

SERVERS: dict[str, type[ModelServer]] = {"ort": OrtServer, "triton": TritonServer, "mms": MmsServer}
"""Classes by name."""


def server_class(name: str) -> type[ModelServer]:
    """Return the class of a server.

    Raises:
        UserError: there is none of this name.
    """
    if name not in SERVERS:
        raise UserError(f"server: {name}: there is no server of this name", "", did_you_mean(name, [*SERVERS]))
    return SERVERS[name]


def refusal(name: str, platform: str) -> str:
    """Return why a server cannot serve packages of a platform on this machine; empty where it can. Raises `UserError` as `server_class`."""
    found = server_class(name)
    if platform not in SERVED[name]:
        others = sorted(other for other in SERVERS if platform in SERVED[other])
        advice = f"platform {platform} is served by {' and '.join(others)}" if others else f"nothing here serves platform {platform}"
        return f"server {name} does not serve platform {platform}: {advice}"
    return found.missing()
