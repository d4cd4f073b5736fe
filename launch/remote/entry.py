"""What a controller's job runs: says in a sentence where its Python is too old, and becomes the supervisor. Python 3.6 parses this file."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]  # not resolved, as a link must not lead out of the job's own folders
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from launch.python_version import too_old  # noqa: E402
from launch.remote.failure import leave_failure  # noqa: E402


def main(arguments: "list[str]") -> int:
    """Run a controller and return the job's exit code."""
    problem = too_old(sys.version_info[:3])
    if problem is None:
        from launch.few_collections import few_collections

        with few_collections():
            from launch.remote.in_job import run_controller

            return run_controller(arguments, os.environ, ROOT)
    sentence = problem + ", which is that of the controllers' image: give another one, remote.image"
    sys.stderr.write(sentence + "\n")
    leave_failure(os.environ.get("SM_OUTPUT_DIR", ""), sentence)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
