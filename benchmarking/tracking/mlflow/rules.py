"""Names and sizes within what MLflow takes. Pure; the limits are those of `mlflow.utils.validation` of MLflow 3."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from definitions.written import text_of

LONGEST_NAME = 250
LONGEST_PARAMETER = 6000
LONGEST_TAG = 8000
LONGEST_EXPERIMENT = 500

_FOREIGN = re.compile(r"[^/\w.\- :]")
_SHOWN = 60


class Names:
    """Names of metrics, parameters and tags of one experiment as MLflow takes them; what was changed is remembered to be said.

    A name is changed alike for all runs: what is not taken becomes `_`, what is too long is cut, and where that is another's name already a
    number is added.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: dict[str, str] = {}
        self._remarks: dict[str, None] = {}

    @property
    def remarks(self) -> list[str]:
        """What was changed, in sentences, in the order in which it was met."""
        return [*self._remarks]

    def name(self, name: str) -> str:
        """Return a name as MLflow takes it."""
        if name not in self._names:
            wanted = found = valid_name(name)
            number = 2
            while self._taken.setdefault(found, name) != name:
                ending = f"_{number}"
                found, number = wanted[: LONGEST_NAME - len(ending)] + ending, number + 1
            self._names[name] = found
            if found != name:
                self._remark(f"MLflow does not take the name {_shown(name)}, which is {_shown(found)} there")
        return self._names[name]

    def parameters(self, parameters: Mapping[str, Any]) -> dict[str, str]:
        """Return parameters as text, those in mappings as `name.key`, what is too long cut."""
        return {self.name(name): self._text(name, text_of(value), LONGEST_PARAMETER) for name, value in _flat(parameters, "")}

    def tags(self, tags: Mapping[str, str]) -> dict[str, str]:
        """Return tags, what is too long cut."""
        return {self.name(name): self._text(name, text, LONGEST_TAG) for name, text in tags.items()}

    def _text(self, name: str, text: str, longest: int) -> str:
        # A lone surrogate, which scripts may print, fits into no request.
        text = text.encode("utf-8", "backslashreplace").decode()
        if len(text) <= longest:
            return text
        self._remark(f"MLflow takes {longest} characters of a value; {_shown(name)} has {len(text)} and ends there with …")
        return text[: longest - 1] + "…"

    def _remark(self, text: str) -> None:
        self._remarks[text] = None


def valid_name(name: str) -> str:
    """Return the nearest name that MLflow takes for a parameter, a metric or a tag."""
    found = _FOREIGN.sub("_", name.encode("utf-8", "backslashreplace").decode())
    # Names may be paths of files, so `..`, `a//b` and `/a` are not taken.
    normal = posixpath.normpath(found)
    if normal != found or normal.startswith(("..", "/")) or normal == ".":
        found = re.sub(r"^\.+$", "_", "/".join(part for part in found.split("/") if part and part not in (".", "..")) or "_")
    return found if len(found) <= LONGEST_NAME else found[: LONGEST_NAME - 1] + "_"


def _flat(parameters: Mapping[str, Any], before: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in parameters.items():
        found += _flat(value, f"{before}{name}.") if isinstance(value, Mapping) and value else [(f"{before}{name}", value)]
    return found


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "…")
