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
    for flag in ("list", "show", "check_script", "take_over"):
        if getattr(given, flag):
            raise UserError(f"launch --{flag}", "it is for runs on this machine", f"leave it out, or use `run --{flag}`")
    if request.resume:
        return _resume(given, request)
    from launch.launching.agreement import agree, missing
    from launch.launching.launching import launch, launching
    from launch.launching.words import dry_run_text
    from launch.planning import plan
    from launch.study_request import with_study

    request = with_study(request)
    planned = plan(request)
    with launching(planned, request, os.environ, child_words(given)) as found:
        if request.dry_run:
            print("\n".join(filter(None, (dry_run_text(found), missing(found)))))
            return EXIT_DONE
        for note in found.notes:
            _say(note)
        agree(found, yes=given.yes, ask=input if sys.stdin is not None and sys.stdin.isatty() else None, say=_say)
        launched = launch(found, _say)
    return _accepted(given, request, launched)


def _resume(given: argparse.Namespace, request: RunRequest) -> int:
    """Go on with a launched run, with what is added to its study; return the exit code."""
    from definitions.remote import RemoteOptions
    from launch.launching.extending import extend, extends
    from launch.launching.place import place_named
    from launch.launching.renewing import renew
    from launch.launching.resuming import launched_run, refuse_live, resume, standings

    if request.dry_run:
        raise UserError("launch --resume with --dry_run", "what it costs was said when it was launched", "leave one of them out")
    what = f"launch --resume {request.resume}"
    place = place_named(request.resume, os.environ, region=given.remote_region, bucket=given.remote_bucket, prefix=given.remote_prefix)
    record = launched_run(place, what)
    if extends(request):
        refuse_live(place, standings(place, record), what)
        added = extend(place, record, request)
        if added:
            _say(added)
    if request.accept_changes:
        refuse_live(place, standings(place, record), what)
        _, sent = renew(place, launched_run(place, what), request)
        _say(sent)
    asked = RemoteOptions(
        role=given.remote_role, image=given.remote_image, framework=given.remote_framework, framework_version=given.remote_framework_version
    )
    return _accepted(given, request, resume(place, asked, os.environ, utc(time.time()) or "", _say))


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


def child_words(given: argparse.Namespace) -> list[str]:
    """Return the flags that hold for the command in a controller too, where they are in no study."""
    words = [f"--{name}" for name in ("accept_changes", "verbose") if getattr(given, name)]
    return [*words, *(["--track", *given.track] if given.track else [])]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
