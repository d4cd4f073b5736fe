"""Access keys of one run: drawn anew for each, known to nobody who was not told them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_SIGNING_KEYS = 64
_TEMPORARY = 1000


@dataclass(frozen=True)
class Credentials:
    """An access key with its secret.

    Args:
        token: session token of temporary ones; empty for those of a run.
    """

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(default="", repr=False)

    @classmethod
    def drawn(cls, temporary: bool = False) -> Credentials:
        """Return random credentials in AWS's form: 80 bits of name, 240 bits of secret."""
        name = base64.b32encode(secrets.token_bytes(10)).decode()
        secret = base64.b64encode(secrets.token_bytes(30)).decode()
        return cls(f"ASIA{name}" if temporary else f"AKIA{name}", secret, secrets.token_urlsafe(30) if temporary else "")


class Keyring:
    """The credentials that a server accepts: its run's, and temporary ones that were issued to whoever had those.

    Args:
        own: of the run.
        now: seconds since the epoch, by the machine's clock.
    """

    def __init__(self, own: Credentials, now: Callable[[], float] = time.time) -> None:
        self.own, self._now = own, now
        self._issued: dict[str, tuple[Credentials, float]] = {}
        self._signing: dict[tuple[str, str], bytes] = {}
        self._lock = threading.Lock()

    def issue(self, duration_s: float) -> Credentials:
        """Return new temporary credentials."""
        made = Credentials.drawn(temporary=True)
        with self._lock:
            self._issued = {name: one for name, one in self._issued.items() if one[1] > self._now()}
            while len(self._issued) >= _TEMPORARY:
                del self._issued[next(iter(self._issued))]
            self._issued[made.access_key] = made, self._now() + duration_s
        return made

    def find(self, access_key: str) -> tuple[Credentials, bool] | None:
        """Return the credentials of an access key and whether they have expired; None where they are none of ours."""
        if hmac.compare_digest(access_key.encode(), self.own.access_key.encode()):
            return self.own, False
        issued = self._issued.get(access_key)
        return None if issued is None else (issued[0], issued[1] <= self._now())

    def signing_key(self, credentials: Credentials, scope: str) -> bytes:
        """Return the key that SigV4 derives for a scope, kept for the next request of the same day, region and service.

        Args:
            credentials: whose secret it is derived from.
            scope: `<date>/<region>/<service>/aws4_request`.
        """
        known = self._signing.get((credentials.access_key, scope))
        if known is None:
            known = derive(credentials.secret_key, scope)
            with self._lock:
                while len(self._signing) >= _SIGNING_KEYS:
                    del self._signing[next(iter(self._signing))]
                self._signing[credentials.access_key, scope] = known
        return known


def derive(secret_key: str, scope: str) -> bytes:
    """Return the signing key of a scope (AWS General Reference, "Derive a signing key for Signature Version 4")."""
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
