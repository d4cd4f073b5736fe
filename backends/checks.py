"""What a check before a first start says. Made by the back-ends' own checks, shown by `outrider doctor`."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass


class CheckStatus(enum.StrEnum):
    """What came of a check."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Check:
    """One check.

    Args:
        name: what was checked.
        found: what is true.
        advice: what to do; may be empty.
        refused: whether it failed because the cloud refused a call.
    """

    name: str
    verdict: CheckStatus
    found: str
    advice: str = ""
    refused: bool = False


def problems(checks: Iterable[Check]) -> list[Check]:
    """Return the checks that failed."""
    return [check for check in checks if check.verdict is CheckStatus.FAILED]
