"""Asks a script for its `--help`, in bounded time, and reads the answer."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common.command_line import found_program

if TYPE_CHECKING:
    from backends.scripts.interface import Interface
    from benchmarking.scripts.call import ScriptCall

_WIDTH = "200"


def ask_help(call: ScriptCall, limit_s: float, command: str = "", environ: Mapping[str, str] = os.environ) -> Interface | None:
    """Return what a script says that it can be told; None where it says nothing of the kind, or not in time.

    Args:
        call: how it is called; the words that it is given are left out.
        limit_s: seconds that it may take.
        command: sub-command that is asked about.
        environ: of this process.
    """
    from backends.scripts.help_text import read_help

    python = call.python or sys.executable
    first, *rest = call.words
    words = [python if first == "python" else found_program(first, python), *rest, *([command] if command else []), "--help"]
    output = _output(words, limit_s, {**environ, **call.environment})
    return None if output is None else read_help(output)


def _output(words: Sequence[str], limit_s: float, environ: Mapping[str, str]) -> str | None:
    """Return what a command prints; None where it cannot be started or takes too long, and then nothing of it stays behind."""
    path = os.pathsep.join([str(Path.cwd()), *([environ["PYTHONPATH"]] if environ.get("PYTHONPATH") else [])])
    # Wide and without colours, so that nothing is broken into lines.
    plain = {**environ, "PYTHONPATH": path, "COLUMNS": _WIDTH, "TERMINAL_WIDTH": _WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=plain, start_new_session=True
        )
    except OSError:
        return None
    try:
        output, _ = process.communicate(timeout=limit_s)
        return output.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
