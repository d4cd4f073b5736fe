"""Keeps the test process itself from reporting: what a test calls in process would print its summary at the very end."""

from __future__ import annotations

import atexit
import os
import sys


def pytest_configure() -> None:
    """Keep a table of prices that a developer fetched from changing what tests see."""
    os.environ["OUTRIDER_PRICES"] = os.devnull


def pytest_sessionfinish() -> None:
    """Take back what the reporter registered, where a test has imported it."""
    reporter = sys.modules.get("outrider_report")
    if reporter is not None:
        atexit.unregister(reporter._reporter.print_summary)
