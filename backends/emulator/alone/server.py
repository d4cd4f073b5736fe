"""S3 without the rest of the emulator: on a free port of 127.0.0.1, for who signs with the credentials that it is given."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from backends.emulator.alone.counts import ServedCounts
from backends.emulator.alone.store_faults import with_faults
from backends.emulator.core.credentials import Credentials, Keyring
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.faults.rules import FaultRule
from backends.emulator.http.authentication import Authenticator
from backends.emulator.http.messages import Request, Response
from backends.emulator.http.server import HttpServer
from backends.emulator.s3.api import S3Api
from backends.emulator.s3.store import S3Store


class S3Server:
    """Serves the buckets of a folder, from threads of this process, between `start` and `close`.

    Args:
        folder: where buckets are kept; other servers may serve it too.
        credentials: that requests have to be signed with.
        region: that it says it is in.
        poll_s: how long `close` may take, in seconds.
        faults: of the store, drawn by `seed`.
        counts: file in which it counts what it does; None for none.

    Raises:
        OSError: the folder cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        credentials: Credentials,
        region: str,
        poll_s: float = 0.05,
        faults: Sequence[FaultRule] = (),
        counts: Path | None = None,
        seed: int = 0,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.store = S3Store(folder)
        self._api, self._authenticator = S3Api(self.store, region), Authenticator(Keyring(credentials), region)
        self._injector = FaultInjector(faults, seed, time.monotonic) if faults else None
        self._counts = ServedCounts(counts) if counts is not None else None
        self._http = HttpServer(0, self._answer, poll_s, self._counts.sent if self._counts is not None else None)

    @property
    def endpoint_url(self) -> str:
        """The address that clients take as AWS_ENDPOINT_URL_S3."""
        return f"http://127.0.0.1:{self._http.port}"

    def start(self) -> None:
        """Begin to serve."""
        self._http.start()

    def wait(self) -> None:
        """Return when it no longer serves."""
        self._http.wait()

    def close(self) -> None:
        """Stop serving."""
        self._http.close()
        self.store.close()

    def _answer(self, request: Request) -> Response:
        if self._injector is None:
            return self._api.answer(request, self._authenticator)
        return with_faults(self._api, request, self._authenticator, self._injector)
