"""The GPUs of this machine, by the names that jobs are told them by."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""Variables that hide GPUs; AMD's runtime reads the first where the second is not set."""

_TOOL_S = 20.0


def gpu_ids(environment: Mapping[str, str], root: Path = Path("/")) -> tuple[str, ...]:
    """Return what the GPUs of this machine are called in `CUDA_VISIBLE_DEVICES`; asks the driver, so it may take a second.

    Args:
        environment: of this process, which may hide some.
        root: where the file system begins.
    """
    visible = next((environment[name] for name in VISIBLE if name in environment), None)
    if visible is not None:
        names = [name.strip() for name in visible.split(",")]
        return tuple(itertools.takewhile(lambda name: name and not name.startswith("-"), names))
    listed = _listed_by_tool()
    # A container may have the devices and not the tool.
    count = listed if listed is not None else _nvidia_devices(root) or _amd_devices(root)
    return tuple(map(str, range(count)))


def visible_variables(environment: Mapping[str, str], gpus: str) -> dict[str, str]:
    """Return the variables that let a job see its GPUs and no others.

    Args:
        environment: that it would inherit.
        gpus: names, with commas between them; empty for none.
    """
    return {name: gpus for name in VISIBLE if name == VISIBLE[0] or name in environment}


def _listed_by_tool() -> int | None:
    """Return how many GPUs NVIDIA's tool lists; None where there is no such tool."""
    if shutil.which("nvidia-smi") is None:
        return None
    try:
        listed = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, encoding="utf-8", errors="replace", timeout=_TOOL_S, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in listed.splitlines())


def _nvidia_devices(root: Path) -> int:
    return sum(re.fullmatch(r"nvidia\d+", path.name) is not None for path in (root / "dev").glob("nvidia*"))


def _amd_devices(root: Path) -> int:
    """Return how many GPUs AMD's driver knows; its other nodes are processors, whose number is 0."""
    if not (root / "dev" / "kfd").exists():
        return 0
    found = 0
    for path in (root / "sys/class/kfd/kfd/topology/nodes").glob("*/gpu_id"):
        try:
            found += path.read_text(encoding="utf-8").strip() not in ("", "0")
        except OSError:
            continue  # a device that this container was not given
    return found
