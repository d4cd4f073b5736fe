"""A script that reads its arguments from a file: which file, and the definition that writes another one for each trial. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from backends.scripts.hydra_source import leaves
from backends.scripts.interface import Interface, ScriptArgument
from benchmarking.scripts.call import ScriptCall
from benchmarking.scripts.plan import CallPlan, Dimension, dimension_of
from benchmarking.scripts.ranges import Role, proposal_for

_NAMES = ("config", "cfg", "conf", "config_file", "config_path", "cfg_file", "hparams", "params", "settings", "options")
_STYLES = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml"}


def config_word(call: ScriptCall, interface: Interface, is_file: Callable[[str], bool]) -> tuple[str, str]:
    """Return the file that a call reads its arguments from, and the flag that names it; both empty where it reads none.

    It is a word of the call, or the default of an argument that is called so, of a script that takes nothing else to search.

    Args:
        call: as a person calls it.
        interface: what the script can be told.
        is_file: whether a word is the path of a file.
    """
    if any(proposal_for(argument).role is Role.SEARCHED for argument in interface.arguments) or interface.style == "key=value":
        return "", ""
    for word in call.given:
        name, equals, value = word.partition("=")
        text = value if equals else name
        if PurePath(text).suffix in _STYLES and is_file(text):
            return text, ""
    for argument in interface.arguments:
        default = str(argument.default or "")
        if argument.name.split(".")[-1] in _NAMES and PurePath(default).suffix in _STYLES and is_file(default):
            return default, argument.flag
    return "", ""


def config_plan(call: ScriptCall, file: str, flag: str, data: Mapping[str, Any]) -> CallPlan:
    """Return how a definition calls a script that reads a file of arguments: each trial gets one of its own, with all that this one says.

    Args:
        call: as a person calls it.
        file: the word that names the file.
        flag: that stands before it, where the call does not say it.
        data: what the file says.
    """
    space: dict[str, Dimension] = {}
    fixed: dict[str, Any] = {}
    level: ScriptArgument | None = None
    seed: ScriptArgument | None = None
    for argument in leaves(data):
        proposal = proposal_for(argument)
        if proposal.role is Role.SEARCHED:
            space[argument.name] = dimension_of(argument, proposal)
        elif proposal.role is Role.LEVEL and level is None:
            level = argument
        elif proposal.role is Role.SEED and seed is None:
            seed = argument
        elif argument.default is not None:
            fixed[argument.name] = argument.default
    given = [word.replace(file, "${arguments_file}") if file in (word, word.partition("=")[2]) else word for word in call.given]
    added = [flag, "${arguments_file}"] if flag else ["${arguments_file}"] if "${arguments_file}" not in " ".join(given) else []
    command = (*call.words, *given, *added)
    style = _STYLES[PurePath(file).suffix]
    return CallPlan(command, style, environment=dict(call.environment), space=space, level=level, seed=seed, fixed=fixed)
