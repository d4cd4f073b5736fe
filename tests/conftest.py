"""What holds for all tests: nothing of the developer's own is seen, and the test process itself reports nothing at its end."""

from __future__ import annotations

import atexit
import functools
import os
import sys
from collections.abc import Iterator

import pytest


def pytest_configure() -> None:
    """Keep a table of prices that a developer fetched from changing what tests see."""
    os.environ["OUTRIDER_PRICES"] = os.devnull


def pytest_sessionfinish() -> None:
    """Take back what the reporter registered, where a test has imported it."""
    reporter = sys.modules.get("outrider_report")
    if reporter is not None:
        atexit.unregister(reporter._reporter.print_summary)


@pytest.fixture(scope="session", autouse=True)
def read_service_models_once() -> Iterator[None]:
    """Have all botocore sessions share one loader: its models are large, and hundreds of tests make sessions and emulators."""
    import botocore.session

    made = functools.cache(botocore.session.create_loader)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", made)
        yield
