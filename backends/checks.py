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


@dataclass(frozen=True)
class PermissionDocument:
    """A policy or template as text; `remark` is what a person should know beside it, or empty."""

    text: str
    remark: str = ""


def problems(checks: Iterable[Check]) -> list[Check]:
    """Return the checks that failed."""
    return [check for check in checks if check.verdict is CheckStatus.FAILED]


def capacity_checks(capacities: Mapping[str, int | str], n_workers: int | None) -> list[Check]:
    """Return a check for each instance type.

    Args:
        capacities: how many jobs of a type fit at once, or why the type cannot be.
        n_workers: trials at once, as asked for; None for what fits.
    """
    checks = []
    for name, capacity in capacities.items():
        title = f"instance type {name}"
        if isinstance(capacity, str):
            checks.append(Check(title, CheckStatus.FAILED, capacity, "give another instance_type"))
        elif capacity < 1:
            checks.append(Check(title, CheckStatus.FAILED, "there is no room for one", "ask for less, or run it elsewhere"))
        elif n_workers is not None and capacity < n_workers:
            checks.append(Check(title, CheckStatus.WARNING, f"{capacity} fit at once, {n_workers} are asked for", "the others wait"))
        else:
            checks.append(Check(title, CheckStatus.OK, f"{capacity} fit{'s' if capacity == 1 else ''} at once"))
    return checks
