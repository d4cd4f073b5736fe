"""Where progress is drawn over and over: a panel on a terminal, an output area of a notebook."""

from __future__ import annotations

import html
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO


class Panel(Protocol):
    """A text that is replaced by its next version, below lines that stay."""

    def start(self, text: Callable[[], str]) -> None:
        """Show the text, and from now on what it has become."""
        ...

    def changed(self) -> None:
        """Take note that the text is another now."""
        ...

    def say(self, line: str) -> None:
        """Add a line that stays; also before the start and after the stop."""
        ...

    def stop(self) -> None:
        """Show the text no more, or for good."""
        ...


class TerminalPanel:
    """Redraws by itself four times a second, so that a clock goes on while nothing changes; goes away at its stop.

    Args:
        stream: a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live: Any = None

    def start(self, text: Callable[[], str]) -> None:
        """Show the text below all lines."""
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        def render() -> Text:
            return Text(text(), no_wrap=True, overflow="ellipsis")

        self._live = Live(console=Console(file=self._stream), get_renderable=render, refresh_per_second=4, transient=True)
        self._live.start()

    def changed(self) -> None:
        """Do nothing: the next drawing is near."""

    def say(self, line: str) -> None:
        """Write the line, above the text where there is one."""
        if self._live is None:
            print(line, file=self._stream, flush=True)
        else:
            self._live.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def stop(self) -> None:
        """Wipe the text."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class NotebookPanel:
    """One output area of a cell, replaced as a whole, also by itself so that a clock goes on; the last text stays in the notebook.

    Args:
        display: IPython's `display`: shows a bundle of MIME types and returns what it can be replaced through.
        every_s: seconds between two drawings while nothing changes.
    """

    def __init__(self, display: Callable[..., Any], every_s: float = 1.0) -> None:
        self._display = display
        self._every_s = every_s
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._redrawing: threading.Thread | None = None
        self._area: Any = None
        self._lines: list[str] = []
        self._text: Callable[[], str] = str

    def start(self, text: Callable[[], str]) -> None:
        """Show the text below the lines so far."""
        self._text = text
        self.changed()
        self._over.clear()
        self._redrawing = threading.Thread(target=self._redraw, name="notebook panel", daemon=True)
        self._redrawing.start()

    def changed(self) -> None:
        """Show what is true now."""
        with self._lock:
            text = self._text()
            shown = "\n".join([*self._lines, *([text] if text else [])])
            bundle = {"text/plain": shown, "text/html": f"<pre>{html.escape(shown)}</pre>"}
            if self._area is None:
                self._area = self._display(bundle, raw=True, display_id=True)
            else:
                self._area.update(bundle, raw=True)

    def say(self, line: str) -> None:
        """Add the line above the text."""
        self._lines.append(line)
        self.changed()

    def stop(self) -> None:
        """Leave everything as it is; what comes next has an area of its own."""
        if self._redrawing is not None:
            self._over.set()
            self._redrawing.join()
            self.changed()
        self._redrawing, self._area, self._lines, self._text = None, None, [], str

    def _redraw(self) -> None:
        while not self._over.wait(self._every_s):
            self.changed()


def panel_here(stream: TextIO, environ: Mapping[str, str]) -> Panel | None:
    """Return a panel in the cell of a notebook that is running, or on a terminal; None elsewhere.

    Args:
        stream: where progress goes outside of a notebook.
        environ: the process's environment.
    """
    if in_notebook():
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        return NotebookPanel(display)
    return TerminalPanel(stream) if stream.isatty() and environ.get("TERM", "dumb") != "dumb" else None


def in_notebook() -> bool:
    """Return whether this process runs the cells of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
