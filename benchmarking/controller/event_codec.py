"""Back-end events and suggestions as journal records, and back: the one place that knows both forms.

A record's kind is the name of the event's class in lower case, its body the event's fields but for the time, which the record has.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from backends.events import Event
from benchmarking.controller.journal import Record
from benchmarking.controller.method import Suggestion

_ADDED_LATER = frozenset(
    {("Reported", "incarnation"), ("Reported", "rank"), ("Closed", "instance_type"), ("Noted", "memo"), ("Retained", "kept")}
    | {("Progressed", name) for name in ("at_most", "by_step", "peak_bytes", "delayed_s")}
)
"""Fields that are left out at their default, as they were before there were any."""


Convert = Callable[[Any], Any]


class _Form:
    """How the events of a class are written: their fields, and what of them is not written as it is."""

    def __init__(self, event_class: type[Event]) -> None:
        hints = typing.get_type_hints(event_class)
        fields = [field for field in dataclasses.fields(event_class) if field.name != "at"]
        converters = {field.name: _converters(hints[field.name]) for field in fields}
        self.event_class = event_class
        self.kind = event_class.__name__.lower()
        self.names = tuple(field.name for field in fields)
        self.encoders = [(name, encode) for name, (encode, _) in converters.items() if encode is not None]
        self.decoders = [(name, decode) for name, (_, decode) in converters.items() if decode is not None]
        self.left_out = [(field.name, field.default) for field in fields if (event_class.__name__, field.name) in _ADDED_LATER]


def _converters(hint: Any) -> tuple[Convert | None, Convert | None]:
    """Return how a value of a type becomes JSON and how it comes back, None where it is JSON."""
    optional = isinstance(hint, types.UnionType)
    kind = next(one for one in typing.get_args(hint) if one is not type(None)) if optional else hint
    origin = typing.get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, enum.StrEnum):
        return (_unless_none(str), _unless_none(origin)) if optional else (str, origin)
    if origin is tuple:
        return list, tuple
    if origin is Mapping:
        return (_unless_none(dict), None) if optional else (dict, None)
    return None, None


def _unless_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


_FORMS: Mapping[type[Event], _Form] = {event_class: _Form(event_class) for event_class in Event.__subclasses__()}
_FORM_OF_KIND: Mapping[str, _Form] = {form.kind: form for form in _FORMS.values()}


def suggestion_body(suggestion: Suggestion | None, skipped: int, last_reason: str, evaluation: int, block_of: int | None) -> dict[str, Any]:
    """Return the body of a `suggest` record.

    Args:
        suggestion: what the method suggested; None where it has no more.
        skipped: suggestions before it that cannot run.
        last_reason: why the last of them cannot.
        evaluation: number that a new one gets.
        block_of: how many are ordered together.
    """
    body: dict[str, Any] = {"evaluation": None, "block_of": block_of}
    if skipped or (suggestion is None and last_reason):
        body |= {"skipped": skipped, "reason": last_reason}
    if suggestion is not None:
        body |= {"evaluation": evaluation, "configuration": dict(suggestion.configuration)}
        if suggestion.resume is not None:
            body |= {"evaluation": suggestion.resume, "resume": True}
        else:
            body |= {"level": suggestion.level, "repeat": suggestion.repeat}
        if suggestion.checkpoint_from is not None:
            body["checkpoint_from"] = suggestion.checkpoint_from
        if suggestion.prefix_s is not None:
            body["prefix_s"] = suggestion.prefix_s
    return body


def recorded_suggestion(body: Mapping[str, Any]) -> Suggestion | None:
    """Return the suggestion that the body of a `suggest` record holds; None where the method had none."""
    if body["evaluation"] is None:
        return None
    if body.get("resume"):
        return Suggestion({}, resume=body["evaluation"])
    further = {name: body.get(name) for name in ("checkpoint_from", "prefix_s")}
    return Suggestion(body["configuration"], body["level"], body["repeat"], **further)


def event_record(event: Event) -> tuple[str, dict[str, Any]]:
    """Return the record kind and body of an event; raises `TypeError` for what is none."""
    form = _FORMS.get(type(event))
    if form is None:
        raise TypeError(f"{type(event).__name__} is no back-end event")
    # The fields of an event as they are; faster than to ask for each, and this is done for every report.
    body = event.__dict__.copy()
    del body["at"]
    for name, encode in form.encoders:
        body[name] = encode(body[name])
    for name, default in form.left_out:
        if body[name] == default:
            del body[name]
    return form.kind, body


def record_event(record: Record) -> Event | None:
    """Return the event that a record holds, or None where it is none."""
    form = _FORM_OF_KIND.get(record.kind)
    if form is None:
        return None
    if not form.decoders and len(record.body) <= len(form.names) - len(form.left_out):
        return form.event_class(at=record.at, **record.body)
    # A record may say more than its event did, e.g. what instances cost.
    given = {name: value for name, value in record.body.items() if name in form.names}
    for name, decode in form.decoders:
        given[name] = decode(given[name])
    return form.event_class(at=record.at, **given)
