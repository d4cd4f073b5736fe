"""What holds for all tests: nothing of the developer's own is seen, and the test process itself reports nothing at its end."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
from collections.abc import Generator, Iterator

import pytest

_IMPURE = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind"}


class Guard:
    """Keeps tests that are not marked slow from starting processes and serving on ports."""

    on = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and event in _IMPURE and threading.current_thread() is threading.main_thread():
            raise RuntimeError(f"{event} in a test without a mark: what starts a process or serves on a port is marked pytest.mark.slow")


_guard = Guard()


def pytest_configure() -> None:
    """Keep a table of prices that a developer fetched from changing what tests see."""
    os.environ["OUTRIDER_PRICES"] = os.devnull
    sys.addaudithook(_guard)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hold a test to its mark, with its fixtures."""
    _guard.on = item.get_closest_marker("slow") is None
    try:
        return (yield)
    finally:
        _guard.on = False


def pytest_sessionfinish() -> None:
    """Take back what the reporter registered, where a test has imported it."""
    reporter = sys.modules.get("outrider_report")
    if reporter is not None:
        atexit.unregister(reporter._reporter.print_summary)  # noqa: SLF001 (jobs get one public name from it: report)


@pytest.fixture(scope="session", autouse=True)
def read_service_models_once() -> Iterator[None]:
    """Have all botocore sessions share one loader: its models are large, and hundreds of tests make sessions and emulators."""
    import botocore.session

    made = functools.cache(botocore.session.create_loader)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", made)
        yield
