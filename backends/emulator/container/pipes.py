"""Pipe mode: one FIFO per epoch, into which the channel's objects flow once the script reads."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from backends.emulator.s3.store import StoredObject, blocks

POLL_S = 0.02
_MAGIC = 0xCED7230A


class Pipe:
    """A channel of one host in Pipe mode.

    A script that never reads costs no thread: the loop looks whether a reader is there, and only then a thread feeds it.

    Args:
        folder: where the FIFOs are made; `name`: of the channel.
        share: the objects of an epoch; `record_io`: whether each is wrapped as a record; `gzipped`: whether each is to be decompressed.
        later: calls something after so many seconds.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        share: Callable[[int], list[StoredObject]],
        record_io: bool,
        gzipped: bool,
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._folder, self._name, self._share = folder, name, share
        self._record_io, self._gzipped, self._later = record_io, gzipped, later
        self._epoch = 0
        self._closed = False

    def start(self) -> None:
        """Make the FIFO of the first epoch and begin to look for readers."""
        self._make()
        self._look()

    def close(self) -> None:
        """End; a thread that feeds a reader ends with it."""
        self._closed = True

    def _make(self) -> None:
        path = self._folder / f"{self._name}_{self._epoch}"
        with contextlib.suppress(OSError):
            os.mkfifo(path)

    def _look(self) -> None:
        if self._closed:
            return
        path = self._folder / f"{self._name}_{self._epoch}"
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                return
        else:
            os.set_blocking(descriptor, True)
            epoch, self._epoch = self._epoch, self._epoch + 1
            self._make()
            threading.Thread(target=self._feed, args=(descriptor, epoch), name=f"pipe-{self._name}-{epoch}", daemon=True).start()
        self._later(POLL_S, self._look)

    def _feed(self, descriptor: int, epoch: int) -> None:
        try:
            for found in self._share(epoch):
                for block in self._content(found):
                    view = memoryview(block)
                    while view and not self._closed:
                        view = view[os.write(descriptor, view) :]
        except OSError:
            return  # the reader has closed its end
        finally:
            os.close(descriptor)

    def _content(self, found: StoredObject) -> Iterator[bytes]:
        with gzip.open(found.path, "rb") if self._gzipped else found.path.open("rb") as stream:
            if self._record_io:
                content = stream.read()
                yield struct.pack("<II", _MAGIC, len(content)) + content + b"\0" * (-len(content) % 4)
                return
            yield from blocks(stream)  # type: ignore[arg-type]
