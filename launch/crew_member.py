"""One child process that runs experiments, seen from the command that has several of them."""

from __future__ import annotations

import base64
import contextlib
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from backends.common.child_process import end_descriptor
from benchmarking.archive.identity import ExperimentSpec
from definitions import strict_json
from launch.at_once import Stage
from launch.request import RunRequest

_CHUNK = 65536
_ROOT = Path(__file__).resolve().parents[1]
_CODE = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from launch.experiment_process import main; sys.exit(main())"


class CrewMember:
    """A process of its own for one experiment after the other; it ends when its orders do, also where this process is killed.

    Args:
        request: of the command.
        panel: whether it says how it stands over and over, beside lines for what changes.
    """

    def __init__(self, request: RunRequest, *, panel: bool) -> None:
        # Of a session of its own: what a terminal sends is for the command, which then says what is to be done.
        self._process = subprocess.Popen(
            [sys.executable, *(["-X", "utf8"] if sys.flags.utf8_mode else []), "-P", "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._messages, self._errors = PipeLines(self._process.stdout.fileno()), PipeLines(self._process.stderr.fileno())
        self._end = end_descriptor(self._process)
        self._is_sending = False
        self.spec: ExperimentSpec | None = None
        """What it is at work on."""
        self.stage = Stage.PREPARES
        # What is to run comes with each order; of what was asked for no more is needed than how.
        how = RunRequest(
            results_dir=request.results_dir,
            cache_dir=request.cache_dir,
            verbose=request.verbose,
            accept_changes=request.accept_changes,
            launched_remotely=request.launched_remotely,
        )
        self._send(request=_packed(how), panel=panel)

    @property
    def descriptors(self) -> tuple[int, int, int]:
        """What becomes readable when there is something to read, or when it has ended."""
        return self._messages.descriptor, self._errors.descriptor, self._end

    @property
    def process_id(self) -> int:
        """Its process id."""
        return self._process.pid

    def begin(self, spec: ExperimentSpec, place: str) -> None:
        """Have it run an experiment; `place` is which of how many."""
        self.spec, self.stage = spec, Stage.PREPARES
        self._send(run=_packed(spec), place=place)

    def wind_down(self) -> None:
        """Have what it runs wound down in order; in a signal handler that came into the middle of another order it does nothing."""
        if not self._is_sending:
            self._send(order="wind_down")

    def detach(self) -> None:
        """Have what it runs end and leave its jobs to the next controller; in the middle of another order it does nothing."""
        if not self._is_sending:
            self._send(order="detach")

    def stop_at_once(self) -> None:
        """Have what it runs stopped without delay."""
        self._send(order="stop")

    def read(self) -> list[dict[str, Any]]:
        """Return the messages that are there; lines on its stderr are such too."""
        return heard(self._messages, self._errors)

    def ended(self) -> str:
        """Return how its process ended, in words; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"its process was ended by {signal.Signals(-code).name}" if code < 0 else f"its process ended with exit code {code}"

    def let_go(self) -> None:
        """Give it no more orders: it ends what it runs in order, and then itself."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def close(self, timeout_s: float) -> None:
        """Wait for its end at most so many seconds, and kill it then."""
        self.let_go()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._end)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def _send(self, **order: Any) -> None:
        assert self._process.stdin is not None
        rest = (strict_json.dumps(order) + "\n").encode()
        self._is_sending = True
        # That it is gone is told by its end.
        with contextlib.suppress(OSError, ValueError):
            while rest:
                rest = rest[os.write(self._process.stdin.fileno(), rest) :]
        self._is_sending = False


def heard(messages: PipeLines, errors: PipeLines) -> list[dict[str, Any]]:
    """Return the messages that a process has sent, before them the lines on its stderr, as messages too.

    Args:
        messages: lines of JSON.
        errors: what it, or a library of it, has written on its stderr.
    """
    # In this order: a line on stderr is there once a message that came after it is. The other way round the end of an experiment could
    # overtake its last line on a busy machine, which then was nobody's, or that of the next one.
    lines, found = messages.read(), [{"say": line} for line in errors.read()]
    for line in lines:
        # The last one of a process that was killed may be half a message.
        with contextlib.suppress(ValueError):
            found.append(strict_json.loads(line))
    return found


class PipeLines:
    """The whole lines that come out of a pipe.

    Args:
        descriptor: of its reading end.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self._rest = b""

    def read(self) -> list[str]:
        """Return the lines that are there now; at the pipe's end also one that was not finished."""
        is_over = False
        parts = [self._rest]
        while True:
            try:
                chunk = os.read(self.descriptor, _CHUNK)
            except BlockingIOError:
                break
            if not chunk:
                is_over = True
                break
            parts.append(chunk)
        *lines, self._rest = b"".join(parts).split(b"\n")
        if is_over and self._rest:
            lines, self._rest = [*lines, self._rest], b""
        return [line.decode("utf-8", "replace") for line in lines]


def _packed(value: Any) -> str:
    # Both ends are the same program, and the pipe is theirs alone.
    return base64.b64encode(pickle.dumps(value)).decode("ascii")
