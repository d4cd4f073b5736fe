"""Where an experiment ran: code, data, packages, hardware, load, prices. For environment.json, without names of people or machines."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from backends.common.cpu_quota import cpu_quota
from definitions import strict_json
from definitions.instance_tables import load_tables

SCHEMA_VERSION = 1
RECORDED_SUFFIX = ".git.json"
"""Of a file beside a source folder that was sent here, with what git said of it where it came from."""
_COMMIT, _NO_COMMIT = "# branch.oid ", "(initial)"


def describe_environment(source_dir: Path, environ: Mapping[str, str], data: str | None = None) -> dict[str, Any]:
    """Return a JSON-able description of the surroundings of an experiment.

    Args:
        source_dir: folder of the script, whose git commit is noted.
        environ: the controller's environment.
        data: which data its jobs read, see `data_version`; None where that is not known.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cpu_quota": cpu_quota(),
        "load_average": _load_average(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "cuda_visible_devices": environ.get("CUDA_VISIBLE_DEVICES"),
        "git": _git(source_dir),
        "data": data,
        "packages": _packages(),
        "prices_as_of": max((price.date for price in load_tables().prices.values()), default=None),
    }


def _packages() -> Mapping[str, str]:
    """Return the version of each installed distribution; those of a process' many experiments are read once, until one is (un)installed."""
    folders = [Path(place or ".") for place in sys.path]
    return _installed(tuple((str(folder), folder.stat().st_mtime_ns) for folder in folders if folder.is_dir()))


@lru_cache(maxsize=1)
def _installed(folders: tuple[tuple[str, int], ...]) -> Mapping[str, str]:
    """Return them; `folders` are those where packages lie, with the times at which something was added to or removed from them."""
    found: dict[str, str] = {}
    for distribution in distributions():
        # Only the head of its metadata, which is most of the cost.
        head = (distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or "").partition("\n\n")[0]
        fields = dict(line.split(": ", 1) for line in head.splitlines() if line.startswith(("Name: ", "Version: ")))
        if "Name" in fields:
            found[fields["Name"]] = fields.get("Version", "")
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _load_average() -> float | None:
    """Return how many processes of this machine wanted to run, on average of the last minute; None where the system does not count them."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    # Asked only where the file does not say, as that starts a process.
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "") or platform.processor()


def _git(folder: Path) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError):
        recorded: dict[str, Any] = strict_json.loads(folder.with_name(folder.name + RECORDED_SUFFIX).read_text(encoding="utf-8"))
        return recorded
    # One call says both: a head with the commit, then a line for each file that differs from it.
    words = ["status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=no"]
    try:
        said = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, encoding="utf-8", errors="replace", timeout=10, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return None
    commit = next((line.removeprefix(_COMMIT) for line in said if line.startswith(_COMMIT)), _NO_COMMIT)
    return None if commit == _NO_COMMIT else {"commit": commit, "dirty": any(not line.startswith("#") for line in said)}
