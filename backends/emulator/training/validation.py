"""Requests against botocore's model of a service, with patterns and limits, and what SageMaker's prose adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from backends.emulator.http.errors import ServiceError, invalid
from definitions.errors import UserError

_CLASSES = {
    r"\p{Alnum}": "A-Za-z0-9",
    r"\p{L}": r"^\W\d_",
    r"\p{Z}": r"\s",
    r"\p{N}": r"\d",
}

_BLANKS = " \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
r"""Unicode's separators, which `\p{Z}` is: neither tabs nor ends of lines."""


class RequestValidator:
    """The operations of one service.

    Args:
        service: botocore's name of it, e.g. `sagemaker`.

    Raises:
        UserError: AWS_PROFILE names a profile that is not there, with which no client works.
    """

    def __init__(self, service: str) -> None:
        import botocore.session
        from botocore.exceptions import ProfileNotFound

        try:
            self._model = botocore.session.get_session().get_service_model(service)
        except ProfileNotFound as error:
            raise UserError("AWS_PROFILE is set", str(error), "unset it, or name one that is there: no AWS client works with it") from error
        self._patterns: dict[str, re.Pattern[str] | None] = {}

    def check(self, operation: str, request: Mapping[str, Any]) -> None:
        """Raise a `ValidationException` naming each member that breaks the model; unknown members are ignored."""
        found = list(self._problems(self._model.operation_model(operation).input_shape, request, ""))
        if found:
            noun = "error" if len(found) == 1 else "errors"
            raise invalid(f"{len(found)} validation {noun} detected: " + "; ".join(found))

    def has(self, operation: str) -> bool:
        """Return whether the service has such an operation."""
        return operation in self._model.operation_names

    def output_members(self, operation: str) -> list[str]:
        """Return the names of an answer's members."""
        return list(self._model.operation_model(operation).output_shape.members)

    def values(self, shape: str) -> list[str]:
        """Return the values of an enumeration."""
        return list(self._model.shape_for(shape).enum)

    def _problems(self, shape: Any, value: Any, path: str) -> Iterator[str]:
        expected = _TYPES.get(shape.type_name)
        if expected is not None and not expected(value):
            raise ServiceError("SerializationException", f"{path or 'the request'}: expected {shape.type_name}, not {_kind(value)}")
        if shape.type_name == "structure":
            for name in shape.required_members:
                if value.get(name) is None:
                    yield _failed("null", f"{path}.{name}", "Member must not be null")
            for name, member in shape.members.items():
                if value.get(name) is not None:
                    yield from self._problems(member, value[name], f"{path}.{name}")
        elif shape.type_name == "list":
            yield from _sized(shape, value, path)
            for number, item in enumerate(value):
                yield from self._problems(shape.member, item, f"{path}.{number + 1}.member")
        elif shape.type_name == "map":
            yield from _sized(shape, value, path)
            for key, item in value.items():
                yield from self._problems(shape.key, key, f"{path}.key")
                yield from self._problems(shape.value, item, f"{path}.{key}.member")
        elif shape.type_name == "string":
            yield from self._text(shape, value, path)
        elif shape.type_name in ("integer", "long", "float", "double"):
            yield from _ranged(shape, value, path)

    def _text(self, shape: Any, value: str, path: str) -> Iterator[str]:
        yield from _sized(shape, value, path)
        if shape.enum and value not in shape.enum:
            yield _failed(value, path, f"Member must satisfy enum value set: [{', '.join(shape.enum)}]")
        pattern = shape.metadata.get("pattern")
        if pattern and not self._matches(pattern, value):
            yield _failed(value, path, f"Member must satisfy regular expression pattern: ^{pattern}$")

    def _matches(self, pattern: str, value: str) -> bool:
        if pattern not in self._patterns:
            self._patterns[pattern] = _compiled(pattern)
        compiled = self._patterns[pattern]
        return compiled is None or compiled.fullmatch(value) is not None


def _compiled(pattern: str) -> re.Pattern[str] | None:
    # The models use Java's syntax. `\p{L}` inside a set has no twin here; the one pattern with it is checked as any word character.
    text = pattern.replace(r"[\p{L}\p{Z}\p{N}_.:/=+\-@]", rf"[\w{_BLANKS}.:/=+\-@]")
    for java, python in _CLASSES.items():
        text = text.replace(java, python)
    try:
        return re.compile(text, re.DOTALL)
    except re.error:
        return None


_TYPES: dict[str, Callable[[Any], bool]] = {
    "structure": lambda value: isinstance(value, Mapping),
    "map": lambda value: isinstance(value, Mapping),
    "list": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "long": lambda value: isinstance(value, int) and not isinstance(value, bool),
}


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _failed(value: Any, path: str, constraint: str) -> str:
    where = ".".join(part[:1].lower() + part[1:] for part in path.lstrip(".").split("."))
    shown = str(value)
    return f"Value '{shown if len(shown) <= 200 else shown[:200] + '...'}' at '{where}' failed to satisfy constraint: {constraint}"


def _sized(shape: Any, value: Any, path: str) -> Iterator[str]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and len(value) < least:
        yield _failed(value, path, f"Member must have length greater than or equal to {least}")
    if most is not None and len(value) > most:
        yield _failed(value, path, f"Member must have length less than or equal to {most}")


def _ranged(shape: Any, value: float, path: str) -> Iterator[str]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and value < least:
        yield _failed(value, path, f"Member must have value greater than or equal to {least}")
    if most is not None and value > most:
        yield _failed(value, path, f"Member must have value less than or equal to {most}")
