"""Text for people never ends a run: what a stream cannot show is escaped, and a reader that has gone away is done without."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast


class LenientStream:
    """A text stream whose writes never raise for the system's reasons; everything else is the stream's own.

    Args:
        stream: what is written to, until that fails; from then on what is written is lost.
        name: as it is called in the one line that says so on stderr. A closed pipe is not worth one: its reader has had enough.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream = stream
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write what can be written, and return the length of the text."""
        with self._giving_up():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, where there still is somebody to read."""
        with self._giving_up():
            self._stream.flush()

    @contextlib.contextmanager
    def _giving_up(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # What is left in its buffer has to go somewhere, or the interpreter fails over it at its end.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)
            if error.errno != errno.EPIPE and self._name != "stderr":
                print(f"{self._name} cannot be written: {error}", file=sys.stderr)


@contextlib.contextmanager
def lenient_streams() -> Iterator[None]:
    """Inside the block stdout and stderr exist and take any text, whatever the locale, the terminal and the reader are."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # Else the next file that is opened, a journal perhaps, would get this number, and with it what is printed.
            os.open(os.devnull, os.O_RDWR)
    with contextlib.ExitStack() as stack:
        for name, redirect in (("stdout", contextlib.redirect_stdout), ("stderr", contextlib.redirect_stderr)):
            stream = getattr(sys, name)
            if stream is None:
                stream = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123 (a device)
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
            stack.enter_context(redirect(cast(TextIO, LenientStream(stream, name))))
        yield


def speak_utf8() -> None:
    """Start this program anew in Python's UTF-8 mode where file names and arguments are of another encoding (`LC_ALL=C`).

    What is written in a definition, which is UTF-8, could not be passed to a script otherwise. Jobs see the environment as it was.
    """
    if sys.getfilesystemencoding().lower() != "utf-8" and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
