"""Reads Triton's config.pbtxt: protocol buffers in text form, as far as a model's configuration uses it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<word>[A-Za-z_][\w.]*|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<sign>[{}\[\]<>:,;])"""
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}

Fields = dict[str, list[Any]]
"""The fields of a message: what stands under each name, in order; words and numbers as text, messages as `Fields`."""


@dataclass(frozen=True)
class TensorConfig:
    """An input or output: name, Triton's data type without `TYPE_`, and dimensions without that of the batch (-1: free)."""

    name: str
    datatype: str
    dims: tuple[int, ...]


@dataclass(frozen=True)
class ModelConfig:
    """What servers here use of a model's configuration.

    Args:
        max_batch_size: 0 where the model has no dimension of rows.
        is_batched: whether requests may be joined (`dynamic_batching`).
        batch_delay_ms: milliseconds that one may wait for others; None where nothing is said.
        instances: copies of the model within the server; None where nothing is said.
    """

    max_batch_size: int = 0
    is_batched: bool = False
    batch_delay_ms: float | None = None
    instances: int | None = None
    inputs: tuple[TensorConfig, ...] = ()
    outputs: tuple[TensorConfig, ...] = ()
    preferred: tuple[int, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> ModelConfig:
        """Return the configuration in a file; that of a model without rows where there is none.

        Raises:
            ValueError: the file cannot be read as one.
        """
        try:
            return cls.of(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()

    @classmethod
    def of(cls, text: str) -> ModelConfig:
        """Return the configuration in a text; raises `ValueError` as `read`."""
        try:
            fields = parse(text)
            batching = fields.get("dynamic_batching", [])
            delays = [int(number) for one in batching for number in one.get("max_queue_delay_microseconds", [])]
            groups = [int(number) for one in _flat(fields.get("instance_group", [])) for number in one.get("count", ["1"])]
            return cls(
                int(fields.get("max_batch_size", ["0"])[-1]),
                bool(batching),
                delays[-1] / 1000.0 if delays else None,
                sum(groups) if groups else None,
                tuple(_tensor(one) for one in _flat(fields.get("input", []))),
                tuple(_tensor(one) for one in _flat(fields.get("output", []))),
                tuple(int(number) for one in batching for number in _flat(one.get("preferred_batch_size", []))),
                {one["key"][0]: one["value"][0].get("string_value", [""])[0] for one in fields.get("parameters", [])},
            )
        except (KeyError, IndexError, AttributeError, TypeError) as error:
            raise ValueError(f"config.pbtxt: {type(error).__name__}: {error}") from error


def parse(text: str) -> Fields:
    """Return the fields of a message in text form.

    Raises:
        ValueError: the text is none.
    """
    return _message(_tokens(text), None)


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            line = text.count("\n", 0, at) + 1
            raise ValueError(f"config.pbtxt, line {line}: {text[at : at + 20]!r} is not understood")
        at = match.end()
        if match.lastgroup is not None:
            yield match[0]


def _message(tokens: Iterator[str], closing: str | None) -> Fields:
    fields: Fields = {}
    for token in tokens:
        if token == closing:
            return fields
        if token in ",;":
            continue
        if not re.fullmatch(r"[A-Za-z_][\w.]*", token):
            raise ValueError(f"config.pbtxt: {token!r} where the name of a field is expected")
        value = next(tokens, "")
        value = next(tokens, "") if value == ":" else value
        fields.setdefault(token, []).append(_value(value, tokens))
    if closing is not None:
        raise ValueError(f"config.pbtxt: {closing!r} is missing at the end")
    return fields


def _value(token: str, tokens: Iterator[str]) -> Any:
    if token in ("{", "<"):
        return _message(tokens, "}" if token == "{" else ">")
    if token == "[":
        found: list[Any] = []
        for inner in tokens:
            if inner == "]":
                return found
            if inner != ",":
                found.append(_value(inner, tokens))
        raise ValueError("config.pbtxt: ']' is missing at the end")
    if token[:1] in ("'", '"'):
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), token[1:-1])
    if not token or token in "}]>:,;":
        raise ValueError(f"config.pbtxt: {token!r} where a value is expected")
    return token


def _flat(values: list[Any]) -> list[Any]:
    """Return what stands in a repeated field, written one by one or as a list."""
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


def _tensor(fields: Fields) -> TensorConfig:
    dims = tuple(int(side) for side in _flat(fields.get("dims", [])))
    return TensorConfig(fields["name"][0], fields["data_type"][0].removeprefix("TYPE_"), dims)
