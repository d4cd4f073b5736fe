"""The conditions of reads and writes of S3 (If-Match, If-None-Match, times): how they are read and what comes of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from backends.emulator.http.errors import ServiceError

_FAILED = "At least one of the pre-conditions you specified did not hold"
_CONFLICT = "A conflicting operation occurred during the upload of the object; try again."


@dataclass(frozen=True)
class WriteCondition:
    """What has to be so for a write to happen.

    Args:
        absent: no object has this name.
        etag: the object has this ETag, without quotes; `*` for any; empty where it does not matter.
        held_before: it was so when the upload began.
    """

    absent: bool = False
    etag: str = ""
    held_before: bool = False

    def __bool__(self) -> bool:
        """Return whether there is one at all."""
        return self.absent or bool(self.etag)

    def begun(self, etag: str | None) -> WriteCondition:
        """Return the condition for the end of an upload that begins now; raises as `check` does where it does not hold yet."""
        self.check(etag)
        return replace(self, held_before=True)

    def check(self, etag: str | None) -> None:
        """Raise a `ServiceError` unless the condition holds.

        As the service documents it: 412 where the condition does not hold; 404 where an object that has to be there is not; 409 where it
        was there when the upload began and was deleted since.

        Args:
            etag: of the object that is there now; None where there is none.
        """
        if self.absent and etag is not None:
            raise ServiceError("PreconditionFailed", _FAILED, 412)
        if self.etag and etag is None:
            if self.held_before:
                raise ServiceError("ConditionalRequestConflict", _CONFLICT, 409)
            raise ServiceError("NoSuchKey", "The specified key does not exist.", 404)
        if self.etag not in ("", "*", etag):
            raise ServiceError("PreconditionFailed", _FAILED, 412)


UNCONDITIONAL = WriteCondition()


def write_condition(headers: Mapping[str, str]) -> WriteCondition:
    """Return the condition of a write.

    Args:
        headers: of the request, by name in lower case.

    Raises:
        ServiceError: it asks for what S3 offers for no write: If-None-Match with an ETag, or both.
    """
    unwanted, wanted = headers.get("if-none-match", "").strip(), headers.get("if-match", "").strip()
    if unwanted not in ("", "*") or (unwanted and wanted):
        raise ServiceError("NotImplemented", "A header you provided implies functionality that is not implemented", 501)
    return WriteCondition(absent=unwanted == "*", etag=wanted.strip('"'))


def read_condition(headers: Mapping[str, str], etag: str, modified: float) -> int | None:
    """Return the status in place of an object that is not to be sent, None where it is.

    Where a request names ETags its times do not count (RFC 9110, section 13.2.2).

    Args:
        headers: of the request, by name in lower case.
        etag: of the object, without quotes.
        modified: when it was written, in seconds since the epoch.

    Raises:
        ServiceError: the object is another one than what was asked for (412).
    """
    wanted, unwanted = headers.get("if-match"), headers.get("if-none-match")
    until, since = _time(headers.get("if-unmodified-since")), _time(headers.get("if-modified-since"))
    if wanted and wanted != "*" and etag not in [tag.strip(' "') for tag in wanted.split(",")]:
        raise ServiceError("PreconditionFailed", _FAILED, 412)
    if not wanted and until is not None and int(modified) > until:
        raise ServiceError("PreconditionFailed", _FAILED, 412)
    if unwanted:
        return 304 if unwanted == "*" or etag in [tag.strip(' "') for tag in unwanted.split(",")] else None
    return 304 if since is not None and int(modified) <= since else None


def _time(text: str | None) -> float | None:
    """Return a header's time in seconds since the epoch; None where it is none, which does not count."""
    try:
        return None if text is None else parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
