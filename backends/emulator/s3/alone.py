"""S3 without the rest of the emulator: on a free port of 127.0.0.1, for who signs with the credentials that it is given."""

from __future__ import annotations

from pathlib import Path

from backends.emulator.core.credentials import Credentials, Keyring
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

    Raises:
        OSError: the folder cannot be written.
    """

    def __init__(self, folder: Path, credentials: Credentials, region: str, poll_s: float = 0.05) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.store = S3Store(folder)
        self._api, self._authenticator = S3Api(self.store, region), Authenticator(Keyring(credentials), region)
        self._http = HttpServer(0, self._answer, poll_s)

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
        return self._api.answer(request, self._authenticator)
