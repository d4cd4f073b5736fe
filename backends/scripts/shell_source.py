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
_READ = re.compile(r"\$\{?([A-Z][A-Z0-9_]+)\b")
_SET = re.compile(r"(?m)(?:^|[;&|]|\bexport\b|\blocal\b|\bread\b|\bfor\b|\bdo\b|\bthen\b)\s*([A-Za-z_]\w*)(?:=|\s+in\b|\s*$)")
_USUAL = re.compile(
    r"PATH|HOME|USER|PWD|OLDPWD|SHELL|TERM|HOSTNAME|LANG|TMPDIR|UID|RANDOM|SECONDS|LINENO|IFS|OPT(?:ARG|IND|ERR)|"
    r"(?:BASH|SLURM|SM|OUTRIDER|CUDA|LC|XDG|CONDA|PYTHON|LD|OMP|MASTER|NCCL|MKL|HF|WANDB|MLFLOW|AWS|TORCH|TF|TOKENIZERS|HIP|JAX|XLA)_?.*|"
    r"VIRTUAL_ENV|(?:LOCAL_|NODE_|GROUP_)?RANK|(?:LOCAL_)?WORLD_SIZE|FUNCNAME|DISPLAY|DEBUG|CI|.*_(?:KEY|TOKEN|SECRET|PASSWORD)"
)
_OPTIONS = re.compile(r"""getopts\s+["']?:?([A-Za-z0-9:]+)""")
_OPTION_NAME = re.compile(r"""(?m)^\s*\(?["']?([A-Za-z0-9])["']?\)\s*(?:export\s+)?([A-Za-z_]\w*)=""")
_PASSED_ON = re.compile(r"""(?P<words>[^\n;|&]*?)\s"?\$(?:@|\*|\{@\})"?""")
_SCRIPT = re.compile(r"[\w./-]+\.py\b")


def read_shell(text: str) -> Interface | None:
    """Return what a shell script can be told by its own text; None where that is nothing."""
    # What stands in single quotes is another program's: its `$1` is none of the shell's.
    plain = re.sub(r"'[^'\n]*\$[^'\n]*'", "''", re.sub(r"(?m)^\s*#.*$", "", text))
    places: dict[int, ScriptArgument] = {}
    for match in _PLACE.finditer(plain):
        default = match["default"]
        places[int(match["braced"] or match["place"])] = _argument(match["name"].lower(), (), default, is_required=default is None)
    for text_place in _BARE_PLACE.findall(plain):
        places.setdefault(int(text_place), ScriptArgument(f"argument_{text_place}", is_required=True))
    variables = {match["of"]: match["default"] for match in _VARIABLE.finditer(plain)}
    found = [argument for _, argument in sorted(places.items())]
    found += [_argument(name.lower(), (f"${name}",), default.strip("\"'"), is_required=False) for name, default in variables.items()]
    own = {name for name in _SET.findall(plain)} - variables.keys()
    for name in dict.fromkeys(_READ.findall(plain)):
        if name not in own and name not in variables and not is_usual_variable(name):
            found.append(ScriptArgument(name.lower(), (f"${name}",), is_required=True))
    found += _letters(plain)
    return Interface("shell", tuple(found), style="two_words") if found else None


def is_usual_variable(name: str) -> bool:
    """Return whether a variable is one that a system, a launcher or a library sets, and no argument of a script."""
    return _USUAL.fullmatch(name) is not None


def _letters(text: str) -> list[ScriptArgument]:
    """Return the options that `getopts` takes, named by the variables that they go into."""
    names = dict(_OPTION_NAME.findall(text))
    match = _OPTIONS.search(text)
    letters = re.findall(r"[A-Za-z0-9]:?", match[1]) if match is not None else []
    return [
        ScriptArgument(
            names.get(one[0], one[0]).lower(), (f"-{one[0]}",), "text" if one.endswith(":") else "switch", None if ":" in one else False
        )
        for one in letters
    ]


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
