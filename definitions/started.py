"""What a definition starts on this machine: its script, its interpreter, and the program of its command."""

from __future__ import annotations

import os
import shutil
import sys
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


def check_programs(definition: BenchmarkDefinition, where: str, of_python: str) -> None:
    """Raise `UserError` where the interpreter, or the program of the command, is not on this machine.

    Args:
        definition: resolved; relative paths of interpreters are absolute.
        where: place in the file at which its command is written.
        of_python: place at which its interpreter is.
    """
    python = definition.python
    if python is not None and shutil.which(python) is None:
        fact = "it is there and cannot be run" if Path(python).exists() else "there is no such program"
        raise UserError(f"{of_python}: python: {python}", fact, "name an interpreter, e.g. .venv/bin/python beside the definition")
    program = definition.command[0] if definition.command is not None else ""
    # What has a path is looked for where the job starts, and what is prepared may be made first.
    if not program or "/" in program or "${" in program or definition.prepare or "PATH" in definition.environment:
        return
    beside = Path(shutil.which(python or sys.executable) or sys.executable).parent
    if shutil.which(program) is None and not os.access(beside / program, os.X_OK) and program not in ("python", "python3"):
        is_own = (Path(definition.source_dir) / program).is_file()
        raise UserError(
            f"{where}: command: there is no program {program!r}",
            f"looked for in {beside} and on the path",
            f"the one in source_dir is ./{program}"
            if is_own
            else "install it, or name another interpreter beside which it is: `python: .venv/bin/python`",
        )
