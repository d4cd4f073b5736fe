"""A benchmark from the command line alone: `--command 'prog --threads ${threads}' --set threads=1,2,4`, without a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from definitions.backend_registry import backend_names
from definitions.errors import UserError
from definitions.problems import HOMES, complaint, fields_at, problems_of
from definitions.schema import BenchmarkDefinition
from definitions.settings import Setting, parse_setting
from definitions.yaml_source import SourceLocation


def command_benchmark(command: str, objectives: Sequence[str], settings: Sequence[str]) -> tuple[BenchmarkDefinition, tuple[str, ...]]:
    """Return the benchmark that a command makes, and the settings that are about anything else than its keys.

    Args:
        command: as it would be typed, with `${key}` for what varies.
        objectives: `name=min` or `name=max`; the script's time, the less the better, where none is given.
        settings: `key=value` texts; a key of no other meaning is one of the search space.

    Raises:
        UserError: a setting or an objective that cannot be read, or a command that cannot be.
    """
    named = set(re.findall(r"(?<!\$)\$\{([^{}]+)\}", command))
    space: dict[str, Any] = {}
    rest = []
    for text in settings:
        setting = parse_setting(text)
        if setting.key in named or not _is_ours(setting.key):
            space[setting.key] = _domain(setting)
        else:
            rest.append(text)
    data: dict[str, Any] = {
        "name": _name(command),
        "command": command,
        "source_dir": str(Path.cwd()),
        "objectives": dict(map(_objective, objectives)) or {"duration_s": "min"},
    }
    # Without anything to vary it is a stopwatch: one configuration.
    data["space" if space else "trials"] = space or ({},)
    if space and all(not isinstance(domain, dict) or "choice" in domain for domain in space.values()):
        data["method"] = "GRID"
    try:
        return BenchmarkDefinition.model_validate(data), tuple(rest)
    except ValidationError as error:
        asked = f"--command {command!r}"
        raise complaint(problems_of(error, data), lambda _: SourceLocation(asked, "--command"), asked) from None


def _is_ours(key: str) -> bool:
    first = key.split(".")[0]
    known = {*BenchmarkDefinition.model_fields, *backend_names(), *(name for home in HOMES for name in fields_at((home,), {}))}
    return first in known


def _domain(setting: Setting) -> Any:
    if setting.domain is not None:
        return dict(setting.domain)
    return setting.values[0] if len(setting.values) == 1 else {"choice": list(setting.values)}


def _objective(text: str) -> tuple[str, str]:
    name, equals, mode = text.rpartition("=")
    if not equals or mode not in ("min", "max") or not name:
        raise UserError(f"--objective {text}: this is not name=min or name=max", "", "e.g. --objective duration_s=min")
    return name, mode


def _name(command: str) -> str:
    word = Path((command.split() or [""])[0]).name
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", word).strip("-_.")[:63] or "command"
