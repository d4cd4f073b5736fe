"""What is looked at on a node; it travels there by value, so it needs the standard library alone."""

from __future__ import annotations

import shutil
import tempfile


def free_bytes() -> int:
    """Return the bytes that are free where the node keeps what jobs write."""
    return shutil.disk_usage(tempfile.gettempdir()).free
