"""Reads shell scripts: variables with a default that the environment sets, places, options, and a Python script that gets all words."""

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
_CASE = re.compile(r"""case\s+["']?\$(?:\{?1\}?|\w+|\{\w+\})["']?\s+in(?P<body>.*?)\besac\b""", re.S)
_BRANCH = re.compile(r"(?:^|;;)\s*\(?(?P<names>-[^()\s]*(?:\s*\|\s*-[^()\s]*)*)\s*\)(?P<body>.*?)(?=;;|\Z)", re.S)
_TAKES = re.compile(r"""(?<![\w-])([A-Za-z_]\w*)=["']?\$(?:\{?2\b|\{1#|\{OPTARG|OPTARG|\{\w+#)""")
_SETS = re.compile(r"""(?<![\w-])([A-Za-z_]\w*)=""")
_PASSED_ON = re.compile(r"""(?P<words>[^\n;|&]*?)\s"?\$(?:@|\*|\{@\})"?""")
_SCRIPT = re.compile(r"[\w./-]+\.py\b")


def read_shell(text: str) -> Interface | None:
    """Return what a shell script can be told by its own text; None where that is nothing."""
    # What stands in single quotes is another program's: its `$1` is none of the shell's.
    plain = re.sub(r"'[^'\n]*\$[^'\n]*'", "''", re.sub(r"(?m)^\s*#.*$", "", text))
    options, is_joined = _options(plain)
    if options:
        # In what takes the options apart `$1` and `$2` are words, wherever they stand.
        plain = _CASE.sub("", plain)
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
    found = [one for one in found if one.name not in {option.name for option in options}] + options
    return Interface("shell", tuple(found), style="flags" if is_joined else "two_words") if found else None


def is_usual_variable(name: str) -> bool:
    """Return whether a variable is one that a system, a launcher or a library sets, and no argument of a script."""
    return _USUAL.fullmatch(name) is not None


def _options(text: str) -> tuple[list[ScriptArgument], bool]:
    """Return the options that a script takes apart, named by the variables that they go into, and whether a value follows `=` alone."""
    match = _OPTIONS.search(text)
    if match is not None:
        names = dict(_OPTION_NAME.findall(text))
        letters = re.findall(r"[A-Za-z0-9]:?", match[1])
        return [_option(names.get(one[0], one[0]), (f"-{one[0]}",), text, has_value=one.endswith(":")) for one in letters], False
    apart: dict[str, ScriptArgument] = {}
    joined: dict[str, ScriptArgument] = {}
    for branch in (branch for case in _CASE.finditer(text) for branch in _BRANCH.finditer(case["body"])):
        flags = [name.strip("\"' ").removesuffix("*") for name in branch["names"].split("|")]
        taken = _TAKES.search(branch["body"])
        variable = taken or _SETS.search(branch["body"])
        if variable is None or {"-h", "--help"} & {*flags}:
            continue
        longest_first = sorted((flag.rstrip("=") for flag in flags), key=lambda flag: not flag.startswith("--"))
        option = _option(variable[1], tuple(longest_first), text, has_value=taken is not None)
        (joined if taken is not None and flags[0].endswith("=") else apart).setdefault(variable[1], option)
    # One style holds for all: where some take their value as a word of its own, those that do not are left as they are.
    is_joined = bool(joined) and all(option.kind == "switch" for option in apart.values())
    return [*apart.values(), *(joined.values() if is_joined else ())], is_joined


def _option(variable: str, flags: tuple[str, ...], text: str, *, has_value: bool) -> ScriptArgument:
    """Return an option; what its variable is set to at the beginning of a line, or behind others there, is what it is without."""
    declared = r"(?:export\s+|local\s+|declare\s+(?:-\w+\s+)*)?"
    others = rf"""(?:{declared}\w+=(?:"[^"\n]*"|'[^'\n]*'|[^\s;()]*)[ \t]*;[ \t]*)*"""
    # Two semicolons end a branch, in which an option is what it is with.
    first = re.search(rf"""(?m)^[ \t]*{others}{declared}{variable}=["']?([^"'\s;$)]*)["']?[ \t]*(?:#|;(?!;)|$)""", text)
    if not has_value:
        return ScriptArgument(variable.lower(), flags, "switch", False)
    return _argument(variable.lower(), flags, None if first is None else first[1], is_required=False)


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
