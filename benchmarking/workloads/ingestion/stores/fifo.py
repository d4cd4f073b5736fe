"""One FIFO an epoch, which somebody else fills: SageMaker's Pipe mode."""

from __future__ import annotations

import io
import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LOOK_S = 0.02
_BUFFER_BYTES = 1 << 18


class NoWriterError(RuntimeError):
    """Nobody fills a FIFO: says which, and for how long it was waited."""


@dataclass(frozen=True)
class Fifo:
    """The FIFOs of a channel in Pipe mode.

    Args:
        location: their path without the epoch: `/opt/ml/input/data/train` stands for `train_0`, `train_1`, ...
        wait_s: how long a FIFO may be missing or without a writer, in seconds. A writer that is there may take its time.
    """

    location: str
    wait_s: float = 5.0

    def open(self, epoch: int, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> Any:
        """Return the stream of an epoch, from 0.

        Args:
            epoch: whose.
            clock: monotonic seconds.
            sleep: called with seconds between two looks.

        Raises:
            NoWriterError: there is no such FIFO, or nobody writes into it.
        """
        path = f"{self.location}_{epoch}"
        began_s = clock()
        descriptor = None
        while True:
            if descriptor is None:
                try:
                    # Not blocking: a reader that waits for its writer in `open` hears of nothing else.
                    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                except FileNotFoundError:
                    descriptor = None
            if descriptor is not None:
                begun = _begun(descriptor)
                if begun is not None:
                    os.set_blocking(descriptor, True)
                    return io.BufferedReader(_Stream(descriptor, begun), _BUFFER_BYTES)
            if clock() - began_s >= self.wait_s:
                break
            sleep(_LOOK_S)
        if descriptor is None:
            raise NoWriterError(f"{path}: there is no such FIFO after {self.wait_s:g} s; {_beside(path)}; pipe mode makes one an epoch")
        os.close(descriptor)
        raise NoWriterError(f"{path}: nobody writes into this FIFO after {self.wait_s:g} s; is the channel in pipe mode, with data in it?")

    def failure(self, epoch: int) -> str:
        """Return why the FIFO of an epoch has ended before its time, where who fills it says so beside it; else nothing."""
        try:
            return Path(f"{self.location}_{epoch}.failed").read_text(encoding="utf-8")
        except OSError:
            return ""


def _begun(descriptor: int) -> bytes | None:
    """Return the first byte of a FIFO that somebody writes into, nothing while the writer is silent; None where there is no writer yet."""
    watcher = select.poll()
    watcher.register(descriptor, select.POLLIN)
    if watcher.poll(0):
        return b""  # content, or a writer that has come and gone
    try:
        # Of an empty FIFO: its end where nobody has it open for writing, a refusal where somebody has.
        return os.read(descriptor, 1) or None
    except BlockingIOError:
        return b""


class _Stream(io.RawIOBase):
    """A descriptor, with what was read of it before."""

    def __init__(self, descriptor: int, begun: bytes) -> None:
        self._descriptor, self._begun = descriptor, begun

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._begun:
            buffer[: len(self._begun)] = self._begun
            self._begun = b""
            return 1
        return os.readv(self._descriptor, [buffer])

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _beside(path: str) -> str:
    folder = Path(path).parent
    names = sorted(one.name for one in folder.iterdir())[:5] if folder.is_dir() else []
    return f"{folder} holds {', '.join(names) or 'nothing'}"
