"""AWS's signatures as botocore makes them: version 4 in headers and addresses, version 2 in addresses of S3. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
from calendar import timegm
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_tz
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
EMPTY_SHA256 = hashlib.sha256().hexdigest()
_V2_WORDS = """accelerate acl analytics cors defaultObjectAcl delete inventory lifecycle location logging metrics notification object-lock
    partNumber policy replication requestPayment response-cache-control response-content-disposition response-content-encoding
    response-content-language response-content-type response-expires restore select select-type storageClass tagging torrent uploadId
    uploads versionId versioning versions website"""
_V2_PARTS = frozenset(_V2_WORDS.split())
"""Parts of a query that version 2 signs."""


class SignatureFormError(Exception):
    """What a request names as its signature has not the form of one."""


@dataclass(frozen=True)
class Signature:
    """What a request says about how it is signed.

    Args:
        version: 4 or 2.
        scope: of version 4: `<date>/<region>/<service>/aws4_request`.
        signed_headers: names in lower case.
        time: as it is signed, e.g. `20130524T000000Z`; `at_s`: the same, or the end of validity in version 2, in seconds since the epoch.
        expires_s: how long a signed address is valid, in seconds; None for a signed request.
    """

    version: int
    access_key: str
    value: str
    scope: str = ""
    signed_headers: tuple[str, ...] = ()
    time: str = ""
    at_s: float = 0.0
    expires_s: int | None = None
    token: str = ""

    @property
    def region(self) -> str:
        """The region that it is made for; empty in version 2."""
        return self.scope.split("/")[1] if self.scope else ""

    @property
    def service(self) -> str:
        """The service that it is made for."""
        return self.scope.split("/")[2] if self.scope else "s3"


def signature_of(path: str, headers: Mapping[str, str]) -> Signature | None:
    """Return how a request is signed; None where it is not.

    Args:
        path: with its query, as it was sent.
        headers: names in lower case.

    Raises:
        SignatureFormError: it names a signature that has not the form of one.
    """
    header = headers.get("authorization", "")
    if header.startswith(ALGORITHM):
        words = (part.strip().partition("=") for part in header[len(ALGORITHM) :].split(","))
        given = {name: value for name, _, value in words}
        return _version_4(given, _time_of(headers), headers.get("x-amz-security-token", ""), None)
    if header:
        raise SignatureFormError(f"The authorization mechanism you have provided is not supported. Please use {ALGORITHM}.")
    query = path.partition("?")[2]
    if "X-Amz-Signature=" in query:
        named = dict(parse_qsl(query, keep_blank_values=True))
        if named.get("X-Amz-Algorithm") != ALGORITHM or not named.get("X-Amz-Expires", "").isdecimal():
            raise SignatureFormError("Query-string authentication version 4 requires the X-Amz-Algorithm and X-Amz-Expires parameters.")
        given = {name: named.get(f"X-Amz-{name}", "") for name in ("Credential", "SignedHeaders", "Signature")}
        return _version_4(given, named.get("X-Amz-Date", ""), named.get("X-Amz-Security-Token", ""), int(named["X-Amz-Expires"]))
    if "Signature=" in query and "AWSAccessKeyId=" in query:
        named = dict(parse_qsl(query, keep_blank_values=True))
        until = named.get("Expires", "")
        if not until.isdecimal() or len(until) > 12:
            raise SignatureFormError("Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters.")
        return Signature(
            2, named["AWSAccessKeyId"], named["Signature"], time=until, at_s=float(until), token=named.get("x-amz-security-token", "")
        )
    return None


def matches(signature: Signature, key: bytes, method: str, path: str, headers: Mapping[str, str], payload: str) -> bool:
    """Return whether a request's signature of version 4 is the one that its content and a key make.

    Args:
        signature: of the request.
        key: derived for its scope.
        method: of the request.
        path: with its query as it was sent.
        headers: names in lower case.
        payload: hash of the body, or the word that stands for it.
    """
    found = False
    sent, _, query = path.partition("?")
    canonical_query = _canonical_query(query)
    fields = "".join(f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in signature.signed_headers)
    for place in _canonical_paths(sent, signature.service):
        canonical = f"{method}\n{place}\n{canonical_query}\n{fields}\n{';'.join(signature.signed_headers)}\n{payload}"
        digest = hashlib.sha256(canonical.encode("latin-1")).hexdigest()  # as headers come in
        expected = sign(key, f"{ALGORITHM}\n{signature.time}\n{signature.scope}\n{digest}")
        found |= hmac.compare_digest(expected.encode(), signature.value.encode())
    return found


def matches_v2(signature: Signature, secret_key: str, method: str, path: str, headers: Mapping[str, str]) -> bool:
    """Return whether a signed address of S3 is the one that a secret makes (S3 developer guide, "Query string request authentication")."""
    sent, _, query = path.partition("?")
    parts = [pair.partition("=") for pair in query.split("&")]
    # botocore moves headers into the address, and real ones may come on top.
    given = {name.lower(): unquote(value) for name, _, value in parts}
    fields = {**given, **headers}
    custom = "".join(f"{name}:{fields[name].strip()}\n" for name in sorted(fields) if name.startswith("x-amz-"))
    signed = sorted((name, equals, unquote(value)) for name, equals, value in parts if name in _V2_PARTS)
    resource = sent + ("?" if signed else "") + "&".join("".join(part) for part in signed)
    text = f"{method}\n{fields.get('content-md5', '')}\n{fields.get('content-type', '')}\n{signature.time}\n{custom}{resource}"
    expected = base64.b64encode(hmac.new(secret_key.encode(), text.encode(), hashlib.sha1).digest())
    return hmac.compare_digest(expected, signature.value.encode())


def sign(key: bytes, text: str) -> str:
    """Return the signature of a text."""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _version_4(given: Mapping[str, str], time: str, token: str, expires_s: int | None) -> Signature:
    scope = given.get("Credential", "").split("/")
    headers = tuple(given.get("SignedHeaders", "").split(";"))
    if len(scope) != 5 or scope[4] != "aws4_request" or not given.get("Signature") or "host" not in headers:
        raise SignatureFormError(
            "Authorization header requires 'Credential' (with a five-element scope), 'SignedHeaders' (with host) and 'Signature'."
        )
    at_s = _seconds(time)
    if not time.startswith(scope[1]):
        raise SignatureFormError(f"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: {scope[1]}")
    return Signature(4, scope[0], given["Signature"], "/".join(scope[1:]), headers, time, at_s, expires_s, token)


def _time_of(headers: Mapping[str, str]) -> str:
    if "x-amz-date" in headers:
        return headers["x-amz-date"]
    given = parsedate_tz(headers.get("date", ""))
    return "" if given is None else "{:04}{:02}{:02}T{:02}{:02}{:02}Z".format(*given[:6])


def _seconds(time: str) -> float:
    digits = time[:8] + time[9:15]
    if len(time) != 16 or time[8] != "T" or time[15] != "Z" or not (digits.isascii() and digits.isdecimal()):
        raise SignatureFormError("Date must be in ISO-8601 'basic format', such as 20130524T000000Z.")
    try:
        return float(timegm((int(time[:4]), int(time[4:6]), int(time[6:8]), int(time[9:11]), int(time[11:13]), int(time[13:15]))))
    except ValueError:
        raise SignatureFormError(f"Date is none: {time}") from None


def _canonical_query(query: str) -> str:
    if not query:
        return ""
    pairs = (pair.partition("=") for pair in query.split("&") if not pair.startswith("X-Amz-Signature="))
    # Decoded and encoded anew, as clients differ in what they encode where they need not, and in how they write a blank.
    named = sorted((quote(unquote_plus(name), safe="-_.~"), quote(unquote_plus(value), safe="-_.~")) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in named)


def _canonical_paths(path: str, service: str) -> Sequence[str]:
    """Return the forms of a path that clients sign: S3's as it was sent, or encoded by the rules; others' encoded once more."""
    if service.startswith("s3"):
        encoded = quote(unquote(path), safe="-_.~/")
        return (path,) if encoded == path else (path, encoded)
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part and part != ".":
            kept.append(part)
    whole = "/" + "/".join(kept) + ("/" if kept and path.endswith("/") else "")
    return (quote(whole, safe="/~"),)
