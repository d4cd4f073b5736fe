"""Leaves the reason of a job's failure where the service takes it from. Python 3.6 parses this file."""

import sys
from pathlib import Path


def leave_failure(folder: str, why: str) -> None:
    """Write why the job fails where the service takes it from; `folder` is its output folder, empty where that is not known."""
    try:
        path = Path(folder or "/opt/ml/output")
        path.mkdir(exist_ok=True)
        (path / "failure").write_text(why[:1000], encoding="utf-8")
    except OSError as error:
        sys.stderr.write("the reason could not be left for the service: " + str(error) + "\n")
