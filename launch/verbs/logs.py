"""`outrider logs TAG [--trial N]`: the log of a trial, with its command and folder, or of a launched run's controller."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from backends.common.capped_log import LEFT_OUT
from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from benchmarking.archive.stored import StoredExperiment

_CHUNK_BYTES = 1 << 16
_POLL_S = 0.2

_EPILOG = """\
The log goes to standard output; trial, folder and command to standard error. The command is one line to paste: it runs the trial's script
once more as it was run, but for the cores and the checkpoint. Where a benchmark, method or seed is one of several of a tag, name it."""


def main(arguments: Sequence[str]) -> int:
    """Print a trial's log and return the exit code; raises `UserError` where there is no such trial."""
    given = make_parser().parse_args(arguments)
    from definitions.backend_registry import backend_description
    from definitions.errors import EXIT_INTERRUPTED, UserError

    if given.trial is None or _is_elsewhere(given):
        try:
            return _show_cloud(given)
        except KeyboardInterrupt:
            return EXIT_INTERRUPTED
    stored, jobs = _find(given.tag, given.trial, given.results_dir, given.experiment)
    name = jobs[-1]
    _say(f"{stored.spec.title}, trial {given.trial}" + (f", attempt {len(jobs)} of {len(jobs)}" if len(jobs) > 1 else "") + f": {name}")
    folder = stored.folder / "jobs" / name
    if folder.is_dir():
        _say(f"folder: {folder}")
    again = folder / "command"
    if again.is_file():
        _say(f"command: {_placed(again.read_text(encoding='utf-8').strip(), folder)}")
    log = stored.folder / "logs" / f"{name}.log"
    if not log.is_file():
        described = backend_description(stored.spec.backend)
        advice = f"aws logs tail {described.log_group} --log-stream-name-prefix {name}/" if described.log_group else ""
        there = described.logs if described.log_group else "the back-end keeps none, or the trial has not started"
        raise UserError(f"there is no log of trial {given.trial} in {log.parent}", there, advice)
    try:
        show(log, (lambda: _is_over(stored, name)) if given.follow else (lambda: True))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0


def _is_elsewhere(given: argparse.Namespace) -> bool:
    """Return whether a log is looked for in the cloud: a flag says so, or this machine knows nothing of the run, or has no log of it."""
    folder = given.results_dir / given.tag
    from launch.remote.run_places import may_be_elsewhere

    named = bool(given.bucket or given.region or given.prefix is not None)
    is_launched = (folder / "launch.json").is_file() and not any(folder.glob(f"*/*/logs/*-t{given.trial}-a*.log"))
    return named or is_launched or (not folder.exists() and may_be_elsewhere(os.environ))


def _show_cloud(given: argparse.Namespace) -> int:
    """Print what CloudWatch has of the log of a controller, or of a trial."""
    from backends.sagemaker.admin.tagged_jobs import check_tag
    from backends.sagemaker.aws.errors import as_cloud_errors
    from benchmarking.archive.stored import experiments_of
    from launch.remote.run_places import check_region

    check_tag(given.tag)
    folders = experiments_of(given.results_dir / given.tag)
    if not folders:
        check_region(f"logs {given.tag}", given.results_dir, given.region, os.environ)
    with as_cloud_errors(f"logs {given.tag}"):
        return _show_of(given, folders)


def _show_of(given: argparse.Namespace, folders: Sequence[Path]) -> int:
    from launch.remote.run_logs import controller_job, show, trial_job
    from launch.remote.run_places import places_of

    places = places_of(given.tag, folders, bucket=given.bucket, prefix=given.prefix, region=given.region, environ=os.environ)

    def job() -> str:
        if given.trial is None:
            return controller_job(places.stores, given.controller)
        return trial_job(places, folders, given.trial, given.experiment)

    _say(f"{'trial ' + str(given.trial) if given.trial is not None else 'controller ' + str(given.controller)}: {job()}")
    if not show(places.clients, job, lambda line: print(line, flush=given.follow), follow=given.follow):
        _say("nothing was written so far")
    return 0


def _placed(line: str, folder: Path) -> str:
    """Return a job's command with the places that were in its experiment's folder where that is now; it may have been moved."""
    began = re.match(r"cd (.+?)/jobs/[^/ ]+ && ", line)
    # A folder with blanks is in quotes, and so is the rest of what begins with it.
    then, now = began[1] if began else "", str(folder.absolute().parents[1])
    is_plain = then.startswith("/") and shlex.quote(now) == now
    return line.replace(f"{then}/", f"{now}/") if is_plain else line


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("logs"),
        description="Show a trial's log, its command and folder; or that of a controller.",
        epilog=_EPILOG,
    )
    parser.add_argument("tag", metavar="TAG")
    parser.add_argument("--trial", type=int, metavar="N", help="a trial's number, as in trials.csv (without: the log of the controller)")
    parser.add_argument("--controller", type=int, default=1, metavar="I", help="which of a launched run's controllers (default 1)")
    parser.add_argument("--follow", action="store_true", help="go on until the trial has ended, or the last controller")
    parser.add_argument("--experiment", default="", metavar="NAME", help="which of a tag's experiments, e.g. RS-local-0 or toy/RS-local-0")
    parser.add_results_dir()
    parser.add_places("of a run whose logs are read from CloudWatch (default: the AWS configuration's)")
    return parser


def _find(tag: str, trial: int, results_dir: Path, named: str) -> tuple[StoredExperiment, list[str]]:
    """Return the experiment that has the trial, and the names of its jobs, oldest first."""
    from benchmarking.archive.stored import load
    from definitions.errors import UserError
    from launch.planning import folders_of

    folders = [folder for folder in folders_of(tag, results_dir, "logs") if f"/{folder}".endswith(f"/{named}") or not named]
    found = {folder: jobs for folder in folders if (jobs := jobs_of(load(folder), trial))}
    if not found:
        raise UserError(
            f"logs {tag} --trial {trial}", "no experiment of this tag has started such a trial", "see trials.csv for those there are"
        )
    if len(found) > 1:
        names = ", ".join(str(folder.relative_to(results_dir / tag)) for folder in found)
        raise UserError(f"logs {tag} --trial {trial}", f"several experiments have one: {names}", "name it: --experiment NAME")
    folder, jobs = next(iter(found.items()))
    return load(folder), jobs


def jobs_of(stored: StoredExperiment, trial: int) -> list[str]:
    """Return the names of a trial's jobs, oldest first."""
    if not stored.is_started:
        return []
    with stored.journal() as journal:
        return [str(record.body["job"]) for record in journal.records() if record.kind == "start" and record.body["trial"] == trial]


def _is_over(stored: StoredExperiment, job: str) -> bool:
    with stored.journal() as journal:
        return any(record.kind in ("closed", "rejected") and record.body["job"] == job for record in journal.records())


def show(log: Path, is_over: Callable[[], bool]) -> None:
    """Print a log, and what is appended to it until it is over.

    Args:
        log: the file.
        is_over: whether nothing more comes, asked before each reading.
    """
    sys.stdout.flush()
    with log.open("rb") as file:
        while True:
            # Asked before reading: what was written before the end is read after it.
            last = is_over()
            if file.tell() > os.fstat(file.fileno()).st_size:
                _go_on_after_mark(file)
            for chunk in _chunks(file):
                sys.stdout.write(chunk.decode("utf-8", "replace"))
            sys.stdout.flush()
            if last:
                return
            time.sleep(_POLL_S)


def _go_on_after_mark(file: BinaryIO) -> None:
    """Go to the end of a log whose middle was taken out meanwhile, and show the line that says so."""
    file.seek(0)
    mark = next((line for line in file if line.startswith(LEFT_OUT)), b"")
    sys.stdout.write(mark.decode("utf-8", "replace"))
    file.seek(0, os.SEEK_END)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        # A letter is not cut in two: what a chunk ends with is completed up to the line's end.
        yield chunk + file.readline()


def _say(line: str) -> None:
    print(line, file=sys.stderr)
