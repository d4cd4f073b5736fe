"""What a load leaves: a file for each probe or stage, with its counts whole, so that percentiles of any of them together are exact."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .tally import LoadTally

SCHEMA_VERSION = 1
FOLDER = "load"


class LoadFiles:
    """Writes the files of one job; a disk that is full costs the file alone.

    Args:
        folder: for them; None where they are not wanted.
        told: of the endpoint and the load, in each file.
    """

    def __init__(self, folder: Path | None, told: Mapping[str, Any]) -> None:
        self._folder, self._told, self._number = folder, told, 0
        # The wall clock is read once: whoever sets it meanwhile moves nothing.
        self._began = (time.time(), time.monotonic())

    @classmethod
    def of_job(cls, environ: Mapping[str, str], told: Mapping[str, Any]) -> LoadFiles:
        """Return the files of a job: below SM_OUTPUT_DATA_DIR, where there is such a folder. Those of an earlier incarnation stay."""
        output = environ.get("SM_OUTPUT_DATA_DIR")
        made = cls(Path(output) / FOLDER if output else None, told)
        if made._folder is not None and made._folder.is_dir():
            made._number = len(list(made._folder.glob("part-*.json")))
        return made

    def write(self, kind: str, what: Mapping[str, Any], figures: Mapping[str, Any], tally: LoadTally) -> None:
        """Write one part of a load.

        Args:
            kind: `open`, `probe` or `stage`.
            what: its rate or users, verdict, seconds.
            figures: as reported.
            tally: counts.
        """
        if self._folder is None:
            return
        self._number += 1
        wall_s, monotonic_s = self._began
        ended_s = wall_s + time.monotonic() - monotonic_s
        held = {"schema_version": SCHEMA_VERSION, "kind": kind, "number": self._number, "ended_at": round(ended_s, 3)}
        held |= {**self._told, **_finite(what)}
        text = json.dumps({**held, "figures": _finite(figures), "counts": tally.as_dict()}, allow_nan=False)
        path = self._folder / f"part-{self._number:04d}.json"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            whole = path.with_suffix(".tmp")
            whole.write_text(text, encoding="utf-8")
            whole.replace(path)
        except OSError:
            return


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in values.items()}
