"""Puts load on an inference endpoint and reports what it carries. The script of the benchmarks that serve models.

Runs alone: needs this folder and `outrider_report` on the path. Environment: OUTRIDER_ENDPOINT_URL, where invocations are posted, and
OUTRIDER_ENDPOINT_TARGETS, a JSON file with its models; see `load.endpoint`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence

from outrider_report import checkpoint_dir, phase, report


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Run the load that is asked for, and report it."""
    from load.endpoint import announced  # type: ignore[import-not-found]  # lies beside this script in jobs
    from load.options import parse_options  # type: ignore[import-not-found]
    from load.run import LoadSurroundings, run_load  # type: ignore[import-not-found]

    words = sys.argv[1:] if arguments is None else arguments
    ends_s = time.monotonic() + float(environ.get("OUTRIDER_ENDPOINT_LEFT_S") or "inf")
    around = LoadSurroundings(environ, report, phase, checkpoint_dir(), arguments=words, ends_s=ends_s)
    asyncio.run(run_load(announced(environ), parse_options(words), around))


if __name__ == "__main__":
    main()
