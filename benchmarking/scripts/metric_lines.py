"""Finds metrics in the output of a trial run that are said in words of the script's own, and the regular expressions that find them again.

A number belongs to the words before it. Each expression is tried on the whole output: it has to find these numbers and no others. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from backends.metrics.patterns import ESCAPES, decoded
from benchmarking.scripts.metric_names import is_beside_the_point, is_level_name, is_metric_name
from definitions.metrics import check_expression

NUMBER = r"([-+0-9.eE]*[0-9]|nan|-?inf)"
"""The group of all expressions that are made here."""

_NUMBER = re.compile(
    r"(?<![\w./])(?<!\d:)(?<!\d-)(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|NaN|-?inf)"
    r"(?!\w)(?!:\d)(?!-\d)(?!\.\d)"
)
_SEGMENT = re.compile(r"[,;|()\[\]{}<>\t/]|(?<=\d)-|\s-+\s|\s{2,}|: (?=\S)|: *$|(?<=\S)=(?=\S)")
_WORD = re.compile(r"[A-Za-z_][\w@.+-]*")
_SPLIT = re.compile(r"(?i)(?<!\w)(train(?:ing)?|val(?:id(?:ation)?)?|dev|test(?:ing)?|eval(?:uation)?)(?!\w)")
_IDLE = frozenset(
    {"is", "of", "the", "at", "for", "in", "on", "after", "and", "with", "to", "a", "an", "got", "by", "info", "set", "current"}
)
_GAP = "\0"
"""Behind `.*` in a label it says that these two are no part of the text."""

_MOST_LINES = 20_000
_MOST_WORDS = 3
_MOST_METRICS = 12


@dataclass
class Found:
    """A number that the output names again and again.

    Args:
        name: made of the words before it.
        expression: regular expression that finds it; empty until one is found.
        values: what it was, by line.
        prefixes: the text of the line before each; `labels`: the words in it that name it.
        split: the word that says which part of the data it is of, where that is not beside it; empty where there is none.
    """

    name: str
    expression: str = ""
    values: dict[int, float] = field(default_factory=dict)
    prefixes: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    split: str = ""

    @property
    def course(self) -> tuple[float, ...]:
        """The values in their order."""
        return tuple(self.values.values())

    @property
    def is_constant(self) -> bool:
        """Whether it was the same each time, or was said once."""
        return len(set(self.course)) == 1

    @property
    def is_level(self) -> bool:
        """Whether it says how far the job is: a whole number that is called so and never falls."""
        course = self.course
        whole = all(math.isfinite(value) and value == int(value) for value in course)
        return is_level_name(self.name) and whole and all(one <= other for one, other in pairwise(course))


def lines_of(output: bytes) -> list[str]:
    """Return the lines of an output as text without colours, the states of progress bars each as a line."""
    return [text for line in re.split(rb"[\r\n]+", ESCAPES.sub(b"", output))[:_MOST_LINES] if (text := decoded(line)).strip()]


def find_metrics(lines: Sequence[str]) -> list[Found]:
    """Return the metrics and levels that lines name, each with its expression, the levels first.

    Args:
        lines: of the output.
    """
    found: dict[str, Found] = {}
    for number, line in enumerate(lines):
        if not line.startswith(("Traceback", "  File ")):
            for name, label, split, prefix, value in _named_numbers(line):
                one = found.setdefault(name, Found(name, split=split))
                if number not in one.values:
                    one.values[number] = value
                    one.prefixes.append(prefix)
                    one.labels.append(label)
    kept = [one for one in found.values() if _is_worth(one)]
    for one in kept:
        one.expression = _expression(one, lines)
    kept = [one for one in kept if one.expression]
    # What never changed, as a number that a script was given and repeats, comes after what did.
    levels = sorted((one for one in kept if one.is_level), key=lambda one: one.is_constant)
    others = sorted((one for one in kept if not one.is_level), key=_place_of_metric)
    return [*levels[:1], *others[:_MOST_METRICS]]


def _place_of_metric(one: Found) -> tuple[bool, bool]:
    # What is said once may be the result of it all.
    return one.is_constant and len(one.values) > 1, not is_metric_name(one.name)


def _is_worth(one: Found) -> bool:
    if one.is_level:
        return True
    if is_level_name(one.name) or is_beside_the_point(one.name):
        return False
    if is_metric_name(one.name):
        return True
    # A number of no known name counts where it is named again and is not always whole, as counts are.
    return len(one.values) > 1 and len(set(one.course)) > 1 and any(value != int(value) for value in one.course if math.isfinite(value))


def _named_numbers(line: str) -> Iterator[tuple[str, str, str, str, float]]:
    """Yield each number that words stand before: its name, those words as written, the split it is of, the text before, and itself."""
    end, waiting = 0, ""
    for match in _NUMBER.finditer(line):
        before = line[end : match.start()]
        end = match.end()
        label = _label(before)
        words = _words(label)
        if len(words) > 1 and is_level_name(words[-1]):
            # `accuracy after epoch 3: 0.8`: the words before the level are those of the number after it.
            waiting, label, words = label, label[label.rindex(words[-1]) :], words[-1:]
        elif not words and waiting and before.strip() in (":", "=", "is", "-", "->"):
            level = _words(waiting)[-1]
            label, words = f"{waiting[: waiting.rindex(level)].rstrip()}.*{_GAP}{before}", _words(waiting)[:-1]
            waiting = ""
        if not words:
            if not line[: match.start()].strip(" [(") and re.match(r"/\d", line[match.end() :]):
                # `[3/10] loss: 0.5` says how far it is without a word for it.
                yield "epoch", before, "", before, float(match["number"])
            continue
        name = re.sub(r"[\W_]+", "_", "_".join(words).lower()).strip("_")
        # `Train ... loss: 0.3` and `Test ... loss: 0.4` are two metrics.
        is_clear = is_level_name(name) or _SPLIT.search(name.replace("_", " "))
        split = "" if is_clear else ["", *_SPLIT.findall(line[: match.start()])][-1]
        yield (f"{split.lower()}_{name}" if split else name), label, split, line[: match.start()], float(match["number"])


def _words(label: str) -> list[str]:
    return [word for word in _WORD.findall(label) if word.lower() not in _IDLE][-_MOST_WORDS:]


def _label(before: str) -> str:
    """Return the words that belong to a number: those after the last separator before it, with what stands between."""
    text = before.rstrip()
    tail = before[len(text) :]
    stripped = text.rstrip("=:|>([{'\"~- ")
    parts = _SEGMENT.split(stripped)
    first = _WORD.search(parts[-1])
    return parts[-1][first.start() :] + text[len(stripped) :] + tail if first is not None else ""


def _expression(one: Found, lines: Sequence[str]) -> str:
    """Return the first expression, of more and more context, that finds these numbers and no others; empty where none does."""
    for candidate in _candidates(one):
        try:
            check_expression(candidate)
        except ValueError:
            continue
        regex = re.compile(candidate)
        hits = {number: match[1] for number, line in enumerate(lines) if (match := regex.search(line)) is not None}
        if hits.keys() == one.values.keys() and all(_is_same(hits[number], value) for number, value in one.values.items()):
            return candidate
    return ""


def _candidates(one: Found) -> Iterator[str]:
    label = _loose(one.labels)
    if _WORD.search(label) is None:
        yield rf"^{label}{NUMBER}/[0-9]"
        return
    if one.split:
        yield rf"{re.escape(one.split)}.*?\b{label}{NUMBER}"
        return
    if one.is_level or len(_WORD.findall(one.labels[0])) > 1:
        yield rf"{label}{NUMBER}"
    yield rf"\b{label}{NUMBER}"
    yield rf"(?:^ *|[^\w ] *){label}{NUMBER}"
    yield rf"^{label}{NUMBER}"
    common = _common_start(one.prefixes)
    if common.strip():
        yield rf"^{re.escape(common)}.*\b{label}{NUMBER}"


def _loose(labels: Sequence[str]) -> str:
    """Return an expression for words as they were written, with any number of blanks where their number varies, or may vary.

    Several blanks before a number pad it to a width, and are fewer where it has more digits than it had here; none may be left.
    """
    parts = [re.escape(part).replace(r"\ ", " ") for part in labels[0].split(f".*{_GAP}")]
    label = ".*".join(parts)
    label = re.sub(" +" if len(set(labels)) > 1 else " {2,}", " +", label)
    return f"{label[:-1]}*" if labels[0].endswith("  ") else label


def _common_start(texts: Iterable[str]) -> str:
    listed = list(texts)
    first, last = min(listed), max(listed)
    size = next((place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), min(len(first), len(last)))
    words = re.match(r"[^\d]*", first[:size])
    return "" if words is None else words[0]


def _is_same(text: str, value: float) -> bool:
    try:
        found = float(text)
    except ValueError:
        return False
    return found == value or (math.isnan(found) and math.isnan(value))


def as_mapping(found: Iterable[Found]) -> Mapping[str, str]:
    """Return the expressions by name."""
    return {one.name: one.expression for one in found}
