"""Who may talk to a server on this machine's loopback at all: no web page, under whatever name it calls us. Pure."""

from __future__ import annotations

from collections.abc import Mapping

NAMES = ("127.0.0.1", "localhost", "[::1]")
"""Names by which this machine's loopback is called; a page that rebinds its own name calls us by that."""


def refusal(headers: Mapping[str, str], port: int) -> str | None:
    """Return why a request is refused whatever it asks for; None where it may go on.

    Args:
        headers: of the request, names in lower case.
        port: that we listen on.
    """
    host = headers.get("host", "").lower()
    if host not in NAMES and host not in [f"{name}:{port}" for name in NAMES]:
        return f"the host {host[:100]!r} is not this server; it is called {NAMES[0]}:{port}"
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in [f"http://{name}:{port}" for name in NAMES]:
        return f"a page of {origin[:100]!r} may not ask this server for anything"
    if headers.get("sec-fetch-site", "none").lower() not in ("none", "same-origin"):
        return "a page of another site may not ask this server for anything"
    return None
