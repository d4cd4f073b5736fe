"""The process that tells a tracker: it reads folders from its input, writes lines for people, and a tracker that hangs hangs it alone.

Its end of the pipes is apart from what libraries print: whatever they write to stdout goes to stderr.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from backends.tracked import Tracker
from benchmarking.tracking.catching_up import Telling, rounds
from benchmarking.tracking.registry import make_tracker
from definitions import strict_json
from definitions.errors import UserError

_ROUND_S = 1.0
_TIMEOUT_S = 20.0
"""Seconds in which what is lacking is told after the last controller is gone, as long as the tracker answers."""
_TRIES = 5


def command(kind: str) -> list[str]:
    """Return the command line of the process for a kind of tracker."""
    root = Path(__file__).resolve().parents[2]
    code = f"import sys; sys.path.insert(0, {str(root)!r}); from {__name__} import main; sys.exit(main(sys.argv[1:]))"
    return [sys.executable, "-P", "-c", code, kind]


def main(arguments: Sequence[str]) -> int:
    """Tell the tracker of a kind until the input ends; return 0 where it has all then."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    # Ctrl-C is for the controller, which then says what is to be done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kind = arguments[0]
    try:
        return tell(lambda: make_tracker(kind, os.environ), kind, sys.stdin, output)
    except UserError as error:
        _write(output, say=str(error))
        return 2


def tell(make: Callable[[], Tracker], kind: str, orders: IO[str], output: IO[str], timeout_s: float = _TIMEOUT_S) -> int:
    """Follow orders, a JSON object a line: `{"follow": FOLDER}`, `{"follow_all": FOLDER_OF_A_TAG}`, `{"once": true}`.

    Args:
        make: makes the tracker.
        kind: of tracker, for people.
        orders: their end is that of the controller, which may have been killed.
        output: takes `{"say": LINE}`, and at the end `{"left": [FOLDER, ...], "error": TEXT}`.
        timeout_s: seconds that the rest may take after the end.

    Returns:
        0 where the tracker has all in the end.
    """
    arrived: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders, arrived), daemon=True).start()
    telling = Telling(make, kind, lambda line: _write(output, say=line), time.monotonic)
    once = False
    while True:
        ended = False
        for order in _orders(arrived):
            if order is None:
                ended = True
            elif "follow" in order:
                telling.follow(Path(order["follow"]))
            elif "follow_all" in order:
                telling.follow_all(Path(order["follow_all"]))
            once = once or (order is not None and "once" in order)
        if ended:
            break
        telling.round()
    until = time.monotonic() + (sys.maxsize if once else timeout_s)
    for _ in rounds(telling, tries=_TRIES if once else 1, sleep=time.sleep):
        if time.monotonic() > until:
            break
    left = telling.left
    telling.close()
    _write(output, left=left, error=telling.last_error)
    return 1 if left else 0


def _orders(arrived: queue.SimpleQueue[dict[str, Any] | None]) -> list[dict[str, Any] | None]:
    """Return what has arrived within a round, at once where that is the end."""
    until = time.monotonic() + _ROUND_S
    found: list[dict[str, Any] | None] = []
    while not (found and found[-1] is None):
        try:
            found.append(arrived.get(timeout=max(0.0, until - time.monotonic())))
        except queue.Empty:
            break
    return found


def _read(orders: IO[str], arrived: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    for line in orders:
        arrived.put(strict_json.loads(line))
    arrived.put(None)


def _write(output: IO[str], **message: Any) -> None:
    # Where the controller is gone, what it was to be told is too.
    with contextlib.suppress(OSError):
        output.write(strict_json.dumps(message) + "\n")
