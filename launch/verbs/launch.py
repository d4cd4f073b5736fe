"""`outrider launch`, which is `hpo_main.py --remote`: the study runs inside training jobs; this returns when they are accepted."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarking.export.files import utc
from definitions.errors import EXIT_DONE, UserError
from definitions.program import command
from launch.cli import make_parser as make_run_parser
from launch.cli import parse_run
from launch.parser import VerbParser
from launch.request import RunRequest

if TYPE_CHECKING:
    from launch.launching.launching import Launched


def main(arguments: Sequence[str]) -> int:
    """Launch what the flags ask for and return the exit code; raises `UserError` for wrong use, `CloudError` where AWS refuses."""
    given, request = parse_run(arguments, os.environ, "launch")
    return launch_given(given, request, arguments)


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    return make_run_parser("launch")


def launch_given(given: argparse.Namespace, request: RunRequest, arguments: Sequence[str]) -> int:
    """Launch a parsed request; return the exit code.

    Args:
        given: the flags.
        request: that they amount to.
        arguments: as they were given.
    """
    for flag in ("list", "show", "take_over"):
        if getattr(given, flag):
            raise UserError(f"launch --{flag}", "it is for runs on this machine", f"leave it out, or use `run --{flag}`")
    if given.format != "table":
        export = command("export", "TAG", "--to", given.format)
        raise UserError(
            f"launch --format {given.format}", "it is for the results of a run on this machine", f"leave it out; once collected: `{export}`"
        )
    if request.resume:
        from launch.launching.going_on import go_on

        return _accepted(given, request, go_on(request, os.environ, utc(time.time()) or "", _say))
    from launch.launching.agreement import agree, missing
    from launch.launching.launching import launch, launching
    from launch.launching.words import dry_run_text
    from launch.planning import plan
    from launch.study_request import with_study

    request = with_study(request)
    planned = plan(request)
    if given.check_script:
        from launch.check_script import check_scripts

        check_scripts(planned.specs, request.cache_dir, _say)
    with launching(planned, request, os.environ) as found:
        if request.dry_run:
            print("\n".join(filter(None, (dry_run_text(found), missing(found)))))
            return EXIT_DONE
        for note in found.notes:
            _say(note)
        agree(found, yes=given.yes, ask=input if sys.stdin is not None and sys.stdin.isatty() else None, say=_say)
        launched = launch(found, _say)
    return _accepted(given, request, launched)


def _accepted(given: argparse.Namespace, request: RunRequest, launched: Launched) -> int:
    """Say what was accepted and, where that is asked for, follow it to its end; return the exit code."""
    from launch.emulated import MARK
    from launch.launching.following import follow
    from launch.launching.words import accepted_text

    print(accepted_text(launched), flush=True)
    # The emulator of this command ends with it.
    if not given.watch and not os.environ.get(MARK):
        return EXIT_DONE
    return follow(launched.place, launched.record, request.results_dir, _say)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
