"""What a definition starts on this machine: its script, its interpreter, and the program of its command."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition


def script_of(definition: BenchmarkDefinition) -> str | None:
    """Return the file in the source folder that a definition starts: its script, or the one that its command gives to Python."""
    if definition.command is None:
        return definition.script
    program, *rest = definition.command
    first = rest[0] if rest else ""
    is_python = program in ("python", "python3", "${python}")
    return first if is_python and first.endswith(".py") and not first.startswith(("-", "/")) and "${" not in first else None


def check_programs(definition: BenchmarkDefinition, place: Callable[[str], str]) -> None:
    """Raise `UserError` where the interpreter, or the program of a command, is not on this machine.

    Args:
        definition: resolved; relative paths of interpreters are absolute.
        place: returns where a key of the definition is written.
    """
    python = definition.python
    if python is not None and shutil.which(python) is None:
        fact = "it is there and cannot be run" if Path(python).exists() else "there is no such program"
        raise UserError(f"{place('python')}: python: {python}", fact, "name an interpreter, e.g. .venv/bin/python beside the definition")
    for key, words in (("prepare", definition.prepare), ("command", definition.command), ("cleanup", definition.cleanup)):
        # What is prepared may make what comes after it.
        if words and (key == "prepare" or not definition.prepare):
            _check_program(definition, words[0], f"{place(key)}: {key}")


def _check_program(definition: BenchmarkDefinition, program: str, where: str) -> None:
    if "${" in program or program in ("python", "python3"):
        return
    source = Path(definition.source_dir)
    if "/" in program:
        file = source / program
        if not os.access(file, os.X_OK) or not file.is_file():
            fact = f"{file} is there and cannot be run" if file.is_file() else f"there is no file {file}"
            raise UserError(f"{where}: {program}", fact, "chmod +x it, or name what runs it" if file.is_file() else "")
        return
    if "PATH" in definition.environment:
        return
    beside = Path(shutil.which(definition.python or sys.executable) or sys.executable).parent
    if shutil.which(program) is None and not os.access(beside / program, os.X_OK):
        raise UserError(
            f"{where}: there is no program {program!r}",
            f"looked for in {beside} and on the path",
            f"the one in source_dir is ./{program}"
            if (source / program).is_file()
            else "install it, or name another interpreter beside which it is: `python: .venv/bin/python`",
        )
