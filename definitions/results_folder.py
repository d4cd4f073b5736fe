"""Where results are, unless it is said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def default_results_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of results where none is given."""
    return Path(environ.get("OUTRIDER_RESULTS") or "results")
