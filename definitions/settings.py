"""`--set key=value` settings: parses them and lays them over a definition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from definitions import strict_json
from definitions.backend_description import BackendDescription
from definitions.backend_registry import backend_names
from definitions.configuration import Scalar
from definitions.draft import Draft
from definitions.errors import UserError, nearest
from definitions.problems import HOMES, fields_at, takes_list, takes_text
from definitions.schema import BenchmarkDefinition, Overrides
from definitions.space import KINDS
from definitions.yaml_source import KeyPath, SourceLocation, parse_scalar, parse_yaml

_OPEN = (
    "space",
    "metrics",
    "arguments",
    "base_trial",
    "objectives",
    "inputs",
    "datasets",
    "models",
    "methods",
    "rename",
    "booleans",
    "lists",
    "environment",
    "stands_for",
    "compare_within",
)
"""Parts whose keys the user names."""

_OF_KEYS = ("space", "arguments", "base_trial", "rename", "booleans", "lists")
"""Parts whose keys are those of configurations, which may have dots."""

_CALL = re.compile(r"([a-z]+)\((.*)\)")
_COMMANDS = ("command", "prepare", "cleanup")
"""Keys that are a list of words, or text that a shell would split."""

_PATHS = ("read",)
"""Keys that are a path, a mapping that describes one, or a list of paths."""

_SET = "--set"
_STUDY = "study"
_VALUES = "values are text, numbers, true/false or null"


@dataclass(frozen=True)
class Setting:
    """One parsed `key=value`.

    Args:
        text: as it was given, with its place where that is not `--set`.
        key: what is set; `values`: to what, more than one for a sweep; of a key that takes paths, mappings that describe one too.
        domain: the search domain, where `{kind: [...]}` was given instead of values.
        raw: the values as they were written, for keys that take text; empty where they were a YAML list.
    """

    text: str
    key: str
    values: tuple[Any, ...]
    domain: Mapping[str, Any] | None = None
    raw: tuple[str, ...] = ()

    @property
    def place(self) -> SourceLocation:
        """The setting as a place, for messages and origins."""
        return place_of(self.text)


class PlacedSetting(str):
    """The text of a setting that was not written after `--set`, with where it was."""

    __slots__ = ("place",)
    place: SourceLocation

    def __new__(cls, text: str, place: SourceLocation) -> Self:
        """Return the text with its place."""
        made = super().__new__(cls, text)
        made.place = place
        return made

    def __getnewargs__(self) -> tuple[str, SourceLocation]:  # type: ignore[override]
        """Return what another process makes it of."""
        return str(self), self.place


def place_of(setting: str) -> SourceLocation:
    """Return where a setting was written."""
    return setting.place if isinstance(setting, PlacedSetting) else SourceLocation(f"--set {setting}", _SET)


def is_given_now(origin: str) -> bool:
    """Return whether the origin of a value is a setting: after `--set`, or of the study that is asked for."""
    return origin == _SET or origin.endswith(f" ({_STUDY})")


def of_study(place: SourceLocation, key: str) -> SourceLocation:
    """Return the place of a value that a study lays over definitions.

    Args:
        place: of its key.
        key: what it is called there, for messages.
    """
    return SourceLocation(f"{place.text}: {key}", f"{place.origin} ({_STUDY})", place.line)


def parse_setting(text: str) -> Setting:
    """Return a parsed setting: `batch_size=32,64`, `name='a,b'`, `name=[a, "b,c"]`, or `lr={loguniform: [1e-4, 1e-1]}`.

    A domain may also be written `lr=loguniform(1e-4,1e-1)`.

    Raises:
        UserError: no `=`, no key, or a value that is empty or cannot be read.
    """
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not key:
        raise UserError(f"{place_of(text).text}: this is not key=value", "", "write e.g. --set batch_size=32 or --set batch_size=32,64")
    if value[:1] in ("[", "{"):
        try:
            parsed = parse_yaml(f"value: {value}", Path("--set")).data["value"]
        except UserError as error:
            raise UserError(f"{place_of(text).text}: the value cannot be read", error.fact or error.asked) from None
        if isinstance(parsed, Mapping):
            return Setting(text, key, (), parsed)
        if key in _PATHS and not any(isinstance(item, list) for item in parsed):
            return Setting(text, key, tuple(parsed))
        if any(isinstance(item, list) for item in parsed):
            raise UserError(f"{place_of(text).text}: a list within a list", _VALUES)
        if any(isinstance(item, Mapping) for item in parsed):
            raise UserError(f"{place_of(text).text}: a mapping within a list", _VALUES)
        return Setting(text, key, tuple(parsed))
    call = _CALL.fullmatch(value)
    if call is not None and call[1] in KINDS:
        return Setting(text, key, (), {call[1]: [_scalar(item.strip(), text) for item in _split(call[2], text)]})
    items = [item.strip() for item in _split(value, text)]
    values = tuple(_scalar(item, text) for item in items)
    raw = tuple(value if isinstance(value, str) else item for value, item in zip(values, items, strict=True))
    return Setting(text, key, values, None, raw)


def settings_of(values: Mapping[str, Any]) -> list[str]:
    """Return a mapping as settings: its values mean what they are, a list of them is a sweep, and a mapping is a domain."""
    lists = {key: value if isinstance(value, Mapping) else [*value] if isinstance(value, (list, tuple)) else [value]
             for key, value in values.items()}  # fmt: skip
    return [f"{key}={strict_json.dumps(value)}" for key, value in lists.items()]


def apply_settings(draft: Draft, settings: Iterable[str], backend: str, described: BackendDescription[Any] | None = None) -> None:
    """Lay settings over a draft, in their order.

    A bare key is looked up among the keys of the configurations, the fixed arguments, the definition's fields, then the keys
    of `budget`, `study` and the back-end's own block.

    Args:
        draft: what the file and its blocks say.
        settings: `key=value` texts.
        backend: name of the back-end that is resolved for.
        described: its description; None where it is not installed.

    Raises:
        UserError: a setting that cannot be read, or that is meant for nothing there is.
    """
    layers = (backend,) if described is None else described.layers
    for text in settings:
        _apply(draft, parse_setting(text), layers)


def _apply(draft: Draft, setting: Setting, layers: Sequence[str]) -> None:
    path = _path_of(draft, setting, layers)
    if path[-1] in _COMMANDS and len(path) == 1 and setting.raw:
        draft.put(path, setting.text.partition("=")[2].strip(), lambda _: setting.place)
        return
    if path in [(key,) for key in _PATHS]:
        found = [dict(setting.domain)] if setting.domain is not None else list(setting.raw or setting.values)
        draft.put(path, found, lambda _: setting.place)
        return
    is_list = takes_list(path, draft.data)
    inner = (*path, 0) if is_list else path
    if takes_text(inner, draft.data) and setting.raw and setting.values != (None,):
        setting = replace(setting, values=setting.raw)
    if len(path) == 2 and (path[0] == "space" or (path[0] == "base_trial" and draft.get(("trials",)))):
        _set_configuration_key(draft, setting, str(path[1]))
    elif path[0] == "arguments" and len(path) == 2 and (len(setting.values) != 1 or setting.domain is not None):
        if draft.get(("trials",)):
            raise _needs_space(setting, str(path[1]))
        draft.remove(path)
        draft.put(("space", path[1]), _domain(setting), lambda _: setting.place)
    elif is_list or (path[0] == "methods" and len(setting.values) > 1):
        if setting.domain is not None:
            raise UserError(f"{setting.place.text}: {setting.key} is a list", "a domain was given")
        draft.put(path, list(setting.values), lambda _: setting.place)
    else:
        draft.put(path, _single(setting), lambda _: setting.place)


def _path_of(draft: Draft, setting: Setting, layers: Sequence[str]) -> KeyPath:
    """Return the path that a setting means; `layers` are the back-end's blocks, its own last."""
    backend = layers[-1]
    steps = setting.key.split(".")
    if len(steps) == 1 or setting.key in (*_configuration_keys(draft), *(draft.get(("arguments",)) or {})):
        return _bare(draft, setting, backend)
    if steps[0] in _OF_KEYS and all(steps):
        return (steps[0], ".".join(steps[1:]))
    if steps[1:2] == ["tags"]:
        steps = [*steps[:2], ".".join(steps[2:])]  # a tag's key may have dots
    if any(not step for step in steps):
        raise UserError(f"{setting.place.text}: {setting.key!r} has an empty part", "keys are joined by single dots")
    if _is_backend(steps[0]):
        if steps[0] not in layers:
            raise UserError(f"{setting.place.text}: this is about the back-end {steps[0]}", f"the run is on {backend}", "leave it out")
        if steps[1] in Overrides.model_fields:
            steps = steps[1:]
        else:
            steps[0] = backend
    if steps[0] not in (*BenchmarkDefinition.model_fields, backend):
        raise _unknown(draft, setting, backend)
    if steps[0] in ("trials", "valid", "preload"):
        raise UserError(
            f"{setting.place.text}: single entries of {steps[0]} cannot be set", "", f"set a key of the trials, or all of {steps[0]}"
        )
    parent = tuple(steps[:-1])
    known = fields_at(parent, draft.data)
    if len(steps) == 2 and steps[0] not in _OPEN and steps[1] not in known:
        near = nearest(steps[1], known)
        fact = f"did you mean {steps[0]}.{near}?" if near else "known: " + ", ".join(f"{steps[0]}.{name}" for name in known)
        raise UserError(f"{setting.place.text}: there is no key {setting.key!r}", fact if known else f"{steps[0]} has no parts")
    if steps[0] == "methods" and len(steps) == 3 and isinstance(draft.get((*steps[:2], "arguments")), dict) and steps[2] not in known:
        steps.insert(2, "arguments")
    return tuple(steps)


def _bare(draft: Draft, setting: Setting, backend: str) -> KeyPath:
    key = setting.key
    if key in _configuration_keys(draft):
        return ("space", key)
    if key in (draft.get(("arguments",)) or {}):
        return ("arguments", key)
    if key == draft.get(("fidelity", "argument")):
        raise UserError(f"{setting.place.text}: {key!r} is what the fidelity varies", "", "set fidelity.full, or fidelity.ladder")
    if key in BenchmarkDefinition.model_fields or _is_backend(key):
        if key in (*_OPEN, *HOMES, "trials", "fidelity") or _is_backend(key):
            raise UserError(f"{setting.place.text}: {key!r} has parts", "one part is set at a time", f"write {key}.NAME=...")
        return (key,)
    homes = [(home, key) for home in (*HOMES, backend) if key in fields_at((home,), draft.data) and key not in Overrides.model_fields]
    if len(homes) > 1:
        # A study's keys, of which some limit the study as others limit an experiment, come last.
        homes = [home for home in homes if home[0] != "study"]
    if len(homes) == 1:
        return homes[0]
    if homes:
        raise UserError(f"{setting.place.text}: {key!r} is ambiguous", "", "write " + " or ".join(".".join(home) for home in homes))
    raise _unknown(draft, setting, backend)


def _is_backend(key: str) -> bool:
    return key not in BenchmarkDefinition.model_fields and key in backend_names()


def _configuration_keys(draft: Draft) -> list[str]:
    trials = draft.get(("trials",)) or []
    return list(dict.fromkeys([*(draft.get(("space",)) or {}), *(draft.get(("base_trial",)) or {}), *(key for t in trials for key in t)]))


def _set_configuration_key(draft: Draft, setting: Setting, key: str) -> None:
    trials = draft.get(("trials",))
    if not trials:
        _check_numeric(draft, setting, key)
        draft.remove(("arguments", key))
        draft.put(("space", key), _under_condition(draft, key, _domain(setting)), lambda _: setting.place)
        return
    if len(setting.values) != 1:
        raise _needs_space(setting, key)
    listed = draft.place(("trials",))
    base = draft.get(("base_trial",)) or {}
    # Trials that differed in this key alone are now one and the same.
    kept: list[tuple[SourceLocation, dict[str, Scalar]]] = []
    seen = []
    for number, trial in enumerate(trials):
        rest = {name: value for name, value in trial.items() if name != key}
        merged = {**base, **trial, key: setting.values[0]}
        if {**base, **trial} == merged or merged not in seen:
            kept.append((draft.place(("trials", number)), rest))
        seen.append(merged)
    draft.put(("trials",), [trial for _, trial in kept], lambda path: kept[int(path[1])][0] if len(path) > 1 else listed)
    draft.put(("base_trial", key), setting.values[0], lambda _: setting.place)


def _check_numeric(draft: Draft, setting: Setting, key: str) -> None:
    """Raise `UserError` for a value that is no number where the definition's domain has numbers only; one outside of it may be meant."""
    domain = (draft.get(("space",)) or {}).get(key)
    if not isinstance(domain, Mapping) or not domain:
        return
    kind, arguments = next(((name, value) for name, value in domain.items() if name != "when"), ("", []))
    values = arguments if isinstance(arguments, list) else [arguments]
    if kind in ("choice", "ordinal") and not all(_is_number(value) for value in values):
        return
    wrong = next((value for value in setting.values if not _is_number(value)), setting)
    if wrong is not setting:
        shown = f"{{{kind}: [{', '.join(map(str, values))}]}}"
        raise UserError(f"{setting.place.text}: {wrong!r} is no number", f"{key} is {shown}", f"give numbers, e.g. --set {key}={values[0]}")


def _under_condition(draft: Draft, key: str, domain: Any) -> Any:
    """Return a domain that is set in place of a key's own, under the condition that the key has, where it has one."""
    own = (draft.get(("space",)) or {}).get(key)
    if not isinstance(own, Mapping) or "when" not in own or (isinstance(domain, Mapping) and "when" in domain):
        return domain
    return {"when": own["when"], **(domain if isinstance(domain, Mapping) else {"choice": [domain]})}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _domain(setting: Setting) -> Any:
    if setting.domain is not None:
        return dict(setting.domain)
    if not setting.values:
        raise UserError(f"{setting.place.text}: there is no value", "", "give at least one")
    return setting.values[0] if len(setting.values) == 1 else {"choice": list(setting.values)}


def _single(setting: Setting) -> Scalar:
    if len(setting.values) != 1 or setting.domain is not None:
        given = "a domain was given" if setting.domain is not None else f"{len(setting.values)} were given"
        raise UserError(
            f"{setting.place.text}: {setting.key} takes one value", given, "only keys of the space and arguments can take several values"
        )
    value: Scalar = setting.values[0]
    return value


def _needs_space(setting: Setting, key: str) -> UserError:
    return UserError(
        f"{setting.place.text}: {key!r} cannot take several values here",
        "the definition lists its trials one by one",
        "give one value, or write the definition with a `space`",
    )


def _unknown(draft: Draft, setting: Setting, backend: str) -> UserError:
    key = setting.key
    fields = list(BenchmarkDefinition.model_fields)
    inner = [name for home in (*HOMES, backend) for name in fields_at((home,), draft.data) if name not in Overrides.model_fields]
    known = [*_configuration_keys(draft), *(draft.get(("arguments",)) or {}), *fields, *inner]
    near = nearest(key.split(".")[0], known)
    advice = "" if "." in key else f"a new fixed argument is written arguments.{setting.text}, a new key of the search space.{setting.text}"
    settable = [*_configuration_keys(draft), *(draft.get(("arguments",)) or {})]
    fact = f"did you mean {near!r}?" if near else "keys of this benchmark: " + (", ".join(settable) or "none")
    return UserError(f"{setting.place.text}: there is no key {key!r}", fact, advice)


def _split(value: str, text: str) -> list[str]:
    """Split at commas outside of quotes; a quote counts at the beginning of an item only."""
    items, start, quote = [], 0, ""
    for position, character in enumerate(value):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and not value[start:position].strip():
            quote = character
        elif character == ",":
            items.append(value[start:position])
            start = position + 1
    if quote:
        raise UserError(f"{place_of(text).text}: a quote is not closed", "", f"add {quote} at the end")
    return [*items, value[start:]]


def _scalar(item: str, text: str) -> Scalar:
    if not item:
        raise UserError(f"{place_of(text).text}: a value is empty", "", "write '' for an empty text, null for none")
    if item[0] not in "'\"":
        return parse_scalar(item)
    try:
        value: Scalar = parse_yaml(f"value: {item}", Path("--set")).data["value"]
    except UserError as error:
        raise UserError(f"{place_of(text).text}: {item} cannot be read", error.fact) from None
    return value
