"""What a journal amounts to, kept beside it by whoever folds it first, so that who compares a thousand experiments folds none again.

The journal stays the only truth: what is kept names the content that it was made of, and counts for no other.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.archive.stored import StoredExperiment, state_setup
from benchmarking.comparison.run_fold import FoldedRun, fold_journal
from benchmarking.comparison.runs import Axis, MeasuredTrial, Measurement
from definitions import strict_json
from definitions.errors import UserError
from definitions.files import write_atomically

NAME = "folded.json"

FOLD_VERSION = 2
"""Of what is made of a journal, and of the form in which it is kept; another one is made anew. A test says when it has to be another."""


def keep_fold(stored: StoredExperiment) -> FoldedRun:
    """Return what the journal of an experiment amounts to, and keep that beside it, unless the journal has grown meanwhile.

    Nothing is locked. A journal only grows, so where its content is the same before and after, it was this one that was folded. What is
    kept names its content, and counts for no other, whatever another process writes there. Where nothing can be written nothing is kept:
    it can be made again.

    Args:
        stored: the experiment.

    Raises:
        UserError: the journal cannot be read.
    """
    before = _content_now(stored)
    folded = fold_journal(stored)
    if before is not None and before == _content_now(stored):
        with contextlib.suppress(UserError):
            write_atomically(
                stored.folder / NAME, strict_json.dumps(_document(folded, before, [*stored.spec.definition.objectives])) + "\n"
            )
    return folded


def kept_fold(stored: StoredExperiment) -> FoldedRun | None:
    """Return what was kept of an experiment's journal; None where that is nothing, or of another content than the journal has now."""
    try:
        known = strict_json.loads((stored.folder / NAME).read_text(encoding="utf-8"))
        if known["fold_version"] != FOLD_VERSION or known["content"] != _content(stored):
            return None
        return _folded(known, [*stored.spec.definition.objectives])
    except (OSError, LookupError, TypeError, ValueError):
        return None  # what cannot be read is made again


def _content_now(stored: StoredExperiment) -> str | None:
    with contextlib.suppress(OSError):
        return _content(stored)
    return None  # what is wrong with it is said where it is folded


def _content(stored: StoredExperiment) -> str:
    """Return a hash of all that the fold depends on."""
    path = stored.folder / "journal.sqlite"
    found = hashlib.sha256(path.read_bytes())
    # Of the definition what the fold is told, and whether levels are jobs of their own.
    found.update(repr((state_setup(stored.spec), type(stored.spec.definition.fidelity))).encode("utf-8", "surrogateescape"))
    # Where somebody writes, or was killed, the last records are in the log beside it.
    found.update(_bytes(path.with_name(path.name + "-wal")))
    return found.hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


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
