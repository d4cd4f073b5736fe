"""`outrider launch`, which is `hpo_main.py --remote`: the study runs inside training jobs; this returns when they are accepted."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from definitions.errors import EXIT_DONE, UserError
from launch.cli import make_parser as make_run_parser
from launch.cli import parse_run
from launch.parser import VerbParser
from launch.request import RunRequest


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
    for flag in ("list", "show", "check_script", "take_over"):
        if getattr(given, flag):
            raise UserError(f"launch --{flag}", "it is for runs on this machine", f"leave it out, or use `run --{flag}`")
    from launch.launching.launching import launch, launching
    from launch.launching.words import accepted_text, dry_run_text
    from launch.planning import plan
    from launch.study_request import with_study

    request = with_study(request)
    planned = plan(request)
    with launching(planned, request, os.environ, child_words(given)) as found:
        if request.dry_run:
            print(dry_run_text(found))
            return EXIT_DONE
        for note in found.notes:
            _say(note)
        from launch.launching.agreement import agree

        agree(found, yes=given.yes, ask=input if sys.stdin is not None and sys.stdin.isatty() else None, say=_say)
        launched = launch(found, _say)
    print(accepted_text(launched), flush=True)
    return EXIT_DONE


def child_words(given: argparse.Namespace) -> list[str]:
    """Return the flags that hold for the command in a controller too, where they are in no study."""
    words = [f"--{name}" for name in ("accept_changes", "verbose") if getattr(given, name)]
    return [*words, *(["--track", *given.track] if given.track else [])]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
