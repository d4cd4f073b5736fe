"""How many trials of a run are finished, by its journals on this machine."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.sqlite_journal import latest_records
from definitions.errors import UserError

_GOES_ON = frozenset({str(TrialStatus.WAITING), str(TrialStatus.INTERRUPTED)})


def finished_trials(tag_folder: Path) -> int:
    """Return the number of trials that came to an end of some kind; a journal that cannot be read has none."""
    found = 0
    for path in sorted(tag_folder.glob("*/*/journal.sqlite")):
        with contextlib.suppress(UserError):
            found += sum(record.body["status"] not in _GOES_ON for record in latest_records(path, "settle", sys.maxsize))
    return found
