"""The project's exceptions: one root; `UserError` is what a person can mend and is shown without a traceback."""

from __future__ import annotations

EXIT_DONE = 0
EXIT_FAULT = 1
EXIT_USAGE = 2
EXIT_FAILURES = 3
EXIT_BUDGET = 4
EXIT_CLOUD = 5
EXIT_DETACHED = 6
"""A controller ended and left its jobs running, for its successor."""
EXIT_TAKEN_OVER = 7
"""Another controller is at work."""
EXIT_INTERRUPTED = 130


class OutriderError(Exception):
    """Root of every exception that Outrider raises on purpose."""

    exit_code = EXIT_FAULT
    is_denied = False
    """Whether a permission is missing, so that the same is refused until somebody gives it."""


class UserError(OutriderError):
    """Wrong use: says what was asked, what is true, and what to do.

    Args:
        asked: what the user asked for, e.g. "--benchmark dmeo: there is no benchmark of this name".
        fact: what is true instead; may be empty.
        advice: what to do now; may be empty.
    """

    exit_code = EXIT_USAGE

    def __init__(self, asked: str, fact: str = "", advice: str = "") -> None:
        self.asked, self.fact, self.advice = asked, fact, advice
        super().__init__("\n  ".join(part for part in (asked, fact, advice) if part))

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback."""
        return [f"error: {self}"]


def nearest(word: str, known: list[str] | tuple[str, ...]) -> str:
    """Return the known word that `word` was probably meant to be, or an empty string."""
    import difflib

    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return found[0] if found else ""


def did_you_mean(word: str, known: list[str] | tuple[str, ...]) -> str:
    """Return advice naming the nearest known word, else all of them."""
    near = nearest(word, known)
    if near:
        return f"did you mean {near!r}?"
    return "known: " + (", ".join(sorted(known)) or "none")
