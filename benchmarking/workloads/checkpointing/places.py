"""Where a job's checkpoints go: a folder with room for them, or a prefix in an object store."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from .kinds import CheckpointKind

KEPT_AT_ONCE = 2
"""Checkpoints that a place holds at most: the last one stays until the next is whole."""


def unsynced(folder: Path | None) -> Path | None:
    """Return a trial's folder for checkpoints, or None where a platform copies what is in it to an object store meanwhile.

    What is written there to be measured would be uploaded and billed, and read by somebody else while its pages are evicted.

    Args:
        folder: as `outrider_report.checkpoint_dir` returns it.
    """
    return None if folder is not None and folder.is_relative_to("/opt/ml") else folder


def place_of(kind: CheckpointKind, to: str, environ: Mapping[str, str], folder: Path | None) -> str:
    """Return where checkpoints of a job go, a path or an `s3://` prefix of its own.

    Args:
        kind: of the checkpoints.
        to: as the user asked for; empty where nothing was asked for.
        environ: of the job: OUTRIDER_CHECKPOINT_S3, OUTRIDER_JOB, OUTRIDER_ATTEMPT, OUTRIDER_SCRATCH.
        folder: where the trial keeps its checkpoints, if it keeps any.

    Raises:
        SystemExit: nobody says which bucket.
    """
    job = environ.get("OUTRIDER_JOB") or f"process-{os.getppid() if environ.get('RANK') else os.getpid()}"
    if kind.in_s3:
        prefix = to or environ.get("OUTRIDER_CHECKPOINT_S3", "")
        if not prefix.removeprefix("s3://"):
            raise SystemExit(f"checkpoint {kind.name} needs a bucket: give checkpoint_to=s3://BUCKET/PREFIX, or OUTRIDER_CHECKPOINT_S3")
        return f"{prefix.rstrip('/')}/{job}"
    if to:
        return str(Path(to) / job)
    if folder is not None:
        return str(folder / "measured")
    return str(Path(environ.get("OUTRIDER_SCRATCH") or tempfile.gettempdir()) / f"outrider-checkpoints-{job}")


def disk_problem(folder: Path, size_bytes: int, kind: str) -> str | None:
    """Return why a disk is too small for checkpoints, or None where it is not.

    Args:
        folder: where they go; what is missing of it is made later.
        size_bytes: of one.
        kind: of the checkpoints.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    needed, free = KEPT_AT_ONCE * size_bytes, shutil.disk_usage(there).free
    if needed <= free:
        return None
    return (
        f"checkpoint {kind}: the last stays until the next is whole, so {KEPT_AT_ONCE} x {size_bytes / 1e9:.3g} GB are needed, "
        f"and {there} has {free / 1e9:.3g} GB left; use a larger disk (checkpoint_to), a smaller model or checkpoint_scale, or an s3 kind"
    )
