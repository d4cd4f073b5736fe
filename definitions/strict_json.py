"""JSON that any strict parser reads: NaN and infinities are tagged strings. Used for every JSON that Outrider writes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

_TAG = "$float"
_NAMES = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_encoder = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
_decode = json.JSONDecoder().raw_decode


def _parts() -> Callable[[Any, int], Iterable[str]]:
    """Return what gives the pieces of an encoded value: the encoder's C part, which it makes anew for each (most of a small one's cost)."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, indentation: _encoder.iterencode(value)
    found: Callable[[Any, int], Iterable[str]] = make(
        None, _encoder.default, json.encoder.encode_basestring, None, ":", ",", True, False, False
    )
    return found


_encode = _parts()


def dumps(value: Any) -> str:
    """Return canonical JSON (sorted keys, no spaces); a non-finite float x becomes `{"$float": "nan"}`.

    Raises:
        TypeError: the value holds something that JSON cannot express.
    """
    try:
        return "".join(_encode(value, 0))
    except ValueError:
        return "".join(_encode(_tagged(value), 0))


def loads(text: str) -> Any:
    """Return what `dumps` was given (tuples come back as lists)."""
    if _TAG in text:
        return json.loads(text, object_hook=_untagged)
    value, end = _decode(text)
    if end != len(text) and text[end:].strip():
        raise ValueError(f"unexpected text after the JSON value: {text[end : end + 40]!r}")
    return value


def _tagged(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")}
    if isinstance(value, dict):
        return {key: _tagged(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tagged(item) for item in value]
    return value


def _untagged(mapping: dict[str, Any]) -> Any:
    if len(mapping) == 1 and _TAG in mapping and mapping[_TAG] in _NAMES:
        return _NAMES[mapping[_TAG]]
    return mapping
