"""What draws in the browser, packed into the page; it comes with the Python package plotly."""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DrawingLibrary:
    """plotly.js as the page holds it.

    Args:
        packed: the script, compressed by gzip, in base64.
        checksum: SHA-256 of the script in base64, by which the page's policy lets it run.
    """

    packed: str
    checksum: str


def drawing_library() -> DrawingLibrary | None:
    """Return what draws figures; None where the package plotly is not installed."""
    found = importlib.util.find_spec("plotly")
    places = found.submodule_search_locations if found is not None else None
    path = Path(places[0]) / "package_data" / "plotly.min.js" if places else None
    if path is None or not path.is_file():
        return None
    script = path.read_bytes()
    # Equal input gives an equal page, so no time stands in the archive. A higher level takes twice as long, and makes it 1 % smaller.
    return DrawingLibrary(base64.b64encode(gzip.compress(script, 5, mtime=0)).decode("ascii"), script_checksum(script))


def script_checksum(script: bytes) -> str:
    """Return the SHA-256 of an inline script in base64, as a Content-Security-Policy names it."""
    return base64.b64encode(hashlib.sha256(script).digest()).decode("ascii")
