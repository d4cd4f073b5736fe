"""YAML files as data that remembers its lines; YAML 1.2 scalars, so that no `no`, date or `1e-3` turns into something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from definitions.configuration import Scalar
from definitions.errors import UserError
from definitions.written import written_float, written_int

KeyPath: TypeAlias = tuple[str | int, ...]

MAX_BYTES = 1024 * 1024
MAX_NODES = 100_000
DEFINITION_FORM = "a definition is a mapping: name, script, space, objectives, ..."
_PLAIN = "plain"
_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TYPES = {bool: "bool", int: "int", float: "float", type(None): "null"}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_PREFIXED = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+[eE][-+]?[0-9]+)")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_ZERO_PADDED = re.compile(r"[-+]?0[0-9]+")


@dataclass(frozen=True)
class SourceLocation:
    """Where a value was written.

    Args:
        text: for error messages, e.g. `experiments/demo.yaml:12`.
        origin: for the origins of a resolved definition, e.g. `demo.yaml:12`, `--set`.
        line: line in its file, from 1; 0 where there is none.
    """

    text: str
    origin: str
    line: int = 0

    def within(self, block: str) -> SourceLocation:
        """Return the same place, said to belong to a back-end's block."""
        return replace(self, text=f"{self.text} ({block})", origin=f"{self.origin} ({block})")


@dataclass(frozen=True)
class Source:
    """What a YAML file says.

    Args:
        data: nested dictionaries with text as keys, lists and scalars.
        positions: line, from 1, of each key and list item, by its path.
        path: the file, as it was asked for.
        included: other files that parts of the data come from, by the part's path.
    """

    data: dict[str, Any]
    positions: Mapping[KeyPath, int]
    path: Path
    included: Mapping[KeyPath, Path] = field(default_factory=dict)

    @property
    def about(self) -> str:
        """What it is called in messages."""
        return str(self.path)

    def file_of(self, path: KeyPath) -> Path:
        """Return the file that a part of the data comes from."""
        return next((self.included[head] for head in _heads(path) if head in self.included), self.path)

    def place(self, path: KeyPath) -> SourceLocation:
        """Return where a key is written; for one that is not, the place of what it would be in."""
        head = next((head for head in _heads(path) if head in self.positions), ())
        file, line = self.file_of(head), self.positions.get(head, 1)
        return SourceLocation(f"{file}:{line}", f"{file.name}:{line}", line)


def _heads(path: KeyPath) -> Iterator[KeyPath]:
    return (path[:length] for length in range(len(path), -1, -1))


def read_yaml(path: Path | str, form: str = DEFINITION_FORM) -> Source:
    """Return the content of a YAML file.

    Args:
        path: of it.
        form: a sentence on what such a file is, as `parse_yaml` takes it.

    Raises:
        UserError: missing, unreadable, larger than 1 MiB, not UTF-8, or refused as `parse_yaml` does; names file and line.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file", f"looked for {path.absolute()}") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder", "", "name a YAML file in it") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read", error.strerror or str(error)) from error
    if len(raw) > MAX_BYTES:
        raise UserError(f"{path} is larger than 1 MiB", "a definition is a page or two of YAML; this may be a data file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: this is not UTF-8", f"byte 0x{raw[error.start]:02x}", "save the file as UTF-8") from None
    return parse_yaml(text, path, form)


def parse_yaml(text: str, path: Path, form: str = DEFINITION_FORM) -> Source:
    """Return what YAML text says.

    Args:
        text: of a file.
        path: of it, for messages.
        form: a sentence on what such a file is, for one that is empty or no mapping.

    Raises:
        UserError: no valid YAML, no mapping at the top, a key given twice or that is no text, tabs as indentation, tags of other
            languages, or a document that contains itself.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if "\t" in line[: len(line) - len(line.lstrip())] and line.strip():
            raise UserError(f"{path}:{number}: a tab is used for indentation", "YAML allows spaces only", "replace the tab by spaces")
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        line_number = text.count("\n", 0, error.position) + 1
        raise UserError(f"{path}:{line_number}: the character U+{int(error.character):04X} is not allowed in YAML") from None
    except yaml.MarkedYAMLError as error:
        raise _invalid(path, error) from None
    except RecursionError:
        raise UserError(f"{path}: this is nested too deeply") from None
    if node is None or (isinstance(node, yaml.ScalarNode) and node.value == ""):
        raise UserError(f"{path}:1: this file is empty", form)
    if not isinstance(node, yaml.MappingNode):
        found = "a list" if isinstance(node, yaml.SequenceNode) else "a single value"
        raise UserError(
            f"{path}:{_line(node)}: this is {found}", "a mapping (lines of `key: value`) is needed at the top of the file", form
        )
    builder = _Builder(path)
    data = builder.build(node, ())
    return Source(data, builder.positions, path)


def parse_scalar(text: str) -> Scalar:
    """Return what an unquoted scalar means by YAML 1.2's core rules: null, true/false, whole number, number, else the text itself.

    `no`, `on`, `2026-11-27`, `1:30`, `1_000` and `010` are text; `1e-3` is a number.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return written_int(text) if len(text) < 1000 else text
    if _PREFIXED.fullmatch(text):
        return written_int(text)
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", ""))
    if _FLOAT.fullmatch(text) and not _ZERO_PADDED.fullmatch(text):
        return written_float(text)
    return text


def with_datasets(source: Source) -> Source:
    """Return the source with `datasets: FILE.yaml` replaced by what that file says; its path is relative to the definition."""
    name = source.data.get("datasets")
    if not isinstance(name, str):
        return source
    path = source.file_of(("datasets",)).parent / Path(name).expanduser()
    try:
        inner = read_yaml(path)
    except UserError as error:
        raise UserError(f"{source.place(('datasets',)).text}: datasets: {error.asked}", error.fact, error.advice) from None
    positions = dict(source.positions)
    positions.update({("datasets", *key): line for key, line in inner.positions.items() if key})
    included: dict[KeyPath, Path] = dict(source.included)
    included.update({("datasets", key): path for key in inner.data})
    return replace(source, data={**source.data, "datasets": inner.data}, positions=positions, included=included)


class _Loader(yaml.SafeLoader):
    """Composes nodes; which type a plain scalar has is left to `parse_scalar`."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            return _TAG + "merge" if value == "<<" else _PLAIN
        return str(super().resolve(kind, value, (False, True)))  # type: ignore[no-untyped-call]


class _Builder:
    """Turns nodes into data and notes the line of each."""

    def __init__(self, path: Path) -> None:
        self.positions: dict[KeyPath, int] = {}
        self._path = path
        self._open: set[int] = set()
        self._count = 0

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        self._count += 1
        if self._count > MAX_NODES:
            raise self._error(node, "aliases multiply this file beyond reason", f"more than {MAX_NODES} values")
        if id(node) in self._open:
            raise self._error(node, "an alias (*name) refers to what contains it", "the document would never end")
        self.positions.setdefault(path, _line(node))
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
                return [self.build(item, (*path, number)) for number, item in enumerate(node.value)]
            return self._scalar(node)
        except RecursionError:
            raise self._error(node, "this is nested too deeply", "") from None
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                self._merge(value_node, path, merged)
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                continue
            key = self._key(key_node)
            if key in lines:
                where = f"it was given on line {lines[key]} already"
                raise self._error(key_node, f"the key {key!r} is given twice", where, "keep one of them")
            lines[key] = _line(key_node)
            self._forget((*path, key))
            self.positions[(*path, key)] = lines[key]
            own[key] = self.build(value_node, (*path, key))
        return {**merged, **own}

    def _merge(self, node: yaml.Node, path: KeyPath, into: dict[str, Any]) -> None:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for part in reversed(parts):
            if not isinstance(part, yaml.MappingNode):
                raise self._error(node, "`<<` needs a mapping, or a list of them", "")
            into.update(self.build(part, path))

    def _forget(self, path: KeyPath) -> None:
        if path in self.positions:
            self.positions = {known: line for known, line in self.positions.items() if known[: len(path)] != path}

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._error(node, "a key is a list or a mapping", "keys are text")
        key = self._scalar(node)
        if not isinstance(key, str):
            raise self._error(node, f"the key {node.value} is not text", "keys are text", f'put it in quotes: "{node.value}"')
        return key

    def _scalar(self, node: yaml.Node) -> Scalar:
        if isinstance(node, yaml.ScalarNode):
            if node.tag == _PLAIN:
                return parse_scalar(node.value)
            if node.tag == _TAG + "str":
                return str(node.value)
            value = parse_scalar(node.value)
            if node.tag == _TAG + "float" and isinstance(value, (int, float)) and not isinstance(value, bool):
                return float(value) if isinstance(value, int) else value
            if node.tag == _TAG + _TYPES.get(type(value), "str"):
                return value
        tag = node.tag.replace(_TAG, "!!")
        raise self._error(node, f"the tag {tag} is not understood here", "values are text, numbers, true/false, null, lists, mappings")

    def _error(self, node: yaml.Node, asked: str, fact: str, advice: str = "") -> UserError:
        return UserError(f"{self._path}:{_line(node)}: {asked}", fact, advice)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _invalid(path: Path, error: yaml.MarkedYAMLError) -> UserError:
    mark = error.problem_mark or error.context_mark
    where = f"{path}:{mark.line + 1}" if mark is not None else str(path)
    if error.context == "expected a single document in the stream":
        return UserError(f"{where}: a second document begins here (---)", "a file holds one definition")
    problem = error.problem or "it cannot be parsed"
    context = f" ({error.context} of line {error.context_mark.line + 1})" if error.context and error.context_mark else ""
    advice = "text with `: `, `#`, or that begins with one of @ ` % * & ! needs quotes" if "\\t" not in problem else "use spaces, not tabs"
    return UserError(f"{where}: this is not valid YAML", problem + context, advice)
