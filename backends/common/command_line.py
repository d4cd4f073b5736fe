"""What a job on this machine starts: places filled in, and the Python script or module in it that a warm worker could fork."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.job_input import JobInput
from backends.job_spec import JobSpec

_PLACE = re.compile(r"\$(\$\{)|\$\{([^{}]+)\}")
_SHEBANG_BYTES = 256
_PLAN = "stages.json"
MEASURED = "measured.json"
"""File in a job's folder that says what was measured of the script alone."""


@dataclass(frozen=True)
class StartCommand:
    """What is started.

    Args:
        command: all its words.
        script: the Python script that the interpreter runs; None where it runs none.
        module: in place of a script, the module that it runs (`-m`).
        arguments: of script or module.
        alone: why it needs a process that nothing was imported in before; empty where it does not.
    """

    command: tuple[str, ...]
    script: Path | None = None
    module: str = ""
    arguments: tuple[str, ...] = ()
    alone: str = ""


def filled(word: str, places: Mapping[str, str]) -> str:
    """Return a word of a job's command with places filled in; `$${` becomes `${`."""
    return _PLACE.sub(lambda match: match[1] or places[match[2]], word) if "${" in word else word


def data_places(inputs: Sequence[JobInput]) -> dict[str, str]:
    """Return where the data are: `data.NAME` for each channel, and `data` for the channel `train`, else the first."""
    found = {f"data.{channel.name}": channel.uri for channel in inputs}
    usual = next((channel.uri for channel in inputs if channel.name == "train"), inputs[0].uri if inputs else "")
    return {"data": usual, **found}


def program_of(job: JobSpec, places: Mapping[str, str], python: str) -> StartCommand:
    """Return what a job starts.

    Args:
        job: with a script, or a command.
        places: what its placeholders stand for; not looked at where there is none.
        python: the interpreter.

    Raises:
        FileNotFoundError, PermissionError: there is nothing that could be run.
    """
    if not job.command:
        script = Path(job.script)
        command = command_of(script, job.arguments, python)
        return StartCommand(tuple(command), script if script.suffix == ".py" else None, "", job.arguments)
    first, *rest = (filled(word, places) for word in job.command)
    if first != python or not rest:
        return StartCommand((found_program(first, python), *rest))
    if rest[0] == "-m" and len(rest) > 1:
        return StartCommand((first, *rest), None, rest[1], tuple(rest[2:]))
    script = Path(job.working_dir, rest[0]) if job.working_dir else Path(rest[0])
    if rest[0].endswith(".py") and not rest[0].startswith("-") and script.is_file():
        return StartCommand((first, *rest), script, "", tuple(rest[1:]))
    return StartCommand((first, *rest))


def found_program(name: str, python: str) -> str:
    """Return the program of a name: the one beside the interpreter, as `torchrun` of a virtual environment is, else as it is looked for."""
    beside = os.path.join(os.path.dirname(python), name)  # noqa: PTH118, PTH120
    return beside if "/" not in name and "/" in python and os.access(beside, os.X_OK) else name


def staged(job: JobSpec, start: StartCommand, places: Mapping[str, str], folder: Path, python: str) -> StartCommand:
    """Return what runs a job's further commands before and after its script, and measures the script alone.

    Args:
        job: with commands to prepare or clean up, or warm-up runs.
        start: what runs the script.
        places: what placeholders stand for.
        folder: the job's own, where the plan is written.
        python: the interpreter.
    """
    plan: dict[str, Any] = {
        "prepare": _other(job.prepare, places, python),
        "warmup_runs": job.warmup_runs,
        "command": list(start.command),
        "cleanup": _other(job.cleanup, places, python),
        "folder": str(folder),
        "measured": str(folder / MEASURED),
    }
    if job.metric_files:
        read = [dataclasses.asdict(source) for source in job.metric_files]
        plan |= {"read": read, "places": dict(places), "packages": str(Path(__file__).parents[2])}
    (folder / _PLAN).write_text(json.dumps(plan), encoding="utf-8")
    command = (sys.executable, str(Path(__file__).with_name("staged_run.py")), str(folder / _PLAN))
    return StartCommand(
        command, alone="what runs before or after the script, or its peak of memory, is told apart by processes of their own"
    )


def _other(words: Sequence[str], places: Mapping[str, str], python: str) -> list[str]:
    if not words:
        return []
    first, *rest = (filled(word, places) for word in words)
    return [found_program(first, python), *rest]


def command_of(script: Path, arguments: Sequence[str], python: str) -> list[str]:
    """Return the command line: a Python script is run by `python`, anything else by itself, or as its first line says.

    Raises:
        FileNotFoundError, PermissionError: there is nothing that could be run.
    """
    if not script.is_file():
        raise FileNotFoundError(f"the script {script} does not exist" if not script.exists() else f"the script {script} is no file")
    if script.suffix == ".py":
        return [python, str(script), *arguments]
    if os.access(script, os.X_OK):
        return [str(script), *arguments]
    interpreter = shebang(script) or (["/bin/sh"] if script.suffix == ".sh" else [])
    if not interpreter:
        raise PermissionError(f"the script {script} is not executable; chmod +x it, or give it the ending .py")
    return [*interpreter, str(script), *arguments]


def shebang(script: Path) -> list[str]:
    """Return the interpreter that a script's first line names, with its argument; empty where it names none that is there."""
    with script.open("rb") as file:
        line = file.read(_SHEBANG_BYTES).split(b"\n", 1)[0]
    if not line.startswith(b"#!"):
        return []
    words = shlex.split(os.fsdecode(line[2:]).strip())
    return words if words and shutil.which(words[0]) else []
