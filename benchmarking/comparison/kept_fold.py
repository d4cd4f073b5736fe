"""What a journal amounts to, kept beside it by its controller, so that whoever compares a thousand experiments need not fold them again.

The journal stays the only truth: what is kept names the content that it was made of, and counts for no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.archive.stored import StoredExperiment, state_setup
from benchmarking.comparison.run_fold import FoldedRun, fold_journal
from benchmarking.comparison.runs import Axis, MeasuredTrial, Measurement
from definitions import strict_json
from definitions.files import write_atomically

NAME = "folded.json"

FOLD_VERSION = 2
"""Of what is made of a journal, and of the form in which it is kept; another one is made anew. A test says when it has to be another."""


def keep_fold(stored: StoredExperiment) -> None:
    """Keep what the journal of an experiment amounts to, which nobody writes any more.

    Args:
        stored: the experiment, whose journal is closed and whose folder is locked.

    Raises:
        UserError: the journal cannot be read, or the file not be written.
    """
    content = _content(stored)
    if content is not None:
        write_atomically(
            stored.folder / NAME, strict_json.dumps(_document(fold_journal(stored), content, [*stored.spec.definition.objectives])) + "\n"
        )


def kept_fold(stored: StoredExperiment) -> FoldedRun | None:
    """Return what was kept of an experiment's journal; None where that is nothing, or of another content than the journal has now."""
    try:
        known = strict_json.loads((stored.folder / NAME).read_text(encoding="utf-8"))
        if known["fold_version"] != FOLD_VERSION or known["content"] != _content(stored):
            return None
        return _folded(known, [*stored.spec.definition.objectives])
    except (OSError, LookupError, TypeError, ValueError):
        return None  # what cannot be read is made again


def _content(stored: StoredExperiment) -> str | None:
    """Return a hash of all that the fold depends on; None where it is not in one file, as somebody writes it or was killed."""
    path = stored.folder / "journal.sqlite"
    if _size(path.with_name(path.name + "-wal")):
        return None
    found = hashlib.sha256(path.read_bytes())
    # Of the definition what the fold is told, and whether levels are jobs of their own.
    found.update(repr((state_setup(stored.spec), type(stored.spec.definition.fidelity))).encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _document(folded: FoldedRun, content: str, names: Sequence[str]) -> dict[str, Any]:
    configurations = {one.evaluation: one.configuration for one in folded.measurements}
    return {
        "fold_version": FOLD_VERSION,
        "content": content,
        "configurations": [*configurations.items()],
        # The fields of each, as there are a hundred thousand of them; values in the order of the objectives' names.
        "measurements": [(one.evaluation, [one.values.get(name) for name in names], *one[3:]) for one in folded.measurements],
        "trials": [(one.configuration, one.repeat, [one.values.get(name) for name in names]) for one in folded.trials],
        "ends": [*folded.ends.items()],
        "ended": folded.ended,
        "ended_by": folded.ended_by,
        "codes": folded.codes,
    }


def _folded(known: Mapping[str, Any], names: Sequence[str]) -> FoldedRun:
    configurations = dict(known["configurations"])
    # Of a thousand experiments these are a hundred thousand, so each is made by no more than it takes.
    made = Measurement._make
    named = _named_by(names)
    return FoldedRun(
        tuple([made((number, configurations[number], named(values), *rest)) for number, values, *rest in known["measurements"]]),
        tuple([MeasuredTrial(configuration, repeat, named(values)) for configuration, repeat, values in known["trials"]]),
        {Axis(name): value for name, value in known["ends"]},
        known["ended"],
        known["ended_by"],
        known["codes"],
    )


def _named_by(names: Sequence[str]) -> Callable[[list[float | None]], dict[str, float]]:
    """Return what gives values their names, those that are there; it raises `ValueError` where there are not as many as names."""

    def named(values: list[float | None]) -> dict[str, float]:
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}

    if len(names) != 1:
        return named
    (alone,) = names

    def named_alone(values: list[float | None]) -> dict[str, float]:
        (value,) = values
        return {} if value is None else {alone: value}

    return named_alone
