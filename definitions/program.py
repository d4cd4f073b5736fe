"""How the program was called, so that what a message tells to type can be pasted as it stands."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def command(verb: str, *words: str, called: str | None = None, python: str | None = None) -> str:
    """Return what to type for a verb, in the way in which the program was called this time.

    Args:
        verb: of Outrider, e.g. `run`.
        words: its arguments.
        called: the program's path as in `sys.argv[0]`, which is taken where None.
        python: the interpreter's path; `sys.executable` where None.
    """
    return " ".join([*_program(sys.argv[0] if called is None else called, python or sys.executable, verb), *map(shlex.quote, words)])


def install_extra(extra: str) -> str:
    """Return what to type for one of the extras of `setup.cfg`."""
    return f"in Outrider's folder: pip install '.[{extra}]'"


def _program(called: str, python: str, verb: str) -> list[str]:
    path = Path(called)
    if path.name == "hpo_main.py":
        return [_typed(python, "python", "python3"), shlex.quote(called), *([] if verb == "run" else [verb])]
    if path.parts[-2:] == ("launch", "__main__.py"):
        return [_typed(python, "python", "python3"), "-m", "launch", verb]
    if path.name == "outrider":
        return [_typed(called, "outrider"), verb]
    return ["outrider", verb]


def _typed(program: str, *names: str) -> str:
    """Return the first of the names that the shell finds this very program by, else its path, from here where it lies below."""
    for name in names:
        found = shutil.which(name)
        # Not resolved: the interpreter of a virtual environment is a link to another one's.
        if found is not None and Path(found).absolute() == Path(program).absolute():
            return name
    path = Path(program).absolute()
    return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
