"""In which form a key's value is told where there are several: one for all keys, or one for each by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BeforeValidator, WithJsonSchema

from definitions.errors import nearest

Boolean = Literal["value", "switch", "no_switch"]
ListForm = Literal["words", "repeated", "comma"]
Form = TypeVar("Form", Boolean, ListForm)

OTHERS = "*"
"""In a mapping of forms it stands for all keys that are not named."""


def form_of(forms: Form | Mapping[str, Form], key: str, usual: Form) -> Form:
    """Return the form of a key: its own, that of the others, or the usual one.

    Args:
        forms: one for all, or by key.
        key: of the script.
        usual: where nothing is said.
    """
    return forms.get(key, forms.get(OTHERS, usual)) if isinstance(forms, Mapping) else forms


def unknown_keys(forms: Any, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each key of a mapping of forms that the script is not told, and what is wrong with it."""
    known = [*keys]
    for key in forms if isinstance(forms, Mapping) else ():
        if key != OTHERS and key not in known:
            near = nearest(key, known)
            yield key, f"the script is told no {key!r}; " + (f"did you mean {near!r}?" if near else f"its keys: {', '.join(known)}")


def _checked(kinds: tuple[str, ...], value: Any) -> Any:
    named = value.items() if isinstance(value, Mapping) and value else [("", value)]
    for key, one in named:
        if one not in kinds:
            near = nearest(str(one), kinds)
            hint = f"; did you mean {near!r}?" if near else ""
            of = f"{key}: " if key else ""
            raise ValueError(f"{of}must be one of {', '.join(kinds)}, or a mapping of keys to these ({OTHERS!r} for all others){hint}")
    return dict(value) if isinstance(value, Mapping) else value


def _schema(kinds: tuple[str, ...]) -> WithJsonSchema:
    one = {"enum": [*kinds], "type": "string"}
    return WithJsonSchema({"anyOf": [one, {"type": "object", "additionalProperties": one, "minProperties": 1}]})


_BOOLEANS, _LISTS = get_args(Boolean), get_args(ListForm)
Booleans = Annotated[Boolean | dict[str, Boolean], BeforeValidator(lambda value: _checked(_BOOLEANS, value)), _schema(_BOOLEANS)]
Lists = Annotated[ListForm | dict[str, ListForm], BeforeValidator(lambda value: _checked(_LISTS, value)), _schema(_LISTS)]
