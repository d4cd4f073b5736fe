"""Where a program's metrics are found that prints no reports: regular expressions, and ready-made ones for what libraries print. Pure."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from definitions.errors import nearest

PRESETS = ("huggingface", "keras", "lightgbm", "lightning", "xgboost")
"""Libraries whose output is known (`backends/metrics/presets.py`)."""

_ONE: list[dict[str, Any]] = [
    {"type": "string", "enum": list(PRESETS)},
    {"type": "object", "additionalProperties": {"type": "string", "description": "a regular expression with exactly one group"}},
]
_SCHEMA = {"anyOf": [*_ONE, {"type": "array", "items": {"anyOf": _ONE}}]}
_MOST_REPEATS = 6
_UNLIMITED = 100
"""A part that may be repeated more often counts as one of any length."""

_ONE_LETTER = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+[:)]")
_ALPHABET = [chr(code) for code in range(128)]
_CATEGORIES: Mapping[str, Callable[[str], bool]] = {
    "DIGIT": str.isdigit,
    "SPACE": str.isspace,
    "WORD": lambda letter: letter.isalnum() or letter == "_",
}


@dataclass(frozen=True)
class ProgressSources:
    """Where the progress of a job is found beside what its reporter says of it.

    Args:
        expressions: regular expressions in which each counter is a named group; see `definitions.progress.COUNTERS`.
        epochs: how many there are by the definition; None where it does not say.
    """

    expressions: tuple[str, ...] = ()
    epochs: float | None = None

    def __bool__(self) -> bool:
        return bool(self.expressions)


@dataclass(frozen=True)
class MetricSources:
    """Where the metrics of a job are found beside its reports.

    Args:
        expressions: (name, regular expression with one group) for each metric.
        presets: names of libraries whose output is known.
        level: the metric that says how far a job is, by which the others are gathered; None where nothing does.
        objectives: that a gathered report waits for.
        progress: where is found how far it is.
        from_zero: the metric in the script's own words and reports that counts levels from 0, where reports count what is done; else None.
    """

    expressions: tuple[tuple[str, str], ...] = ()
    presets: tuple[str, ...] = ()
    level: str | None = None
    objectives: tuple[str, ...] = ()
    progress: ProgressSources = ProgressSources()
    from_zero: str | None = None

    @property
    def has_metrics(self) -> bool:
        """Whether metrics are looked for, and not progress alone."""
        return bool(self.expressions or self.presets)

    def __bool__(self) -> bool:
        return self.has_metrics or bool(self.progress)


NO_SOURCES = MetricSources()


def expressions_of(metrics: Any) -> dict[str, str]:
    """Return the regular expressions in a definition's `metrics`, by name; what is listed later wins."""
    found: dict[str, str] = {}
    for one in _listed(metrics):
        if isinstance(one, Mapping):
            found |= one
    return found


def _listed(metrics: Any) -> tuple[str | dict[str, str], ...]:
    return () if metrics is None else metrics if isinstance(metrics, tuple) else (metrics,)


def sources_of(
    metrics: Any,
    level: str | None,
    objectives: Iterable[str],
    progress: ProgressSources = NO_SOURCES.progress,
    from_zero: str | None = None,
) -> MetricSources:
    """Return what a definition's `metrics` and `progress` say.

    Args:
        metrics: as validated.
        level: what the fidelity is reported as; None where there is none.
        objectives: of the script.
        progress: where it is found.
        from_zero: the level where the script counts from 0.
    """
    if not metrics:
        return MetricSources(progress=progress, from_zero=from_zero)
    presets = tuple(one for one in _listed(metrics) if isinstance(one, str))
    return MetricSources(tuple(expressions_of(metrics).items()), presets, level, tuple(objectives), progress, from_zero)


def counted(metrics: Mapping[str, Any], from_zero: str | None) -> Mapping[str, Any]:
    """Return metrics in which the level counts what is done.

    Args:
        metrics: as a script has them.
        from_zero: the level where it counts from 0; else None.
    """
    level = None if from_zero is None else metrics.get(from_zero)
    is_number = isinstance(level, (int, float)) and not isinstance(level, bool)
    return {**metrics, from_zero: level + 1} if from_zero is not None and level is not None and is_number else metrics


def check_expression(text: str, groups: int = 1) -> None:
    """Raise `ValueError`, with a sentence, where a regular expression is none, has other groups, or could take for ever.

    Args:
        text: the expression.
        groups: how many it must have.
    """
    try:
        found = re.compile(text).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from error
    if found != groups and groups == 1:
        raise ValueError(f"{text!r} has {found} groups; it needs exactly one, around the number (others are written `(?:...)`)")
    if found != groups:
        raise ValueError(f"{text!r} has groups of its own; they are written `(?:...)` there")
    tree = _parsed(text)
    if any(_is_catastrophic(inner) for inner in _repeats(tree)):
        raise ValueError(
            f"{text!r} repeats what itself repeats, so that one line could take for ever; "
            "write e.g. `[^,]+` or `\\S+` in place of the inner one"
        )
    count = sum(1 for _ in _repeats(tree))
    if count > _MOST_REPEATS:
        raise ValueError(f"{text!r} has {count} parts of any length (`*`, `+`); at most {_MOST_REPEATS} can be searched in time")


def time_power(text: str, *, ascii_only: bool = False) -> int:
    """Return the power of a line's length that the time of a search grows with, less the one for the places where it can begin.

    Args:
        text: an expression that was checked.
        ascii_only: whether this is about lines without other letters than those of ASCII.
    """
    tree = _parsed(text)
    count = sum(1 for _ in _repeats(tree))
    if not ascii_only or _FLAGS.search(text):
        return count
    # What cannot be taken by what follows need not be given back: all such parts together take the line's length once.
    parts = list(_flat(tree))
    settled = sum(1 for number, part in enumerate(parts) if _is_settled(part, parts[number + 1 :]))
    return min(count, count - settled + 1)


def _is_settled(part: Any, after: Sequence[Any]) -> bool:
    """Return whether a part is of any length and takes, letter by letter, what no part after it can take in its place."""
    name, argument = str(part[0]), part[1]
    if not name.endswith("_REPEAT") or argument[1] <= _UNLIMITED:
        return False
    taken = _one_letter(argument[2])
    for operator, following in after:
        if not taken:
            return False
        kind = str(operator)
        if kind == "AT":
            continue
        repeated = following[2] if kind.endswith("_REPEAT") else [(operator, following)]
        others = _one_letter(repeated)
        if not others or others & taken:
            return False
        if not kind.endswith("_REPEAT") or following[0] > 0:
            return True
    return bool(taken)


def _one_letter(body: Iterable[Any]) -> frozenset[str]:
    """Return the letters of which this takes one; empty where it takes anything else."""
    parts = list(_flat(body))
    name = str(parts[0][0]) if len(parts) == 1 else ""
    return _letters_of(name, parts[0][1]) if name in _ONE_LETTER else frozenset()


def _parsed(text: str) -> Any:
    # The parser has no public name, but its tree has been the same since Python 3.6.
    return importlib.import_module("re._parser").parse(text)


def _repeats(tree: Iterable[Any]) -> Iterator[Sequence[Any]]:
    """Yield what is repeated without a limit anywhere in a tree, outer ones first."""
    for operator, argument in tree:
        if str(operator).endswith("_REPEAT") and argument[1] > _UNLIMITED:
            yield argument[2]
        for inner in _within(str(operator), argument):
            yield from _repeats(inner)


def _within(name: str, argument: Any) -> Iterator[Any]:
    if name.endswith("_REPEAT"):
        yield argument[2]
    elif name == "SUBPATTERN":
        yield argument[3]
    elif name == "BRANCH":
        yield from argument[1]
    elif name in ("ASSERT", "ASSERT_NOT"):
        yield argument[1]
    elif name == "ATOMIC_GROUP":
        yield argument
    elif name == "GROUPREF_EXISTS":
        yield from (one for one in argument[1:] if one is not None)


def _is_catastrophic(body: Sequence[Any]) -> bool:
    """Return whether something repeated can be read in several ways, of which there are then exponentially many."""
    parts = list(_flat(body))
    for number, (operator, argument) in enumerate(parts):
        name = str(operator)
        if name in ("BRANCH", "GROUPREF", "GROUPREF_EXISTS"):
            firsts = [_first(branch) for branch in argument[1]] if name == "BRANCH" else []
            if not firsts or any(one & other for at, one in enumerate(firsts) for other in firsts[:at]) or not all(firsts):
                return True
        if name.endswith("_REPEAT") and argument[0] != argument[1]:
            if name == "POSSESSIVE_REPEAT":
                continue
            taken = _letters(argument[2])
            # Something that has to come and that the inner repeat cannot take tells where one round ends.
            others = [_first([part]) for at, part in enumerate(parts) if at != number and _is_needed(part)]
            if not any(other and not other & taken for other in others):
                return True
    return False


def _flat(body: Iterable[Any]) -> Iterator[Any]:
    for operator, argument in body:
        if str(operator) == "SUBPATTERN":
            yield from _flat(argument[3])
        else:
            yield operator, argument


def _is_needed(part: Any) -> bool:
    name = str(part[0])
    return name in _ONE_LETTER or (name.endswith("_REPEAT") and part[1][0] > 0)


def _first(body: Iterable[Any]) -> frozenset[str]:
    """Return the letters that a text matched by this can begin with; empty where that is not known."""
    for operator, argument in _flat(body):
        name = str(operator)
        if name in _ONE_LETTER:
            return _letters_of(name, argument)
        return _first(argument[2]) if name.endswith("_REPEAT") and argument[0] > 0 else frozenset()
    return frozenset()


def _letters(body: Iterable[Any]) -> frozenset[str]:
    """Return all letters that are in what this can match."""
    found: frozenset[str] = frozenset()
    for operator, argument in _flat(body):
        name = str(operator)
        if name in _ONE_LETTER:
            found |= _letters_of(name, argument)
        elif name != "AT":
            for inner in _within(name, argument):
                found |= _letters(inner)
    return found


def _letters_of(name: str, argument: Any) -> frozenset[str]:
    """Return the letters that one part of an expression's tree takes, of ASCII and those that it names; by its operator's name."""
    if name == "ANY":
        return frozenset(_ALPHABET)
    if name == "LITERAL":
        return frozenset([chr(argument)])
    if name == "NOT_LITERAL":
        return frozenset(_ALPHABET) - {chr(argument)}
    found: set[str] = set()
    for operator, value in argument:
        kind = str(operator)
        if kind == "LITERAL":
            found.add(chr(value))
        elif kind == "RANGE":
            found |= {letter for letter in _ALPHABET if value[0] <= ord(letter) <= value[1]}
        elif kind == "CATEGORY":
            what = str(value).removeprefix("CATEGORY_")
            holds = _CATEGORIES[what.removeprefix("NOT_")]
            found |= {letter for letter in _ALPHABET if holds(letter) is not what.startswith("NOT_")}
    negated = any(str(operator) == "NEGATE" for operator, _ in argument)
    return frozenset(_ALPHABET) - found if negated else frozenset(found)


def _checked(value: Any) -> Any:
    """Return a definition's `metrics` as given, lists as tuples; raises `ValueError` with a sentence on what is wrong."""
    if isinstance(value, (list, tuple)):
        return tuple(_checked_one(one) for one in value)
    return _checked_one(value)


def _checked_one(value: Any) -> Any:
    if isinstance(value, str):
        if value not in PRESETS:
            near = nearest(value, PRESETS)
            hint = f"did you mean {near!r}?" if near else "known: " + ", ".join(PRESETS)
            raise ValueError(f"{value!r} is no library whose output is known; {hint} (an expression needs a name: `loss: '...'`)")
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"needs expressions by name, the name of a library ({', '.join(PRESETS)}), or a list of both; {value!r} was given")
    for name, text in value.items():
        if not isinstance(text, str) or not isinstance(name, str) or not name:
            raise ValueError(f"{name}: needs a regular expression as text, in quotes; {text!r} was given")
        try:
            check_expression(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return dict(value)


Metrics = Annotated[Any, BeforeValidator(_checked), WithJsonSchema(_SCHEMA)]
