"""Reads what a program prints when it is asked for `--help`: argparse, click, typer, jsonargparse, absl. Pure."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backends.scripts.hydra_source import leaves
from backends.scripts.interface import Interface, Kind, ScriptArgument
from backends.scripts.literals import kind_of_value
from definitions.errors import UserError
from definitions.yaml_source import parse_scalar, parse_yaml

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_BOX = re.compile(r"^\s*[│┃|]|[│┃|]\s*$|[╭╮╰╯─━┏┓┗┛]")
_OPTION = re.compile(r"^\s*(?:\*\s+)?(?=--?[A-Za-z\[])")
_FLAG = re.compile(r"(?<![\w-])--?(?:\[no\])?[A-Za-z][\w.-]*")
_DEFAULT = re.compile(r"[\[(](?:[^\[\]()]*?[,;] )?default: (?P<text>(?:\[[^\]]*\]|'[^']*'|[^\]\[)])*)", re.DOTALL)
_TYPE = re.compile(r"\(?type: (?P<text>[\w|\[\], ']+?)(?:, default|, required|\)|$)")
_METAVARS: dict[str, Kind] = {
    "FLOAT": "number", "INTEGER": "whole", "INT": "whole", "TEXT": "text", "PATH": "path", "FILE": "path", "DIRECTORY": "path",
    "FILENAME": "path", "BOOLEAN": "boolean", "BOOL": "boolean",
}  # fmt: skip
_COMMANDS = re.compile(r"^\s*(?:[╭─]+ )?(?:Commands|Subcommands|subcommands|available subcommands|commands)\b")
_IGNORED = frozenset({"--help", "-h", "--helpfull", "--helpshort", "--helpxml", "--version", "--install-completion", "--show-completion",
                      "--print_config", "--print_config[", "--flagfile", "--undefok", "--only_check_args"})  # fmt: skip


def read_help(text: str) -> Interface | None:
    """Return what a help text says that a program can be told; None where it names no flag and no sub-command.

    Args:
        text: all that the program printed.
    """
    plain = _ESCAPES.sub("", text)
    arguments = tuple(one for head, about in _entries(plain) if (one := _argument(head, about)) is not None)
    commands = {name: () for name in _sub_commands(plain)}
    if "Powered by Hydra" in plain:
        return _read_hydra(plain)
    if not (arguments or commands):
        return None
    return Interface("--help", tuple({one.name: one for one in arguments}.values()), commands)


def _read_hydra(text: str) -> Interface | None:
    """Return the groups and keys that hydra's help shows; None where it shows none."""
    groups_text, _, rest = text.partition("== Config ==")
    groups = re.findall(r"(?m)^([\w/]+): (\w[\w.-]*(?:, \w[\w.-]*)*)$", groups_text)
    found = [ScriptArgument(name, (name,), "text", None, tuple(options.split(", "))) for name, options in groups if "/" not in name]
    body = rest.partition("Powered by Hydra")[0].partition("\n\n")[2]
    with contextlib.suppress(UserError):
        found += leaves(parse_yaml(body, Path("--help")).data)
    return Interface("hydra", tuple({one.name: one for one in found}.values()), style="key=value") if found else None


def spelt_in(text: str) -> tuple[str, ...]:
    """Return all flags that a text names, usage lines included, in its order."""
    found = [flag for flag in _FLAG.findall(_ESCAPES.sub("", text)) if flag.startswith("--") or len(flag) == 2]
    both = [form for flag in found for form in ((flag.replace("[no]", ""), flag.replace("[no]", "no")) if "[no]" in flag else (flag,))]
    return tuple(dict.fromkeys(form.rstrip(".-") for form in both))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield each option's first words, with its flags, and what is said about it."""
    head, about, indent = "", "", 0
    for raw in text.splitlines():
        line = _BOX.sub(" ", raw)
        if _OPTION.match(line) and not line.lstrip().startswith("--- "):
            if head:
                yield head, about
            indent = len(line) - len(line.lstrip())
            parts = re.split(r"\s{2,}|:\s", line.strip().lstrip("* ").strip(), maxsplit=1)
            rest = parts[1] if len(parts) > 1 else ""
            if _is_more_of_head(rest):
                # Boxes of typer have columns: the flag, its short form or its negative, its type, and then what it is.
                columns = re.split(r"\s{2,}", rest)
                taken = [column for column in columns if _is_more_of_head(column)]
                parts = [" ".join([parts[0], *taken]), " ".join(columns[len(taken) :])]
                rest = parts[1]
            # absl writes `--name: what it is`, which takes a value all the same.
            head, about = (f"{parts[0]} VALUE" if line.strip().startswith(f"{parts[0]}:") else parts[0]), rest
        elif head and line.strip() and len(line) - len(line.lstrip()) > indent:
            about += " " + line.strip()
        elif head:
            yield head, about
            head = ""
    if head:
        yield head, about


def _is_more_of_head(text: str) -> bool:
    first = text.split(" ")[0].strip("[]<>,")
    column = text.split("  ")[0]
    return bool(first) and (first.upper() in _METAVARS or first.startswith("-") or bool(re.match(r"^[\[<]\S+\|\S+[\]>]$", column)))


def _argument(head: str, about: str) -> ScriptArgument | None:
    flags = _FLAG.findall(head)
    if not flags or set(flags) & _IGNORED:
        return None
    boolean = next((flag for flag in flags if "[no]" in flag), "")
    if boolean:
        name = boolean.replace("[no]", "")
        return ScriptArgument(name.lstrip("-"), (name,), "boolean", _default(about), help=about.split("  ")[0])
    longs = sorted((flag for flag in flags if not flag.startswith("--no")), key=lambda flag: not flag.startswith("--"))
    negative = next((flag for flag in flags if flag.startswith("--no") and len(flags) > 1), "")
    names = longs or flags
    rest = _FLAG.sub(" ", head).replace(",", " , ")
    choices = _choices(head, about)
    metavar = next((word for word in re.split(r"[\s,/]+", rest) if word), "")
    default = _default(about)
    kind = _kind(metavar, about, default, choices)
    if set(map(str, choices)) == {"true", "false"}:
        kind, choices = "boolean", ()
    if (not metavar or (metavar == "<bool>" and negative)) and not choices and not _TYPE.search(about) and ":" not in head:
        kind = "switch"
        default = default is True or default == names[0].lstrip("-")
    return ScriptArgument(
        names[0].lstrip("-").replace("-", "_"),
        tuple(dict.fromkeys(names)),
        kind,
        default,
        () if kind == "switch" else choices,
        "[required]" in about or "(required" in about or ", required" in about,
        "words" if "..." in head else "",
        negative,
        about.split("  ")[0],
    )


def _choices(head: str, about: str) -> tuple[Any, ...]:
    found = re.search(r"\{([^{}]+)\}", head) or re.search(r"[\[<]([\w.+-]+(?:\|[\w.+-]+)+)[\]>]", head)
    found = found or re.match(r"<([\w.+-]+(?:\|[\w.+-]+)+)>", about)
    if found is None:
        return ()
    words = re.split(r"[,|]", found[1])
    return tuple(parse_scalar(word.strip().strip("'\"")) for word in words if "..." not in word and word.strip())


def _default(about: str) -> Any:
    match = _DEFAULT.search(about)
    if match is None:
        return None
    text = match["text"].strip().rstrip(".").strip("'\"")
    return (
        None
        if text in ("None", "null", "", "_empty.empty")
        else True
        if text == "True"
        else False
        if text == "False"
        else parse_scalar(text)
    )


def _kind(metavar: str, about: str, default: Any, choices: tuple[Any, ...]) -> Kind:
    said = _TYPE.search(about)
    words = said["text"] if said is not None else ""
    for word, kind in (("float", "number"), ("int", "whole"), ("bool", "boolean"), ("Path", "path"), ("str", "text")):
        if word in words:
            return kind  # type: ignore[return-value]
    said_by_absl = re.search(r"\(an? (?:[\w-]+ )*(number|integer|boolean)\)", about)
    if said_by_absl is not None:
        return "number" if said_by_absl[1] == "number" else "whole" if said_by_absl[1] == "integer" else "boolean"
    bare = metavar.strip("[]<>").upper()
    return _METAVARS[bare] if bare in _METAVARS else kind_of_value(default if default is not None else [*choices])


def _sub_commands(text: str) -> Iterator[str]:
    usage = re.search(r"(?im)^\s*usage:[^\n]*(?:\n[ \t]+[^\n]*)*", text)
    listed = re.search(r"(\S+) \{([\w-]+(?:,[\w-]+)*)\} \.\.\.", " ".join(usage[0].split())) if usage is not None else None
    if listed is not None and not listed[1].startswith(("-", "[-")):
        yield from listed[2].split(",")
        return
    inside = False
    for raw in text.splitlines():
        line = _BOX.sub(" ", raw)
        if _COMMANDS.match(raw) or _COMMANDS.match(line):
            inside = True
        elif inside and (match := re.match(r"^\s{2,4}([A-Za-z][\w-]*)(?:\s{2,}.*)?\s*$", line)) is not None:
            yield match[1]
        elif inside and not line.strip():
            inside = False
