"""Who a request is from: signed with credentials of this run, lately, for this region and service; else the service's own refusal."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from backends.emulator.core.credentials import Credentials, Keyring
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request
from backends.emulator.http.payload import SIGNED_CHUNKS, UNSIGNED_CHUNKS, ChunkSignatures, hashed
from backends.emulator.http.signature import EMPTY_SHA256, UNSIGNED, Signature, SignatureFormError, matches, matches_v2

SKEW_S, S3_SKEW_S = 300.0, 900.0
"""How far a client's clock may be off: by AWS's documentation five minutes, S3's a quarter of an hour."""
LONGEST_S = 604_800
"""Most seconds that a signed address may be valid."""
MOST_BYTES = 64 << 20
"""Largest body that is held in memory, which is that of any request but S3's."""
_GLOBAL = frozenset({"iam", "sts", "pricing", "route53", "cloudfront", "organizations", "budgets", "ce", "support", "health"})
"""Services that are asked in us-east-1 from wherever."""
_HASH = re.compile(r"[0-9a-fA-F]{64}")
_CALCULATED = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. "
    "Consult the service documentation for details."
)


@dataclass(frozen=True)
class _Words:
    """The codes of one protocol."""

    missing: str
    unknown: str
    wrong: str
    expired: str
    malformed: str


_PROTOCOLS = {
    "json": _Words(
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "ExpiredTokenException",
        "IncompleteSignatureException",
    ),
    "query": _Words("MissingAuthenticationToken", "InvalidClientTokenId", "SignatureDoesNotMatch", "ExpiredToken", "IncompleteSignature"),
    "s3": _Words("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "AuthorizationHeaderMalformed"),
}


class Authenticator:
    """Checks requests.

    Args:
        keyring: whose credentials are accepted.
        region: that requests have to be signed for.
        now: seconds since the epoch by the machine's clock, which clients sign by.
    """

    def __init__(self, keyring: Keyring, region: str, now: Callable[[], float] = time.time) -> None:
        self._keyring, self._region, self._now = keyring, region, now

    def check(self, request: Request, protocol: str, service: str = "") -> None:
        """Let a request pass, its body held to what is signed of it.

        Args:
            request: what is asked.
            protocol: `json`, `query` or `s3`, whose error codes are answered.
            service: that it has to be signed for; empty where that is all that says which it is for.

        Raises:
            ServiceError: it is not signed, not by these credentials, not now, or not for here.
        """
        words = _PROTOCOLS[protocol]
        try:
            signature = request.signature()
        except SignatureFormError as error:
            raise ServiceError(words.malformed, str(error), 400) from None
        if signature is None:
            raise ServiceError(words.missing, "Access Denied" if protocol == "s3" else "Missing Authentication Token", 403)
        credentials = self._credentials(signature, words, protocol)
        self._check_time(signature, protocol, words)
        if signature.version == 2:
            if protocol != "s3" or not matches_v2(signature, credentials.secret_key, request.method, request.path, request.headers):
                raise ServiceError(words.wrong, _CALCULATED, 403)
            return
        self._check_scope(signature, service, protocol, words)
        key = self._keyring.signing_key(credentials, signature.scope)
        self._check_signature(request, signature, key, words, protocol == "s3")

    def _credentials(self, signature: Signature, words: _Words, protocol: str) -> Credentials:
        found = self._keyring.find(signature.access_key)
        known = found is not None and hmac.compare_digest(found[0].token.encode(), signature.token.encode())
        if protocol == "s3" and found is None:
            raise ServiceError(words.unknown, "The AWS Access Key Id you provided does not exist in our records.", 403)
        if protocol == "s3" and not known:
            raise ServiceError("InvalidToken", "The provided token is malformed or otherwise invalid.", 400)
        if found is None or not known:
            raise ServiceError(words.unknown, "The security token included in the request is invalid.", 403)
        if found[1]:
            raise ServiceError(words.expired, "The security token included in the request is expired", 400 if protocol == "s3" else 403)
        return found[0]

    def _check_time(self, signature: Signature, protocol: str, words: _Words) -> None:
        now_s = self._now()
        if signature.version == 2 or signature.expires_s is not None:
            until_s = signature.at_s if signature.version == 2 else signature.at_s + (signature.expires_s or 0)
            begins_s = now_s if signature.version == 2 else signature.at_s - S3_SKEW_S
            if not 0 < (signature.expires_s or 1) <= LONGEST_S:
                raise ServiceError(words.malformed, "X-Amz-Expires must be positive and less than a week (in seconds)", 400)
            if not begins_s <= now_s <= until_s:
                raise ServiceError("AccessDenied" if protocol == "s3" else words.wrong, "Request has expired", 403)
            return
        off_s = now_s - signature.at_s
        if protocol == "s3" and abs(off_s) > S3_SKEW_S:
            message = "The difference between the request time and the current time is too large."
            raise ServiceError("RequestTimeTooSkewed", message, 403)
        if protocol != "s3" and abs(off_s) > SKEW_S:
            shown = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_s))
            message = f"Signature expired: {signature.time} is now earlier than {shown} by more than 5 min."
            if off_s < 0:
                message = f"Signature not yet current: {signature.time} is still later than {shown} by more than 5 min."
            raise ServiceError(words.wrong, message, 403)

    def _check_scope(self, signature: Signature, service: str, protocol: str, words: _Words) -> None:
        if signature.region != self._region and not (signature.region == "us-east-1" and signature.service in _GLOBAL):
            if protocol == "s3":
                message = f"The authorization header is malformed; the region '{signature.region}' is wrong; expecting '{self._region}'"
                raise ServiceError(words.malformed, message, 400, {"Region": self._region})
            raise ServiceError(words.wrong, f"Credential should be scoped to a valid region: {self._region}.", 403)
        if service and signature.service != service:
            raise ServiceError(words.wrong, f"Credential should be scoped to correct service: '{service}'.", 403)

    def _check_signature(self, request: Request, signature: Signature, key: bytes, words: _Words, may_stream: bool) -> None:
        unsigned = [name for name in request.headers if name.startswith("x-amz-") and name not in signature.signed_headers]
        if unsigned:
            message = f"There were headers present in the request which were not signed: {', '.join(sorted(unsigned))}"
            raise ServiceError("AccessDenied" if words.missing == "AccessDenied" else words.wrong, message, 403)
        payload = request.headers.get("x-amz-content-sha256", "")
        # Only S3 takes a body that is not signed; whatever else a request says of its own, it is signed with it.
        if not payload or not may_stream:
            payload = UNSIGNED if signature.expires_s is not None and signature.service == "s3" else _digest(request)
        if not matches(signature, key, request.method, request.path, request.headers, payload):
            raise ServiceError(words.wrong, _CALCULATED, 403)
        if payload in SIGNED_CHUNKS:
            request.chunks = ChunkSignatures(signature, key, payload == SIGNED_CHUNKS[1])
        elif _HASH.fullmatch(payload):
            if payload != EMPTY_SHA256 or request.length != 0:
                request.read = hashed(request.read, payload)
        elif payload not in (UNSIGNED, UNSIGNED_CHUNKS):
            raise ServiceError(
                "InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a form of STREAMING, or a valid sha256 value."
            )


def _digest(request: Request) -> str:
    return hashlib.sha256(request.body(MOST_BYTES)).hexdigest()
