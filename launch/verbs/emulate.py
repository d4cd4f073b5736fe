"""`outrider emulate`: runs the emulator of SageMaker's training jobs until it is stopped, and says how to reach it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from definitions.program import command
from launch import background_emulator
from launch.parser import VerbParser, port_number
from launch.signals import caught

_EPILOG = """\
While it runs, faults can be added: curl -u "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" -H 'content-type: application/json' \
-d '[{"kind": "capacity", "job": "x-*"}]' $AWS_ENDPOINT_URL/_emulator/faults
"""


def main(arguments: Sequence[str]) -> int:
    """Serve until INT or TERM and return the exit code; raises `UserError` for wrong use."""
    given = make_parser().parse_args(arguments)
    if given.exports:
        settings_of(given)  # raises here, and not in the background
        lines = background_emulator.start([word for word in arguments if word != "--exports"], given.folder)
        print(lines, end="")
        return 0 if lines else 1
    from backends.emulator import Emulator
    from backends.emulator.core.private import private_file

    stopped = threading.Event()
    with (
        caught(lambda *_: stopped.set()),
        Emulator(given.folder, given.port, given.seed, given.faults, settings=settings_of(given)) as emulator,
    ):
        lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in emulator.environment.items())
        private_file(emulator.folder / background_emulator.EXPORTS).write_text(lines, encoding="utf-8")
        print(lines, end="")
        sys.stdout.flush()
        where = given.folder or "a temporary folder"
        end = "Ctrl-C stops it" if given.shell is None else f"it ends with this shell, or with `kill {os.getpid()}`"
        print(f"the emulator listens on {emulator.endpoint_url}, keeps its data in {where}; {end}", file=sys.stderr)
        if emulator.isolation == "none":
            print("jobs cannot have a private /opt/ml here: their paths are relocated, see SM_* in their environment", file=sys.stderr)
        sys.stderr.flush()
        if given.shell is not None:
            background_emulator.let_go()
            background_emulator.end_with(given.shell, stopped.set)
        stopped.wait()
    return 0


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("emulate"),
        description="Run an emulator of SageMaker's training jobs on 127.0.0.1; prints what to export so that AWS clients use it.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--exports", action="store_true", help='run it beside the shell, which it ends with: eval "$(outrider emulate --exports)"'
    )
    parser.add_argument("--while", dest="shell", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=port_number, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--faults", metavar="FILE", type=Path, help="YAML file of faults to inject")
    parser.add_argument("--seed", type=int, default=0, help="seed of the faults (default: 0)")
    parser.add_argument("--folder", metavar="DIR", type=Path, help="keep jobs, logs and buckets here (default: deleted at the end)")
    parser.add_argument(
        "--quota", metavar="NAME=N", action="append", default=[], help='e.g. "ml.m5.large for training warm pool usage=2"; * is any type'
    )
    parser.add_argument("--cold_start", metavar="S", type=float, help="seconds until a job has instances (default: 0.2)")
    parser.add_argument("--warm_start", metavar="S", type=float, help="the same from a warm pool (default: 0.05)")
    parser.add_argument("--log_delay", metavar="S", type=float, help="seconds until a line is in the logs (default: 0)")
    parser.add_argument("--install_requirements", action="store_true", help="install a source's requirements.txt")
    parser.add_argument("--keep_job_folders", action="store_true", help="leave what jobs had in /opt/ml")
    return parser


def settings_of(given: argparse.Namespace) -> Any:
    """Return the emulator's settings that flags ask for; those not given have their defaults."""
    from dataclasses import replace

    from backends.emulator import Settings

    settings = Settings(install_requirements=given.install_requirements, keep_job_folders=given.keep_job_folders)
    asked = {"cold_start_s": given.cold_start, "warm_start_s": given.warm_start, "log_s": given.log_delay}
    delays = replace(settings.delays, **{name: value for name, value in asked.items() if value is not None})
    asked_quotas = _quotas(given.quota)
    # The first that matches counts, so what is asked for comes first, and in place of a default of the same name.
    usual = {name: limit for name, limit in settings.quotas.items() if name not in asked_quotas}
    return replace(settings, delays=delays, quotas={**asked_quotas, **usual})


def _quotas(given: Sequence[str]) -> dict[str, int]:
    from definitions.errors import UserError

    found = {}
    for text in given:
        name, _, value = text.rpartition("=")
        if not name or not value.strip().isdigit():
            raise UserError(f"--quota {text!r}", "the form is NAME=N", 'e.g. --quota "ml.m5.large for training job usage=3"')
        found[name.strip()] = int(value)
    return found
