"""The folder in which all experiments of a user on this machine leave what they must agree on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def leases_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder: `OUTRIDER_LEASES` where it is set, else one per user among the temporary files."""
    named = environment.get("OUTRIDER_LEASES")
    return Path(named) if named else Path(tempfile.gettempdir()) / f"outrider-leases-{os.getuid()}"
