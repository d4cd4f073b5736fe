"""`outrider run`, which is `hpo_main.py`: parses, plans, runs one experiment after the other, prints what came of it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from definitions.errors import OutriderError, UserError
from launch.cli import parse_run

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarking.archive.identity import ExperimentSpec
    from benchmarking.experiment import ExperimentResult
    from launch.progress import Progress
    from launch.request import RunRequest


def main(arguments: Sequence[str]) -> int:
    """Run what the flags ask for and return the exit code; raises `UserError` for wrong use."""
    given, request = parse_run(arguments, os.environ)
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
    from launch.planning import plan

    specs = plan(request)
    if given.check_script:
        from launch.check_script import check_scripts

        check_scripts(specs, request.cache_dir, _say)
    if request.dry_run:
        from launch.dry_run import describe

        print(describe(specs, os.environ))
        return 0
    from launch.confirm import confirm
    from launch.panels import panel_here
    from launch.progress import Progress

    confirm(specs, yes=given.yes, ask=input if sys.stdin is not None and sys.stdin.isatty() else None, say=_say)
    progress = Progress(sys.stderr, panel=panel_here(sys.stderr, os.environ), verbose=request.verbose)
    results = execute(specs, request, progress)
    from launch.outcome import as_csv, as_json, as_text, exit_code

    print({"json": as_json, "csv": as_csv, "table": as_text}[given.format](results), flush=True)
    code = exit_code(results)
    hint = _hint(results, resume_command(specs[0].tag, request))
    if hint:
        _say(hint)
    return code


def execute(specs: Sequence[ExperimentSpec], request: RunRequest, progress: Progress) -> list[ExperimentResult]:
    """Run the experiments in order, up to one that is interrupted; return a result for each; one that is refused leaves nothing."""
    from benchmarking.archive.folder import discard_unstarted, prepare_folder
    from benchmarking.archive.folder_lock import locked

    created = [spec for spec in specs if not spec.folder.exists()]
    try:
        for spec in specs:
            with locked(spec.folder):
                prepare_folder(spec, os.environ, accept_changes=request.accept_changes)
        results = _execute(specs, request, progress)
    except OutriderError:
        for spec in created:
            # That it cannot be removed is less than why it was refused.
            with contextlib.suppress(OutriderError, OSError):
                discard_unstarted(spec.folder, spec.results_dir)
        raise
    _collate(specs[0].folder.parent.parent, progress)
    return results


def _collate(tag_folder: Path, progress: Progress) -> None:
    """Write what the experiments of a tag came to into one file; that it cannot be written is said, as each has its own."""
    from benchmarking.results import collate

    try:
        collate(tag_folder)
    except UserError as error:
        progress.say(f"warning: {error}")


def _execute(specs: Sequence[ExperimentSpec], request: RunRequest, progress: Progress) -> list[ExperimentResult]:
    from benchmarking.controller.ending import Reason
    from benchmarking.controller.interfaces import Wallet
    from benchmarking.controller.tuner import Tuner
    from benchmarking.experiment import Surroundings, run_experiment
    from launch.signals import winding_down

    wallet = Wallet()
    results: list[ExperimentResult] = []
    for spec in specs:
        progress.begin(spec)
        running: list[Tuner] = []

        def started(tuner: Tuner, n_workers: int, running: list[Tuner] = running) -> None:
            running.append(tuner)
            progress.started(tuner, n_workers)

        def wind_down(running: list[Tuner] = running) -> None:
            if not running:
                raise KeyboardInterrupt
            running[0].interrupt()

        told = (progress.observe,), started, progress.say_once
        surroundings = Surroundings(
            os.environ, request.cache_dir, wallet, *told, waiting=progress.waiting, accept_changes=request.accept_changes
        )
        try:
            with winding_down(wind_down, progress.say):
                results.append(run_experiment(spec, surroundings))
        except KeyboardInterrupt:
            progress.say(f"stopped at once; resume with: {resume_command(spec.tag, request)}")
            raise
        finally:
            progress.end()
        wallet.spent_usd += results[-1].state.spent_usd
        if results[-1].ending.reason in (Reason.INTERRUPTED, Reason.DISK_FULL):
            break
    return results


def _hint(results: Sequence[ExperimentResult], resume: str) -> str:
    """Return how to go on after the gravest early end; empty where there is nothing to go on with."""
    from benchmarking.controller.ending import Reason
    from launch.outcome import exit_code

    code = exit_code(results)
    gravest = [result for result in results if result.ending.exit_code == code]
    budgets = (Reason.FAILURES, Reason.TIME, Reason.COST)
    ended = next((result for result in gravest if result.ending.reason in budgets), gravest[0])
    reason, larger = ended.ending.reason, _larger(ended)
    more = f"{resume} --{reason} {larger}"
    match reason:
        case Reason.ALIKE | Reason.NONE_SUCCEEDED:
            return _mend(results)
        case Reason.FAILURES:
            return f"mend the script and start anew; or go on in spite of the failures with: {more}"
        case Reason.INTERRUPTED:
            return f"resume with: {resume}"
        case Reason.DISK_FULL:
            return f"make room, then resume with: {resume}"
        case Reason.TIME | Reason.COST if larger:
            return f"resume with more: {more}"
        case Reason.TRIALS if code:
            return f"resume with more: {more}"
    return ""


def _mend(results: Sequence[ExperimentResult]) -> str:
    """Return what to do where nothing succeeded: what is said to a script is mended in the definition, all else in the script."""
    messages = [trial.message for result in results for trial in result.state.trials.values()]
    if any("the script does not know " in message for message in messages):
        return "mend the definition, then start anew with another tag; --check_script finds that before trials are spent"
    return "mend the script, then start anew with another tag"


def _larger(result: ExperimentResult) -> str:
    """Return twice the limit that ended an experiment, which is beyond what was used of it."""
    from benchmarking.controller.ending import Reason

    budget, reason = result.spec.definition.budget, result.ending.reason
    if reason is Reason.FAILURES:
        return str(result.state.counted_failures + max(1, budget.max_failures))
    limit = getattr(budget, str(reason), None)
    return "" if limit is None else f"{2 * limit:g}"


def _set_up_logging(verbose: bool) -> None:
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.INFO if verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


def resume_command(tag: str, request: RunRequest) -> str:
    """Return the command that goes on with a tag, with the folder of results where it is not the usual one."""
    from definitions.program import command
    from launch.emulated import MARK
    from launch.parser import default_results_dir

    words = [] if request.results_dir == default_results_dir() else ["--results_dir", str(request.results_dir)]
    return command("run", "--resume", tag, *words, *(["--emulate"] if os.environ.get(MARK) else []))


def _say(line: str) -> None:
    print(line, file=sys.stderr)
