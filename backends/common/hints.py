"""What a failure that comes of how a script was called asks for, as the key of a definition that mends it."""

from __future__ import annotations

import re
from pathlib import Path

from backends.base import JobSpec

_MISSING_FILE = re.compile(r"No such file or directory: '([^'/][^']*)'")
_NO_PACKAGE = ("attempted relative import with no known parent package", "attempted relative import beyond top-level package")


def calling_hint(message: str, job: JobSpec) -> str:
    """Return what to do about a failure, empty where it is of another kind.

    Args:
        message: that says why the job failed.
        job: what failed.
    """
    missing = _MISSING_FILE.search(message)
    if missing is not None and not job.working_dir and job.source_dir and (Path(job.source_dir) / missing[1]).exists():
        return f"{missing[1]} is in source_dir, and jobs start in folders of their own; `working_dir: source` starts them there"
    if any(words in message for words in _NO_PACKAGE) and job.script.endswith(".py") and job.source_dir:
        script = Path(job.script)
        if script.is_relative_to(job.source_dir):
            module = ".".join(script.relative_to(job.source_dir).with_suffix("").parts)
            return f'a package\'s module is started by `command: [python, -m, {module}, "${{arguments}}"]`'
    return ""


def interpreter_remark(script: Path, python: str) -> str:
    """Return that a Python script is not run by the interpreter that its first line names, empty where it names none in particular.

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
    if not words or re.fullmatch(r"python3?", Path(words[-1]).name):
        return ""
    return f"{script.name} is run by {python}, not by its first line ({line}); `python` or `command` says otherwise"
