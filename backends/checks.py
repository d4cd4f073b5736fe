"""What is checked before a first start, and what a check says. Made by the back-ends' own checks, shown by `outrider doctor`."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from definitions.parts import Overrides
from definitions.schema import BenchmarkDefinition


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
class CheckRequest:
    """What a back-end is asked to look at before a first start.

    Args:
        environ: the controller's environment.
        results_dir: folder of all results.
        definition: resolved for this back-end; None to check the machine or account alone.
        instance_types: that its configurations can ask for.
        region, role, controller_role: in place of the definition's: of jobs, that jobs run as, of jobs that run a study; None for its own.
        block: the back-end's options, as the definition or flags alone say them; None where nobody says any.
    """

    environ: Mapping[str, str]
    results_dir: Path
    definition: BenchmarkDefinition | None = None
    instance_types: tuple[str, ...] = ()
    region: str | None = None
    role: str | None = None
    controller_role: str | None = None
    block: Overrides | None = None


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
