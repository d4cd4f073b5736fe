"""Where a program's progress is found that does not tell it: expressions with places for its counters. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from definitions.errors import nearest
from definitions.fidelity import PerJob, Progressive
from definitions.metrics import ProgressSources, check_expression

COUNTERS: Mapping[str, str] = {
    "step": "steps, batches, trees or rows that are behind it, in this epoch where there are epochs",
    "steps": "how many of these there are, in an epoch where there are epochs",
    "at_most": "how many there are at most, as it may stop early",
    "epoch": "the epoch that a line is in; where no line has a step, the one that is through with it",
    "begins": "the epoch that begins with a line",
    "epochs": "how many epochs there are",
    "percent": "what is done of a hundred",
}
"""What stands in braces in an expression, and what it means. Epochs may be counted from 0 or from 1."""

PROGRESS_PRESETS: Mapping[str, tuple[str, ...]] = {
    "keras": (r"^\s*Epoch {begins}/{epochs}\s*$", r"^\s*{step}/{steps} .*(?:s|ms|us)/step"),
    "lightning": (r"Epoch {epoch}(?::|/[0-9]+ ).*\b{step}/{steps} .*(?:it/s|s/it)",),
    "tqdm": (r"\| *{step}/{steps} \[",),
}
"""Libraries whose bars are known: 10/40 [=>...] - 0s 5ms/step; Epoch 0:  50%|#####     | 1/2 [00:00<...]; 12%|#  | 120/1000 [00:10<...]."""

_PLACE = re.compile(r"\{([a-z_]+)\}")
_NUMBER = "[0-9]+"
_PERCENT = r"[0-9]+(?:\.[0-9]+)?"
_COUNTS = {"step", "epoch", "begins", "percent"}
_ONE: list[dict[str, Any]] = [
    {"type": "string", "enum": sorted(PROGRESS_PRESETS)},
    {"type": "string", "description": "a regular expression with places such as {step} and {steps}"},
]
_SCHEMA = {"anyOf": [*_ONE, {"type": "array", "items": {"anyOf": _ONE}, "minItems": 1}]}


def expression_of(text: str) -> str:
    """Return the regular expression of a text with places for counters; raises `ValueError`, with a sentence, where it is none.

    Args:
        text: e.g. `Epoch {epoch}/{epochs}, batch {step}/{steps}`.
    """
    names = _PLACE.findall(text)
    for name in names:
        if name not in COUNTERS:
            near = nearest(name, list(COUNTERS))
            raise ValueError(f"{{{name}}} is no counter; " + (f"did you mean {{{near}}}?" if near else f"there are {_listed(COUNTERS)}"))
        if names.count(name) > 1:
            raise ValueError(f"{{{name}}} stands twice in {text!r}")
    if not _COUNTS & set(names):
        raise ValueError(f"{text!r} tells nothing that is done; it needs one of {_listed(_COUNTS)}")
    found = _PLACE.sub(lambda place: f"(?P<{place[1]}>{_PERCENT if place[1] == 'percent' else _NUMBER})", text)
    check_expression(found, groups=len(names))
    return found


def _listed(names: Any) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))


def progress_sources(progress: Any, fidelity: PerJob | Progressive | None) -> ProgressSources:
    """Return what a definition's `progress` says.

    Args:
        progress: as validated.
        fidelity: of which the script may report the levels, so that it is known how many epochs there are.
    """
    epochs = fidelity.full if isinstance(fidelity, Progressive) else None
    texts = [text for one in progress or () for text in PROGRESS_PRESETS.get(one, (one,))]
    return ProgressSources(tuple(map(expression_of, texts)), epochs)


def _checked(value: Any) -> tuple[str, ...]:
    """Return a definition's `progress` as a tuple of texts; raises `ValueError` with a sentence on what is wrong."""
    given = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    for one in given:
        if not isinstance(one, str) or not one:
            raise ValueError(f"needs an expression such as 'batch {{step}}/{{steps}}', in quotes, or a list of these; {one!r} was given")
        if one not in PROGRESS_PRESETS and not _PLACE.search(one):
            known = ", ".join(sorted(PROGRESS_PRESETS))
            raise ValueError(f"{one!r} has no place for a counter, such as {{step}}, and is none of the bars that are known ({known})")
        if one not in PROGRESS_PRESETS:
            expression_of(one)
    return given


Progress = Annotated[tuple[str, ...], BeforeValidator(_checked), WithJsonSchema(_SCHEMA)]
