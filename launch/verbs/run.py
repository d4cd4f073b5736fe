"""`outrider run`, which is `hpo_main.py`: parses, plans, runs one experiment after the other, prints what came of it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from definitions.errors import (
    EXIT_DETACHED,
    EXIT_DONE,
    EXIT_FAILURES,
    EXIT_INTERRUPTED,
    EXIT_TAKEN_OVER,
    EXIT_USAGE,
    OutriderError,
    UserError,
)
from launch.cli import parse_run

if TYPE_CHECKING:
    from launch.experiment_outcome import ExperimentOutcome
    from launch.planning import Planned
    from launch.request import RunRequest
    from launch.study_report import StudyComparison


def main(arguments: Sequence[str]) -> int:
    """Run what the flags ask for and return the exit code; raises `UserError` for wrong use."""
    given, request = parse_run(arguments, os.environ)
    try:
        return _run(given, request, arguments)
    except OutriderError as error:
        if not (request.launched_remotely and error.is_denied):
            raise
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE


def _run(given: argparse.Namespace, request: RunRequest, arguments: Sequence[str]) -> int:
    if given.format != "table" and (given.list or given.show or request.dry_run):
        raise UserError(f"--format {given.format}", "it is for the results of a run", "leave it out with --list, --show and --dry_run")
    if given.list:
        from launch.verbs.list import main as list_main

        return list_main([])
    if given.show:
        from launch.verbs.show import show

        print(show(given.show, request))
        return 0
    _set_up_logging(request.verbose)
    if given.remote:
        from launch.verbs.launch import launch_given

        return launch_given(given, request, arguments)
    if given.watch:
        raise UserError("--watch without --remote", "a run on this machine is followed anyway", "leave it out, or use `launch`")
    from launch.launching.launched_here import check_not_launched
    from launch.planning import plan
    from launch.study_request import with_study

    request = with_study(_taken_over(given, request) if given.take_over else request)
    planned = plan(request)
    check_not_launched(planned.tag_folder, request)
    if given.check_script:
        from launch.check_script import check_scripts

        check_scripts(planned.specs, request.cache_dir, _say)
    if request.dry_run:
        from launch.dry_run import describe

        for note in planned.notes:
            _say(note)
        print(describe(planned.specs, os.environ, planned.study))
        return 0
    from launch.confirm import confirm
    from launch.experiment_outcome import DENIED
    from launch.experiments import execute
    from launch.panels import panel_here
    from launch.progress import Progress
    from launch.tracking import check_tracking, tracking

    check_tracking(request.track, os.environ)
    confirm(
        planned.specs, study=planned.study, yes=given.yes, ask=input if sys.stdin is not None and sys.stdin.isatty() else None, say=_say
    )
    progress = Progress(sys.stderr, panel=panel_here(sys.stderr, os.environ), verbose=request.verbose)
    with tracking(request.track, planned.specs[0].folder.parent.parent, os.environ, progress.say):
        outcomes = execute(planned, request, progress)
    codes = {one.exit_code for one in outcomes}
    if codes & {EXIT_DETACHED, EXIT_TAKEN_OVER}:
        # It is no end, and there may be little time.
        return EXIT_TAKEN_OVER if EXIT_TAKEN_OVER in codes else EXIT_DETACHED
    if request.launched_remotely and any(one.reason == DENIED for one in outcomes):
        # What is denied now is denied to whoever is started next: its supervisor is to hear that, and how it was said last.
        return EXIT_USAGE
    return _report(given, request, planned, outcomes)


def _taken_over(given: argparse.Namespace, request: RunRequest) -> RunRequest:
    """Return the request by which a launched run goes on here, once all of it is here."""
    from launch.launching.place import place_named
    from launch.launching.taking_over import take_over

    place = place_named(
        request.resume or "none", os.environ, region=given.remote_region, bucket=given.remote_bucket, prefix=given.remote_prefix
    )
    return take_over(place, request, _say)


def _report(given: argparse.Namespace, request: RunRequest, planned: Planned, outcomes: Sequence[ExperimentOutcome]) -> int:
    """Print what came of the experiments, in the form that was asked for; return the exit code of all."""
    # Imported when no job waits for it any more.
    from launch.experiment_outcome import with_results
    from launch.experiments import resume_command
    from launch.hints import hint_for
    from launch.launching.launched_here import as_it_was_launched
    from launch.outcome import as_csv, as_json, as_text, gravest
    from launch.remote.sharing import CONTROLLER_VARIABLE

    codes = [one.exit_code for one in outcomes]
    compared: StudyComparison | None = None
    if given.format == "table" and planned.study is not None:
        compared = _print_end(planned, outcomes, is_asked_anew=bool(request.compare))
        codes.append(_seeds_code(planned) if compared is None else compared.exit_code)
    elif given.format == "table":
        print(as_text([one.result for one in outcomes if one.result is not None]), flush=True)
    else:
        print({"json": as_json, "csv": as_csv}[given.format](with_results(outcomes)), flush=True)
        codes.append(EXIT_DONE if planned.study is None else _seeds_code(planned))
    if CONTROLLER_VARIABLE in os.environ:
        # What would be left here goes with this instance, and its folder is nowhere to resume from: reports are made where it is collected.
        return gravest(codes)
    if planned.study is not None and EXIT_INTERRUPTED not in codes:
        from launch.study_report import leave_report

        say = print if given.format == "table" else _say
        details = None if compared is None else compared.details
        leave_report(planned.tag_folder, say, _say, is_asked_anew=bool(request.compare), details=details)
    study = as_it_was_launched(planned.study, planned.tag_folder) if request.launched_remotely else planned.study
    hint = hint_for(outcomes, resume_command(planned.specs[0].tag, request), study)
    if hint:
        _say(hint)
    return gravest(codes)


def _print_end(planned: Planned, outcomes: Sequence[ExperimentOutcome], *, is_asked_anew: bool) -> StudyComparison | None:
    """Print what did not come to a good end, then what `outrider compare` says of the whole study, and return that; None without it."""
    from launch.study_report import compare_study, is_current
    from launch.unfinished import unfinished

    problems = unfinished(outcomes)
    if problems:
        print(f"{problems}\n", flush=True)
    compared: StudyComparison | None = None
    gets_report = all(one.exit_code != EXIT_INTERRUPTED for one in outcomes) and (is_asked_anew or not is_current(planned.tag_folder))
    try:
        compared = compare_study(planned.tag_folder, with_details=gets_report)
        print(compared.text)
    except UserError as error:
        _say(f"nothing to compare: {error}")
    else:
        from benchmarking.studies.files import note_look

        note_look(planned.tag_folder, time.time())
    print(f"\nresults: {planned.tag_folder}", flush=True)
    return compared


def _seeds_code(planned: Planned) -> int:
    """Return the exit code of a study that says how many seeds there are to be, where its comparison is not printed."""
    from benchmarking.comparison.document import misses_seeds
    from launch.comparison_flags import question_for
    from launch.named_results import named_runs

    named = ([planned.tag_folder.name], planned.tag_folder.parent, "compare")
    try:
        question = question_for(*named, {})
        # Reading all journals again takes its time.
        lacks = question.expect_seeds > 0 and misses_seeds(named_runs(*named), question)
    except UserError:  # nothing of it can be read, or has a result
        assert planned.study is not None
        lacks = bool(planned.study.flags.compare.get("expect_seeds"))
    return EXIT_FAILURES if lacks else EXIT_DONE


def _set_up_logging(verbose: bool) -> None:
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


def _say(line: str) -> None:
    print(line, file=sys.stderr)
