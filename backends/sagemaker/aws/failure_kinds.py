"""What the trouble of a call means for the loop, finer than `refusals`: quota, capacity, a name in use. Pure; used by `calls`."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from backends.sagemaker.aws import errors as refusals
from backends.sagemaker.aws.errors import CloudError, Refusal, masked, refusal_of


class Kind(enum.StrEnum):
    """Kinds of trouble, by what the loop does about them."""

    THROTTLED = "throttled"
    QUOTA = "quota"
    CAPACITY = "capacity"
    CREDENTIALS = "credentials"
    EXISTS = "exists"
    MISSING = "missing"
    OVER = "over"
    REFUSED = "refused"
    SERVICE = "service"


PASSING = (Kind.THROTTLED, Kind.CREDENTIALS, Kind.SERVICE)
"""Kinds that pass by themselves, so that the same call is made again later."""


@dataclass(frozen=True)
class Trouble:
    """One failed call.

    Args:
        kind: what to do about it.
        message: one line for people, without account ids.
        quota: name of the quota that was reached, `limit`: its value; empty and None where the message does not tell.
        refusal: the same in a person's words.
    """

    kind: Kind
    message: str
    quota: str = ""
    limit: int | None = None
    refusal: Refusal | None = None


_QUOTA = re.compile(r"'([^']{1,200})' is (\d+)")
_OVER = re.compile(r"status|terminal|cannot be (?:stopped|updated)", re.IGNORECASE)
_KINDS = {
    refusals.Kind.CREDENTIALS: Kind.CREDENTIALS,
    refusals.Kind.UNREACHABLE: Kind.SERVICE,
    refusals.Kind.MISSING: Kind.MISSING,
    refusals.Kind.THROTTLED: Kind.THROTTLED,
    refusals.Kind.SERVICE: Kind.SERVICE,
}


def trouble_of(error: Exception) -> Trouble | None:
    """Return what an error that a boto3 call raised means; None where it is no trouble of AWS's but a fault of ours."""
    refusal = error.refusal if isinstance(error, CloudError) else refusal_of(error)
    if refusal is None:
        return None
    message = one_line(str(refusal))
    low = refusal.code.lower()
    if low.startswith("resourcelimitexceeded"):
        found = _QUOTA.search(refusal.message)
        return Trouble(Kind.QUOTA, message, found[1] if found else "", int(found[2]) if found else None, refusal)
    if "capacity" in low or ("capacity" in refusal.message.lower() and "insufficient" in refusal.message.lower()):
        return Trouble(Kind.CAPACITY, message, refusal=refusal)
    if low.startswith("resourceinuse"):
        return Trouble(Kind.EXISTS, message, refusal=refusal)
    kind = _KINDS.get(refusal.kind, Kind.REFUSED)
    if kind is Kind.REFUSED and low == "validationexception" and _OVER.search(refusal.message):
        kind = Kind.OVER
    return Trouble(kind, message, refusal=refusal)


def one_line(text: str, most: int = 500) -> str:
    """Return a text on one line, cut, without account ids and keys."""
    found = masked(" ".join(text.split()))
    return found if len(found) <= most else found[: most - 4] + " ..."
