"""Whether this machine has what a definition asks for. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from backends.checks import Check, CheckStatus

_GIB = 1024**3
_LITTLE_DISK_BYTES = 2 * _GIB
_NO_DISK_BYTES = _GIB // 10


def machine_checks(cores: int, memory_bytes: int | None, free_bytes: int, folder: str) -> list[Check]:
    """Return checks of the machine as such.

    Args:
        cores: that this process may use.
        memory_bytes: main memory; None where it is not known.
        free_bytes: on the disk of `folder`, where results go.
        folder: its path.
    """
    checks = [Check("cores", CheckStatus.OK, f"{cores}")]
    if memory_bytes is None:
        checks.append(Check("memory", CheckStatus.UNKNOWN, "this system does not say"))
    else:
        checks.append(Check("memory", CheckStatus.OK, f"{memory_bytes / _GIB:.1f} GiB"))
    verdict = (
        CheckStatus.FAILED if free_bytes < _NO_DISK_BYTES else CheckStatus.WARNING if free_bytes < _LITTLE_DISK_BYTES else CheckStatus.OK
    )
    advice = "" if verdict is CheckStatus.OK else "make room, or give another --results_dir"
    return [*checks, Check("disk", verdict, f"{free_bytes / _GIB:.1f} GiB free in {folder}", advice)]


def share_checks(rooms: Mapping[str, int | str], n_workers: int | None) -> list[Check]:
    """Return a check for each instance type.

    Args:
        rooms: how many jobs of a type fit at once, or why the type cannot be.
        n_workers: trials at once, as asked for; None for what fits.
    """
    checks = []
    for name, room in rooms.items():
        title = f"instance type {name}"
        if isinstance(room, str):
            checks.append(Check(title, CheckStatus.FAILED, room, "local shares look like local.2cpu or local.4cpu.1gpu.8gib"))
        elif room < 1:
            checks.append(Check(title, CheckStatus.FAILED, "this machine has no room for one", "ask for less, or run it elsewhere"))
        elif n_workers is not None and room < n_workers:
            checks.append(Check(title, CheckStatus.WARNING, f"{room} fit at once, {n_workers} are asked for", "the others wait"))
        else:
            checks.append(Check(title, CheckStatus.OK, f"{room} fit{'s' if room == 1 else ''} at once"))
    return checks
