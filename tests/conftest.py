"""What holds for all tests: nothing of the developer's own is seen, and the test process itself reports nothing at its end."""

from __future__ import annotations

import atexit
import faulthandler
import functools
import gc
import os
import sys
import threading
from collections.abc import Generator, Iterator

import pytest

HEARD_WITHIN_S = 60.0
"""After its time-out a test that has not ended hangs below Python, where no signal is heard."""

_IMPURE = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "socket.bind"}


class Guard:
    """Keeps tests that are not marked slow from starting processes and serving on ports."""

    on = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and event in _IMPURE and threading.current_thread() is threading.main_thread():
            raise RuntimeError(f"{event} in a test without a mark: what starts a process or serves on a port is marked pytest.mark.slow")


_guard = Guard()
_stderr = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep a table of prices that a developer fetched from changing what tests see; know where messages go that no test may capture."""
    os.environ["OUTRIDER_PRICES"] = os.devnull
    # Threads of libraries would wait for each other without giving up their cores, which several processes of tests have in common.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    sys.addaudithook(_guard)
    config.stash[_stderr] = os.dup(2)
    # Thousands of tests are collected, none of which is garbage: to look for it, again and again, was nearly half of what collection took.
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave out what was collected of all later looks for garbage, which are as seldom as in a command."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def time_out_s(item: pytest.Item) -> float:
    """Return after how many seconds pytest-timeout fails a test: its own mark's, the command's, or that of all; 0 for never."""
    mark = item.get_closest_marker("timeout")
    if mark is not None:
        return float(mark.args[0] if mark.args else mark.kwargs["timeout"])
    given = item.config.getoption("timeout")
    return float(item.config.getini("timeout") or 0 if given is None else given)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hold a test to its marks, with its fixtures: what it may start, and the time after which its process is ended."""
    _guard.on = item.get_closest_marker("slow") is None
    own_s = time_out_s(item)
    if own_s > 0:
        faulthandler.dump_traceback_later(own_s + HEARD_WITHIN_S, file=item.config.stash[_stderr], exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
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
