"""Where results are, unless it is said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def default_results_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of results where none is given."""
    return Path(environ.get("OUTRIDER_RESULTS") or "results")


def results_words(results_dir: Path) -> list[str]:
    """Return what a command that is printed needs to find a folder of results; nothing where it is the usual one."""
    return [] if results_dir == default_results_dir() else ["--results_dir", str(results_dir)]
