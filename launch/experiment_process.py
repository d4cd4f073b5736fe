"""The process that runs experiments for a command which runs several at once: orders come in on stdin, what happens goes out on stdout."""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from types import FrameType
from typing import IO, Any

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.ending import Reason
from benchmarking.controller.interfaces import Wallet
from benchmarking.controller.journal import Record
from benchmarking.controller.state import ExperimentState
from definitions import strict_json
from definitions.errors import EXIT_DETACHED, EXIT_INTERRUPTED
from launch.experiment_outcome import ExperimentOutcome
from launch.few_collections import few_collections
from launch.one_experiment import attempt
from launch.progress import Progress
from launch.request import RunRequest
from launch.streams import lenient_streams

_REDRAWN_EVERY_S = 1.0
_ORPHAN_S = 10.0
"""Seconds that an experiment has to be wound down, and then to stop, when the command is gone."""
_LEFT_S = 60.0
"""Seconds that an experiment has to write down what it knows where the command is gone and its jobs are left running."""
_LEVELS = {"wind_down": 1, "stop": 2}


class Orders:
    """What is to be done: experiments, one after the other, and that the one which runs is to end.

    Args:
        stream: of lines; its end means that nobody is there any more, and winds down what runs.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._tasks: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._busy = False
        self._is_free = threading.Event()
        self._is_free.set()
        self._level = 0
        self._wind_down: Callable[[], None] | None = None
        self._is_winding_down = False
        self._detach: Callable[[], None] | None = None
        self._is_left = False
        self._leaves = False

    def start(self, *, leaves: bool = False) -> None:
        """Begin to listen, and take signals from outside for the order to wind down; in the main thread.

        Args:
            leaves: whether what runs is left to the next controller, and not wound down, where nobody is there any more.
        """
        self._leaves = leaves
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)
        threading.Thread(target=self._listen, name="orders", daemon=True).start()

    def first(self) -> dict[str, Any] | None:
        """Return the order that comes before all others, what the command was asked for; None where the command is gone."""
        line = self._stream.readline()
        return dict(strict_json.loads(line)) if line else None

    def next(self) -> dict[str, Any] | None:
        """Wait for the next experiment and return it; None where there will be none."""
        return self._tasks.get()

    @property
    def is_ordered_to_end(self) -> bool:
        """Whether what runs is to end."""
        return self._busy and self._level > 0

    def done(self) -> None:
        """Take no order to end any more: the experiment is over, which nobody knows yet."""
        with self._lock:
            self._busy = False
            self._is_free.set()

    @contextlib.contextmanager
    def obeyed(self, wind_down: Callable[[], None], detach: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Inside the block orders are obeyed: to wind down calls `wind_down`, to leave calls `detach`, to stop raises KeyboardInterrupt.

        Args:
            wind_down: see `run_one`.
            detach: the same, called in any thread.
        """
        with self._lock:
            self._is_winding_down, self._wind_down, self._detach = False, wind_down, detach
            is_left = self._is_left
        try:
            if is_left:
                detach()
            self._obey()  # what was ordered before there was anything to end
            yield
        finally:
            self._wind_down = self._detach = None

    def _listen(self) -> None:
        for line in self._stream:
            order = strict_json.loads(line)
            if "run" in order:
                with self._lock:
                    # Before it is begun, so that no order to end it gets lost.
                    self._busy, self._level, self._is_left = True, 0, False
                    self._is_free.clear()
                self._tasks.put(order)
            elif order["order"] == "detach":
                self._leave()
            else:
                self._raise(_LEVELS[order["order"]])
        self._tasks.put(None)
        if self._leaves:
            self._leave()
            if not self._is_free.wait(_LEFT_S):
                os._exit(EXIT_DETACHED)
            return
        # Nobody is there any more. What cannot be ended in order, as its service is gone too perhaps, must not hold on to the experiment.
        for level in _LEVELS.values():
            self._raise(level)
            if self._is_free.wait(_ORPHAN_S):
                return
        os._exit(EXIT_INTERRUPTED)

    def _leave(self) -> None:
        with self._lock:
            self._is_left = self._busy
            detach = self._detach if self._busy else None
        if detach is not None:
            detach()

    def _raise(self, level: int) -> None:
        with self._lock:
            if self._busy:
                self._level = max(self._level, level)
                # A signal, as the main thread may wait for a long time in a call of the system.
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        if self._busy:
            # However many come: a service manager sends them to every process, and the command tells us too.
            self._level = max(self._level, 1)
            self._obey()

    def _obey(self) -> None:
        if self._wind_down is None or not self._level:
            return
        if self._level > 1:
            raise KeyboardInterrupt
        if not self._is_winding_down:
            self._is_winding_down = True
            self._wind_down()


class Sender:
    """Sends messages, from any thread; that nobody hears them any more is no reason to end in disorder.

    Args:
        stream: takes a line for each.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        # A handler of signals may send in the middle of a message of its own thread.
        self._lock = threading.RLock()

    def __call__(self, **message: Any) -> None:
        """Send a message."""
        text = strict_json.dumps(message) + "\n"
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


class SentPanel:
    """A panel that is drawn by the command: the text is sent when it is another.

    Args:
        send: takes messages.
        every_s: seconds between two looks, as a clock goes on while nothing changes.
    """

    def __init__(self, send: Callable[..., None], every_s: float = _REDRAWN_EVERY_S) -> None:
        self._send, self._every_s = send, every_s
        self._text: Callable[[], str] = str
        self._sent = ""
        self._over = threading.Event()
        self._redrawing: threading.Thread | None = None

    def start(self, text: Callable[[], str]) -> None:
        """Send the text, and from now on what it has become."""
        self._text, self._sent = text, ""
        self._over.clear()
        self._redrawing = threading.Thread(target=self._redraw, name="panel", daemon=True)
        self._redrawing.start()

    def changed(self) -> None:
        """Send the text where it is another."""
        text = self._text()
        if text != self._sent:
            self._sent = text
            self._send(panel=text)

    def say(self, line: str) -> None:
        """Send a line that stays."""
        self._send(say=line)

    def stop(self) -> None:
        """Have the text taken away."""
        if self._redrawing is not None:
            self._over.set()
            self._redrawing.join()
            self._redrawing = None
        self._send(panel="")

    def _redraw(self) -> None:
        while not self._over.wait(self._every_s):
            self.changed()


class SentProgress(Progress):
    """Progress of which the command writes the lines.

    Args:
        send: takes messages.
        panel: whether there is one.
        verbose: whether every report is a line.
    """

    def __init__(self, send: Callable[..., None], *, panel: bool, verbose: bool) -> None:
        super().__init__(sys.stderr, panel=SentPanel(send) if panel else None, verbose=verbose)
        self._send = send
        self._runs = False

    def say(self, line: str) -> None:
        """Have a line written."""
        self._send(say=line)

    def waiting(self, text: str) -> None:
        """Have said what the experiment waits for, and that it does."""
        self._send(stage="waits")
        super().waiting(text)

    def say_once(self, lines: Sequence[str]) -> None:
        """Have those lines written that no other experiment of the command had."""
        self._send(once=[*lines])

    def observe(self, record: Record, state: ExperimentState) -> None:
        """Show a change; the first one comes when the experiment has its cores."""
        if not self._runs:
            self._runs = True
            self._send(stage="runs")
        super().observe(record, state)


def main() -> int:
    """Run experiments until the orders end, and return the exit code."""
    orders = Orders(os.fdopen(os.dup(0), "r", encoding="utf-8"))
    send = Sender(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    # What scripts and libraries print must not get among the messages, nor must they read orders.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    with few_collections(), lenient_streams():
        _serve(orders, send)
    return 0


def _serve(orders: Orders, send: Sender) -> None:
    first = orders.first()
    if first is None:
        return
    request: RunRequest = _unpacked(first["request"])
    logging.basicConfig(level=logging.INFO if request.verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    orders.start(leaves=bool(request.launched_remotely))
    while (task := orders.next()) is not None:
        progress = SentProgress(send, panel=first["panel"], verbose=request.verbose)
        outcome = _outcome(_unpacked(task["run"]), request, progress, task["place"], orders)
        orders.done()
        send(
            outcome={
                "exit_code": outcome.exit_code,
                "reason": outcome.reason,
                "cause": outcome.cause,
                "failure": outcome.failure,
                "has_run": outcome.has_run,
            }
        )


def _outcome(spec: ExperimentSpec, request: RunRequest, progress: Progress, place: str, orders: Orders) -> ExperimentOutcome:
    try:
        return attempt(spec, request, progress, Wallet(), place, orders.obeyed)
    except KeyboardInterrupt:
        return ExperimentOutcome(spec, EXIT_INTERRUPTED, str(Reason.INTERRUPTED), "stopped at once", has_run=True)


def _unpacked(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))
