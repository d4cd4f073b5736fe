"""Finds the exception that ended a script in what was printed, line by line in bounded memory. Pure.

Not every traceback is one: a launcher prints its own after the script's, the interpreter prints those that it ignored, and a script goes on
after what it only logged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

_MOST_OPEN = 16
"""Tracebacks that are followed at once: ranks print theirs line by line between each other's."""

_MOST_STRANGE = 20
"""Lines of others in the midst of a traceback, after which it is given up."""

_WIDTH = 1000

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_HEADER = re.compile(r"^(?P<prefix>.*?)Traceback \(most recent call last\)(?::\s*$|.*[╮+]\s*$)")
_FRAME = re.compile(r'^\W*File "(?P<file>[^"]+)", line \d+(?:, in (?P<function>.+))?')
_BOXED_FRAME = re.compile(r"^[│|] (?P<file>\S+):\d+ in (?P<function>\S+)")
_SYNTAX = re.compile(r'^(?P<prefix>.*?)  File "[^"]+", line \d+\s*$')
_EXCEPTION = re.compile(r"^(?P<type>[^\W\d][\w.]*(?:\.?<locals>\.[\w.]+)*)(?:\([\w.]+\))?(?::(?:\s+(?P<text>.*))?)?\s*$")
_TERMINATE = re.compile(r"terminate called (?:after throwing an instance of '(?P<type>[^']+)'|without an active exception)")
_WHAT = re.compile(r"^\s*what\(\):\s*(?P<text>.*)$")
_NAMED_AS_ERROR = re.compile(r"(?:^|\.)(?:[A-Z]\w*|\w*(?:error|exception|timeout)\w*)$")
_DIRECT_CAUSE = "The above exception was the direct cause of"
BEGINNINGS = ("Traceback (most", '  File "', "terminate called", _DIRECT_CAUSE)
"""Texts of which each line has one that means something while nothing is open; the line before such a one may mean something too."""

_IGNORED = re.compile(r"^(Exception ignored |--- Logging error ---|Error in atexit\._run_exitfuncs|Error in sys\.excepthook)")

_LAUNCHERS = frozenset(
    {"ChildFailedError", "CalledProcessError", "ProcessExitedException", "SystemExit", "RemoteTraceback", "_RemoteTraceback"}
)
"""Exceptions of what started a script, which only say that it failed."""


@dataclass(frozen=True)
class Raised:
    """An exception that was printed.

    Args:
        message: its type and the first line of its text.
        place: file name and function of the innermost frame, e.g. `train.py:main`; empty where it is not known.
        is_launchers: whether it is that of a program which started the script.
        is_survived: whether the script reported after it, so that it did not end it.
        because: message of the exception that it was raised from, the first of several; empty where there is none.
    """

    message: str
    place: str = ""
    is_launchers: bool = False
    is_survived: bool = False
    because: str = ""


@dataclass
class _Open:
    """A traceback whose exception has not been printed yet."""

    prefix: str
    is_boxed: bool = False
    is_ignored: bool = False
    is_prefixed: bool = False
    place: str = ""
    strange: int = 0
    lower_case: str = ""
    lead: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        # Time stamps and counters of a logger's prefix change from line to line.
        self.lead = re.compile("".join(r"\d+" if part.isdigit() else re.escape(part) for part in re.split(r"(\d+)", self.prefix)))

    def body(self, line: str) -> str | None:
        """Return a line without the prefix; None for one of another program, as this one's lines have the prefix."""
        match = self.lead.match(line) if self.prefix else None
        if match is not None:
            self.is_prefixed = True
            return line[match.end() :]
        # A logger puts its prefix before the first line alone, a launcher of ranks before each.
        return None if self.is_prefixed else line


class TracebackFinder:
    """Follows the lines of a log and keeps the last exceptions in it."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._own: Raised | None = None
        self._launchers: Raised | None = None
        self._is_alone = True
        self._is_ignored = False
        self._wants_text = ""
        self._has_terminated = False
        self._because = ""

    def feed(self, line: str) -> None:
        """Take the next line; those that the reporter prints are not to be fed."""
        if self.is_idle and not self._is_ignored and not any(word in line for word in BEGINNINGS):
            self._is_ignored = _IGNORED.match(line) is not None
            return
        self._take(_COLOUR.sub("", line[: 4 * _WIDTH]).rstrip())

    @property
    def is_idle(self) -> bool:
        """Whether the next line means something only if it has one of `BEGINNINGS`, or is before such a one."""
        return not (self._open or self._wants_text or self._has_terminated)

    @property
    def n_open(self) -> int:
        """How many tracebacks are followed whose exception has not come yet."""
        return len(self._open)

    def reported(self) -> None:
        """Note that the script has reported: whatever it had printed has not ended it."""
        self._is_ignored = False
        if self._own is not None and self._is_alone:
            self._own = replace(self._own, is_survived=True)

    @property
    def raised(self) -> Raised | None:
        """The exception that ended the script as far as its log tells; None where it tells of none."""
        if self._own is None or (self._own.is_survived and self._launchers is not None and "ChildFailed" not in self._launchers.message):
            return self._launchers or self._own
        return self._own

    def _take(self, line: str) -> None:
        header = _HEADER.match(line)
        if header is not None:
            self._begin(header["prefix"])
            return
        if _DIRECT_CAUSE in line and self._own is not None:
            self._because = self._own.because or self._own.message
            return
        if self._adds_text(line) or self._is_cpp(line):
            return
        if not self._open and (syntax := _SYNTAX.match(line)):
            # A script that cannot be compiled is shown without a header.
            self._begin(syntax["prefix"])
        for traceback in reversed(self._open):
            body = traceback.body(line)
            if body is not None:
                self._continue(traceback, body)
                return
        self._is_ignored = _IGNORED.match(line) is not None

    def _begin(self, prefix: str) -> None:
        box = re.search(r"[╭+][─-]+ ?$", prefix)
        if box is not None:
            opened = _Open(prefix[: box.start()], is_boxed=True, is_ignored=self._is_ignored)
        else:
            # What belongs to a group is drawn beside a line: the header with a plus, all else with a bar.
            group = re.match(r"^(.*)\+ Exception Group $", prefix)
            opened = _Open(f"{group[1]}| " if group else "" if prefix == "Exception Group " else prefix, is_ignored=self._is_ignored)
        self._is_ignored, self._wants_text = False, ""
        self._open = [*(one for one in self._open if one.prefix != opened.prefix), opened][-_MOST_OPEN:]

    def _continue(self, traceback: _Open, body: str) -> None:
        frame = _FRAME.match(body) or (_BOXED_FRAME.match(body) if traceback.is_boxed else None)
        if frame is not None:
            traceback.place = f"{frame['file'].rsplit('/', 1)[-1]}:{frame['function'] or ''}"
            return
        if not body or body[0] in " \t" or body.startswith("> File") or (traceback.is_boxed and body[0] in "│|╰+"):
            return
        found = _EXCEPTION.match(body)
        if found is not None and _NAMED_AS_ERROR.search(found["type"]):
            self._end(traceback, body, found)
            return
        if found is not None:
            traceback.lower_case = traceback.lower_case or body
        traceback.strange += 1
        if traceback.strange > _MOST_STRANGE:
            self._give_up(traceback)

    def _give_up(self, traceback: _Open) -> None:
        match = _EXCEPTION.match(traceback.lower_case)
        if match is not None:
            self._end(traceback, traceback.lower_case, match)
        else:
            self._open.remove(traceback)

    def finish(self) -> None:
        """Note that no line follows: an exception whose name does not look like one is believed now."""
        for traceback in [*self._open]:
            self._give_up(traceback)

    def _end(self, traceback: _Open, body: str, match: re.Match[str]) -> None:
        self._open.remove(traceback)
        if traceback.is_ignored:
            return
        name = match["type"].rsplit(".", 1)[-1]
        self._keep(Raised(body[:_WIDTH], traceback.place, name in _LAUNCHERS), alone=not traceback.is_prefixed)
        self._wants_text = "" if match["text"] or ":" not in body else body[:_WIDTH].rstrip()

    def _keep(self, raised: Raised, *, alone: bool = True) -> None:
        raised, self._because = replace(raised, because=self._because), ""
        if raised.is_launchers:
            self._launchers = raised
        else:
            # One that comes after a launcher's is of the next thing that was launched.
            self._own, self._launchers, self._is_alone = raised, None, alone

    def _adds_text(self, line: str) -> bool:
        """Take the first line with words as the text of an exception whose own first line is empty; return whether it was."""
        wanted, self._wants_text = self._wants_text, ""
        if not wanted or '"""' in line or line.startswith("===") or self._open:
            return False
        if not line.strip():
            self._wants_text = wanted
            return True
        kept = self._own if self._own is not None and self._own.message.rstrip() == wanted else None
        if kept is not None and line[0] in " \t":
            self._own = replace(kept, message=f"{wanted} {line.strip()}"[:_WIDTH])
        return kept is not None

    def _is_cpp(self, line: str) -> bool:
        """Take the two lines that a C++ program prints when nothing caught its exception; return whether this is one of them."""
        found = _TERMINATE.search(line)
        if found is not None:
            self._keep(Raised(found["type"] or found[0]))
        what = _WHAT.match(line) if self._has_terminated and self._own is not None else None
        if what is not None and self._own is not None and what["text"].strip() != self._own.message:
            self._keep(Raised(f"{self._own.message}: {what['text'].strip()}"[:_WIDTH]))
        self._has_terminated = found is not None
        return found is not None or what is not None


def find_raised(lines: Iterable[str]) -> Raised | None:
    """Return the exception that ended a script, as `TracebackFinder` finds it in the lines of a log."""
    finder = TracebackFinder()
    for line in lines:
        finder.feed(line)
    finder.finish()
    return finder.raised
