"""Whether this machine is fit to run jobs."""

from __future__ import annotations

import shutil
from pathlib import Path

from backends.checks import Check, CheckStatus
from backends.common.child_process import allowed_cores
from backends.common.cpu_quota import cpu_quota, quota_text, usable_cores
from backends.common.memory import machine_bytes
from definitions.quantities import size_text

_GIB = 1024**3
_LITTLE_DISK_BYTES = 2 * _GIB
_NO_DISK_BYTES = _GIB // 10


def this_machine(results_dir: Path) -> list[Check]:
    """Return checks of the machine that this process runs on, and of the disk that results go to."""
    folder = results_dir.expanduser().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    limited = quota_text(cpu_quota(), len(allowed_cores()))
    return machine_checks(len(usable_cores()), machine_bytes(), shutil.disk_usage(existing).free, str(folder), limited)


def machine_checks(cores: int, memory_bytes: int | None, free_bytes: int, folder: str, limited: str = "") -> list[Check]:
    """Return checks of the machine as such.

    Args:
        cores: that this process may use.
        memory_bytes: main memory; None where it is not known.
        free_bytes: on the disk of `folder`, where results go.
        folder: its path.
        limited: what takes cores away, as a sentence; empty where nothing does.
    """
    checks = [Check("cores", CheckStatus.WARNING if limited else CheckStatus.OK, f"{cores}{'; ' * bool(limited)}{limited}")]
    if memory_bytes is None:
        checks.append(Check("memory", CheckStatus.UNKNOWN, "this system does not say"))
    else:
        checks.append(Check("memory", CheckStatus.OK, size_text(memory_bytes)))
    verdict = (
        CheckStatus.FAILED if free_bytes < _NO_DISK_BYTES else CheckStatus.WARNING if free_bytes < _LITTLE_DISK_BYTES else CheckStatus.OK
    )
    advice = "" if verdict is CheckStatus.OK else "make room, or give another --results_dir"
    return [*checks, Check("disk", verdict, f"{size_text(free_bytes)} free in {folder}", advice)]
