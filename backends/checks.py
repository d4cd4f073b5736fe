"""What a check before a first start says. Made by the back-ends' own checks, shown by `outrider doctor`."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
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


def room_checks(rooms: Mapping[str, int | str], n_workers: int | None) -> list[Check]:
    """Return a check for each instance type.

    Args:
        rooms: how many jobs of a type fit at once, or why the type cannot be.
        n_workers: trials at once, as asked for; None for what fits.
    """
    checks = []
    for name, room in rooms.items():
        title = f"instance type {name}"
        if isinstance(room, str):
            checks.append(Check(title, CheckStatus.FAILED, room, "give another instance_type"))
        elif room < 1:
            checks.append(Check(title, CheckStatus.FAILED, "there is no room for one", "ask for less, or run it elsewhere"))
        elif n_workers is not None and room < n_workers:
            checks.append(Check(title, CheckStatus.WARNING, f"{room} fit at once, {n_workers} are asked for", "the others wait"))
        else:
            checks.append(Check(title, CheckStatus.OK, f"{room} fit{'s' if room == 1 else ''} at once"))
    return checks
