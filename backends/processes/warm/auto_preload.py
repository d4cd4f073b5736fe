"""`preload: auto`: learns from the first job which modules are worth importing once, and which of them cannot be."""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

AUTO = "auto"
WORTH_S = 0.05
"""Seconds from which on an import is worth being done once."""
_SETTLED_S = 10.0


class TimedImport(NamedTuple):
    """One import of a job: what it took with all that it imported in turn, in seconds, and where the module is."""

    name: str
    seconds: float
    file: str
    inner: tuple[TimedImport, ...] = ()


def read_imports(text: str) -> list[TimedImport]:
    """Return what `import_times.measure` wrote; lines that are cut off are left out."""
    found = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            found.append(_made(ast.literal_eval(line)))
    return found


def worth_preloading(imports: Sequence[TimedImport], own: Collection[str], dropped: Collection[str]) -> list[TimedImport]:
    """Return the imports that are worth being done once, the outermost of each that can be.

    Args:
        imports: in their order.
        own: folders of modules that belong to the script: these may read its arguments, and change between two jobs.
        dropped: names of modules that cannot be preloaded; what they import in turn may be.
    """
    found: dict[str, TimedImport] = {}
    for one in imports:
        if one.seconds < WORTH_S:
            continue
        if one.name in dropped or any(one.file.startswith(f"{folder}/") for folder in own if folder):
            found |= {inner.name: inner for inner in worth_preloading(one.inner, own, dropped)}
        else:
            found[one.name] = one
    return [*found.values()]


class AutoPreload:
    """What one experiment has learnt of its imports.

    Args:
        file: where the first job writes its imports.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._teacher: str | None = None
        self._own: tuple[str, ...] = ()
        self._dropped: dict[str, str] = {}
        self._is_over = False
        self._is_vain = False
        self.is_learning = True

    def file_for(self, mark: str) -> str:
        """Return where a job is to write its imports; nothing for all jobs but the first."""
        if self._teacher not in (None, mark):
            return ""
        if self._teacher is None:
            self._file.unlink(missing_ok=True)
        self._teacher = mark
        return str(self._file)

    def has_learnt(self, ended: str = "") -> bool:
        """Return whether the first job has done its imports: it has ended, or has imported nothing for ten seconds.

        Args:
            ended: mark of a job that has ended.
        """
        if not self.is_learning or self._teacher is None:
            return False
        self._is_over = self._is_over or ended == self._teacher
        with contextlib.suppress(OSError):
            return self._is_over or time.time() - self._file.stat().st_mtime > _SETTLED_S
        return self._is_over

    def drop(self, module: str, reason: str) -> None:
        """Note that a module cannot be preloaded; an empty name: that none can, as nobody knows which it was, or what it would do next."""
        self._dropped[module or ", ".join(one.name for one in self._worth())] = reason
        self._is_vain = not module

    def modules(self, own: Collection[str] | None = None) -> list[str]:
        """Return what to import once, in the order in which the job did; from then on nothing more is learnt.

        Args:
            own: folders of modules that belong to the script; None for those that were named before.
        """
        self.is_learning = False
        self._own = self._own if own is None else tuple(own)
        return [one.name for one in self._worth()]

    def line(self) -> str:
        """Return in one sentence what was decided."""
        worth = self._worth()
        names = ", ".join(one.name for one in worth)
        if worth:
            seconds = sum(one.seconds for one in worth)
            verb = "is" if len(worth) == 1 else "are"
            said = f"preload auto: {names} {verb} imported once for all further trials ({seconds:.1f} s in the first)"
        elif self._dropped:
            said = "preload auto: nothing is imported in advance"
        else:
            said = f"preload auto: no import of the first trial took {WORTH_S:g} s; further ones are forked from an empty interpreter"
        return "; ".join([said, *(f"not {name}: {reason}" for name, reason in self._dropped.items())])

    def _worth(self) -> list[TimedImport]:
        if self._is_vain:
            return []
        try:
            text = self._file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return worth_preloading(read_imports(text), self._own, self._dropped)


def _made(given: Sequence[object]) -> TimedImport:
    name, seconds, file, inner = given
    if not (isinstance(name, str) and isinstance(seconds, float) and isinstance(file, str) and isinstance(inner, list)):
        raise TypeError(f"no import: {given!r}")
    return TimedImport(name, seconds, file, tuple(_made(one) for one in inner))
