"""Words that a script is told and does not take: said before trials are spent on them.

What our own pipeline script takes is known, so that others are refused. What the source of a user's script lists (`choices` of argparse and
the like) is read without running it, and may be turned into something else by the script: that is a remark.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from backends.common.hints import interface_at
from benchmarking import workloads
from benchmarking.workloads.ingestion.knobs import LISTED
from benchmarking.workloads.ingestion_models.accelerators import ACCELERATORS
from benchmarking.workloads.ingestion_models.registry import MODELS
from benchmarking.workloads.measuring.page_cache import MODES
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

_OURS: Mapping[str, Collection[str]] = {
    "model": MODELS, "model_without_gpu": MODELS, "accelerator": ACCELERATORS, "page_cache": MODES, **LISTED,
}  # fmt: skip
_SCRIPT = Path(workloads.__file__).with_name("image_ingestion.py").resolve()
_WITH_CLASS = ("model", "model_without_gpu")
"""Keys that also take a class of the user's own, `module:Class`."""

_MOST_NAMED = 12


def check_own_values(definition: BenchmarkDefinition) -> None:
    """Raise `UserError` where our pipeline script is told a model, an accelerator or a way of loading that there is not.

    Args:
        definition: resolved.
    """
    if definition.script is None or Path(definition.source_dir, definition.script).resolve() != _SCRIPT:
        return
    for key, value in _words(definition):
        known = _OURS.get(key)
        if known is None or value in known or not value or (key in _WITH_CLASS and ":" in value):
            continue
        further = ", or module:Class of your own" if key in _WITH_CLASS else ""
        raise UserError(f"benchmark {definition.name}: {key}={value}", f"there is none of this name: {_near(value, known, further)}")


def unknown_values(definition: BenchmarkDefinition) -> list[str]:
    """Return a line for each word that a script's parser does not take by its source; none where that does not say what it takes.

    Args:
        definition: resolved, its source there.
    """
    ours = definition.own_keys
    words = [(key, value) for key, value in _words(definition) if key not in ours and value]
    interface = interface_at(Path(definition.source_dir), definition.script or "", definition.command or ()) if words else None
    if interface is None:
        return []
    taken = {argument.name: argument.choices for argument in interface.everything() if argument.choices and not argument.lists}
    taken |= {flag.lstrip("-"): one.choices for one in interface.everything() if one.choices and not one.lists for flag in one.flags}
    found = []
    for key, value in words:
        name = definition.rename.get(key, key).lstrip("-")
        choices = taken.get(name) or taken.get(name.replace("-", "_")) or ()
        known = [one for one in choices if isinstance(one, str)]
        # Letters may be made large or small by a `type` of the parser's.
        if known and len(known) == len(choices) and value.casefold() not in {one.casefold() for one in known}:
            found.append(f"{key}={value} is none of what the script takes by its source: {_near(value, known)}")
    return found


def _near(value: str, known: Collection[str], further: str = "") -> str:
    near = difflib.get_close_matches(value, known, 1)
    listed = ", ".join([*known][:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
    return listed + further + (f"; did you mean {near[0]}?" if near else "")


def _words(definition: BenchmarkDefinition) -> Iterator[tuple[str, str]]:
    """Yield each word that a definition lists, with its key, each once."""
    domains = definition.search_space.domains if definition.space else {}
    given: list[tuple[str, Any]] = [*definition.arguments.items()]
    given += [(key, value) for key, domain in domains.items() if domain.is_listed for value in domain.grid(0)]
    given += [pair for configuration in definition.explicit_configurations for pair in configuration.items()]
    # A placeholder is filled in where a job starts.
    yield from dict.fromkeys((key, value) for key, value in given if isinstance(value, str) and "${" not in value)
