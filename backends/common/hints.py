"""What a failure that comes of how a script was called asks for, as the key of a definition that mends it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from backends.job_spec import JobSpec

if TYPE_CHECKING:
    from backends.scripts.interface import Interface

_MISSING_FILES = (
    re.compile(r"No such file or directory: '([^'/][^']*)'"),
    re.compile(r"can't open file '(?:[^']*/)?([^'/]+)'"),  # the interpreter, of a script
    re.compile(r"cannot open ([^\s:'/][^\s:']*): No such file"),  # dash
    re.compile(r"([^\s:'/][^\s:']*): No such file or directory"),  # a shell
)
INTERPRETERS = {
    ".py": "python", ".sh": "bash", ".bash": "bash", ".pl": "perl", ".R": "Rscript", ".r": "Rscript", ".jl": "julia", ".js": "node",
    ".mjs": "node", ".rb": "ruby", ".lua": "lua",
}  # fmt: skip
"""What runs a script, by the ending of its name."""

_NO_RULE = re.compile(r"make(?:\[\d+\])?: \*\*\* No (?:rule to make target|targets specified)")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_CALLED_WRONGLY = re.compile(r"the script does not know \S|--?[\w.-]+ takes? no value; |argparse takes \S+ for an option")
"""In a hint on what a script was told, and in no other."""

_NO_VALUE_LEFT = re.compile(r"argument (?P<flags>\S+): expected (?:at least )?(?:one argument|\d+ arguments?)")
_FOR_A_TUNER = "is meant to only be called inside a function that is executed by a Tuner"
"""What Ray warns of where its `report` is called elsewhere, and does nothing."""
_NO_PACKAGE = ("attempted relative import with no known parent package", "attempted relative import beyond top-level package")


def calling_hint(message: str, job: JobSpec, tail: Sequence[str] = ()) -> str:
    """Return what to do about a failure, empty where it is of another kind.

    Args:
        message: that says why the job failed.
        job: what failed.
        tail: last lines of its log.
    """
    refused = argument_hint([*tail, message], job)
    if refused:
        return refused
    missing = next((found for pattern in _MISSING_FILES if (found := pattern.search(message)) is not None), None)
    if missing is not None and not job.working_dir and job.source_dir and (Path(job.source_dir) / missing[1]).exists():
        return f"{missing[1]} is in source_dir, and jobs start in folders of their own; `working_dir: source` starts them there"
    if _NO_RULE.search(message) is not None and not job.working_dir:
        made = next((name for name in _MAKEFILES if job.source_dir and (Path(job.source_dir) / name).exists()), "")
        if made:
            return f"{made} is in source_dir, and jobs start in folders of their own; `working_dir: source` starts them there"
    if "name 'get_ipython' is not defined" in message:
        file = next((word for word in (job.script, *job.command) if word.endswith(".py")), "train.py")
        name = Path(file).name
        return (
            f"{name} was a notebook, and its lines `%...` and `!...` need IPython: leave out those with get_ipython(), or say "
            f'`command: [python, -m, IPython, {name}, --, "${{arguments}}"]`'
        )
    if any(_FOR_A_TUNER in line for line in tail):
        file = Path(next((word for word in (job.script, *job.command) if word.endswith(".py")), "train.py")).name
        return f'what was written for Ray Tune is run by `command: [python, -m, outrider_ray, {file}, FUNCTION, "${{arguments_file}}"]`'
    if any(words in message for words in _NO_PACKAGE) and job.script.endswith(".py") and job.source_dir:
        script = Path(job.script)
        if script.is_relative_to(job.source_dir):
            module = ".".join(script.relative_to(job.source_dir).with_suffix("").parts)
            return f'a package\'s module is started by `command: [python, -m, {module}, "${{arguments}}"]`'
    return ""


def says_called_wrongly(message: str) -> bool:
    """Return whether a job's message has a hint that its script was told what it does not take."""
    return _CALLED_WRONGLY.search(message) is not None


def without_hint(message: str) -> str:
    """Return a job's message as the script's own words alone, without the hint on what it was told."""
    head, opening, hint = message.partition(" (")
    while opening and not _CALLED_WRONGLY.match(hint):
        further, opening, hint = hint.partition(" (")
        head = f"{head} ({further}"
    return head


def argument_hint(lines: Sequence[str], job: JobSpec) -> str:
    """Return what a script does not take of its arguments: one that it does not know, a switch's value, or what looks like an option.

    Args:
        lines: last ones that it printed.
        job: what was started.

    Returns:
        A sentence; empty where it says nothing of the kind.
    """
    return unknown_argument_hint(lines, job) or switch_hint(lines, job) or _option_hint(lines, job)


def _option_hint(lines: Sequence[str], job: JobSpec) -> str:
    """Return that argparse took a value for an option, as it begins with a hyphen; empty where it says nothing of the kind."""
    flags = {flag for line in lines if (said := _NO_VALUE_LEFT.search(line)) is not None for flag in said["flags"].split("/")}
    for flag, word in pairwise([*job.command, *job.arguments]):
        if flag in flags and word.startswith("-"):
            return f"argparse takes {word} for an option; `lists: repeated`, or `arguments_style: flags`, tells it as {flag}={word}"
    return ""


def unknown_argument_hint(lines: Sequence[str], job: JobSpec) -> str:
    """Return which argument a script does not know, and which that it knows is nearest; empty where it says nothing of the kind.

    Args:
        lines: last ones that it printed.
        job: what was started.
    """
    # What reads scripts is loaded only where one has failed.
    from backends.scripts.complaints import find_complaint

    words = [word for word in (*job.arguments, *job.command) if word.startswith("-") or "=" in word]
    complaint = find_complaint(lines, words)
    if complaint is None:
        return ""
    interface = script_interface(job)
    further = () if interface is None else interface.spellings()
    found = [unknown_text(word, complaint.nearest(word, further), job.parameters) for word in complaint.unknown]
    return "; ".join(found)


def switch_hint(lines: Sequence[str], job: JobSpec) -> str:
    """Return that a flag takes no value where a script was told true or false with it, and the key that mends it; else empty.

    Args:
        lines: last ones that it printed.
        job: what was started.
    """
    # What reads scripts is loaded only where one has failed.
    from backends.scripts.complaints import find_switches

    flags = find_switches(lines, [*job.command, *job.arguments])
    if not flags:
        return ""
    interface = script_interface(job)
    known = () if interface is None else interface.spellings()
    both = all(f"--no-{flag.lstrip('-')}" in known or f"--no_{flag.lstrip('-')}" in known for flag in flags)
    keys = {_plain(flag): key for flag in flags for key in job.parameters if _plain(key) == _plain(flag)}
    switches = () if interface is None else [_plain(flag) for one in interface.everything() if one.kind == "switch" for flag in one.flags]
    others = [key for key, value in job.parameters.items() if isinstance(value, bool) and _plain(key) not in (*keys, *switches)]
    return no_value_text(flags, has_negatives=both, keys=[*keys.values()] if others and interface is not None else ())


def _plain(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def no_value_text(flags: Sequence[str], *, has_negatives: bool, keys: Sequence[str] = ()) -> str:
    """Return that flags take no value, and the key that mends it.

    Args:
        flags: as the script is told them.
        has_negatives: whether each has another that says no (`--no-amp`).
        keys: of these flags, where the truth of others is told as a value; empty where all truth is told alike.
    """
    form = "no_switch" if has_negatives else "switch"
    forms = f"{{{', '.join(f'{key}: {form}' for key in keys)}}}" if keys else form
    how = "tells it --flag or --no-flag" if has_negatives else "tells it where it is true, and leaves it out else"
    return f"{', '.join(flags)} take{'' if len(flags) > 1 else 's'} no value; `booleans: {forms}` {how}"


def unknown_text(word: str, near: str, parameters: Iterable[str]) -> str:
    """Return that a script does not know what it was told, what is near, and the key of a definition that tells it so.

    Args:
        word: flag or key, as it was told.
        near: what was probably meant; empty where nothing is near.
        parameters: the keys that the script is told.
    """
    said = f"the script does not know {word}"
    if not near:
        return said
    if near == word:
        return f"{said} beside what else it is told; `when` says with what a key exists"
    key = next((key for key in parameters if key.replace("-", "_") == word.lstrip("-").replace("-", "_")), "")
    if near.startswith("$"):
        mend = f"environment: {{{near[1:]}: '${{{key}}}'}}"
        return f"{said}; the nearest that it knows is the variable {near}" + (f", set by `{mend}`" if key else "")
    bare = near.removeprefix("--")
    # A style turns all keys alike, and only from underscores to hyphens: a key that has hyphens itself needs a name of its own.
    if near.replace("_", "-") == word.replace("_", "-") and (not key or bare in (key, key.replace("_", "-"))):
        mend = f"arguments_style: {'hyphens' if '_' in word else 'flags'}"
    else:
        mend = f"rename: {{{key}: {bare}}}" if key else ""
    return f"{said}; the nearest that it knows is {near}" + (f", told by `{mend}`" if mend else "")


def script_interface(job: JobSpec) -> Interface | None:
    """Return what the source of a job's script says that it can be told; None where that is not known."""
    return interface_at(Path(job.source_dir or "."), job.script, [word.replace("${source}", job.source_dir) for word in job.command])


def interface_at(root: Path, script: str, words: Sequence[str]) -> Interface | None:
    """Return what the source of a script says that it can be told; None where that is not known.

    Args:
        root: folder of the source.
        script: its path, also relative to that folder; empty where a command says what is started.
        words: of the command.
    """
    from backends.scripts.read_source import read_script

    file = script_at(root, script, words)
    return None if file is None else read_script(file, root)


def script_at(root: Path, script: str, words: Sequence[str]) -> Path | None:
    """Return the file of the script that is started; None where it is not there. The arguments are those of `interface_at`."""
    names = [script] if script else [word for word in words if word.endswith(tuple(INTERPRETERS))]
    modules = [Path(*word.split(".")) for before, word in pairwise(words) if before == "-m"]
    files = [root / name for name in names] + [
        file for one in modules for file in (root / one.with_suffix(".py"), root / one / "__main__.py")
    ]
    return next((one for one in files if one.is_file()), None)


def interpreter_remark(script: Path, python: str) -> str:
    """Return that a Python script is not run as its first line says, empty where that says no more than that Python runs it.

    Args:
        script: of the definition.
        python: what runs it.
    """
    try:
        with script.open("rb") as file:
            line = file.read(256).split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    except OSError:
        return ""
    words = line.removeprefix("#!").split() if script.suffix == ".py" and line.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if word != "-S"]
    if not words or words == [python] or (len(words) == 1 and words[0] in ("python", "python3")):
        return ""
    return f"{script.name} is run by {python}, not by its first line ({line}); `python` or `command` says otherwise"
