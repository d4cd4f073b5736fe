"""Bodies that are held to what was signed of them, while they are read: as a whole, or chunk by chunk."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from backends.emulator.http.errors import ServiceError
from backends.emulator.http.signature import ALGORITHM, EMPTY_SHA256, Signature, sign

SIGNED_CHUNKS = ("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER")
UNSIGNED_CHUNKS = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


def hashed(read: Callable[[int], bytes], expected: str) -> Callable[[int], bytes]:
    """Return a function that reads the same and raises `ServiceError` at the end of a body that has another hash.

    Args:
        read: returns up to so many bytes of the body, none at its end.
        expected: SHA-256 of the whole in hexadecimal.
    """
    digest = hashlib.sha256()

    def checked(most: int) -> bytes:
        block = read(most)
        if block:
            digest.update(block)
        elif not hmac.compare_digest(digest.hexdigest(), expected.lower()):
            raise ServiceError("XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.")
        return block

    return checked


class ChunkSignatures:
    """The signatures of a body's chunks, each of which holds the one before (S3 API reference, "Transferring payload in multiple chunks").

    Args:
        signature: of the request, with which the chain begins.
        key: derived for its scope.
        trailer: whether fields follow the last chunk, and a signature of these.
    """

    def __init__(self, signature: Signature, key: bytes, trailer: bool) -> None:
        self._time, self._scope, self._key, self._last = signature.time, signature.scope, key, signature.value
        self.trailer = trailer

    def check(self, given: str, digest: str) -> None:
        """Check a chunk's signature; raises `ServiceError`.

        Args:
            given: with the chunk.
            digest: SHA-256 of its content in hexadecimal.
        """
        self._check(given, f"{ALGORITHM}-PAYLOAD\n{self._time}\n{self._scope}\n{self._last}\n{EMPTY_SHA256}\n{digest}")

    def check_trailer(self, given: str, fields: str) -> None:
        """Check the signature of the fields at the end, given as lines `name:value`; raises `ServiceError`."""
        digest = hashlib.sha256(fields.encode("latin-1")).hexdigest()
        self._check(given, f"{ALGORITHM}-TRAILER\n{self._time}\n{self._scope}\n{self._last}\n{digest}")

    def _check(self, given: str, text: str) -> None:
        expected = sign(self._key, text)
        if not hmac.compare_digest(expected.encode(), given.encode()):
            raise ServiceError("SignatureDoesNotMatch", "The signature of a chunk of the body does not match the one we calculated.", 403)
        self._last = expected
