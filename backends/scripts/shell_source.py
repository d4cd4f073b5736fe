"""Reads shell scripts: variables with a default that the environment sets, places, and a Python script that gets all words."""

from __future__ import annotations

import re
from pathlib import Path

from backends.scripts.interface import Interface, ScriptArgument
from backends.scripts.literals import kind_of_value
from definitions.yaml_source import parse_scalar

_VARIABLE = re.compile(
    r"""^\s*(?:export\s+|:\s+)?"?(?:(?P<name>[A-Za-z_]\w*)=)?"?\$\{(?P<of>[A-Za-z_]\w*):?[-=](?P<default>[^}]*)\}"?""", re.M
)
_PLACE = re.compile(
    r"""^\s*(?:export\s+|local\s+)?(?P<name>[A-Za-z_]\w*)="?\$(?:\{(?P<braced>[1-9])(?::?-(?P<default>[^}]*))?\}|(?P<place>[1-9]))"?""",
    re.M,
)
_BARE_PLACE = re.compile(r"\$\{?([1-9])")
_PASSED_ON = re.compile(r"""(?P<words>[^\n;|&]*?)\s"?\$(?:@|\*|\{@\})"?""")
_SCRIPT = re.compile(r"[\w./-]+\.py\b")


def read_shell(text: str) -> Interface | None:
    """Return what a shell script can be told by its own text; None where that is nothing."""
    plain = re.sub(r"(?m)^\s*#.*$", "", text)
    places: dict[int, ScriptArgument] = {}
    for match in _PLACE.finditer(plain):
        default = match["default"]
        places[int(match["braced"] or match["place"])] = _argument(match["name"].lower(), (), default, is_required=default is None)
    for text_place in _BARE_PLACE.findall(plain):
        places.setdefault(int(text_place), ScriptArgument(f"argument_{text_place}", is_required=True))
    variables = {match["of"]: match["default"] for match in _VARIABLE.finditer(plain)}
    found = [argument for _, argument in sorted(places.items())]
    found += [_argument(name.lower(), (f"${name}",), default.strip("\"'"), is_required=False) for name, default in variables.items()]
    return Interface("shell", tuple(found)) if found else None


def _argument(name: str, flags: tuple[str, ...], default: str | None, *, is_required: bool) -> ScriptArgument:
    value = None if default in (None, "") or "$" in str(default) else parse_scalar(str(default))
    return ScriptArgument(name, flags, kind_of_value(value), value, is_required=is_required)


def passed_on(text: str) -> str:
    """Return the Python script that a shell script hands all its words to (`python train.py "$@"`); empty where there is none."""
    joined = text.replace("\\\n", " ")
    for match in _PASSED_ON.finditer(joined):
        scripts = _SCRIPT.findall(match["words"])
        if scripts:
            return str(Path(scripts[-1]))
    return ""
