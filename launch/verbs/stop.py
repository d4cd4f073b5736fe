"""`outrider stop TAG [--trial N]`: stops a run on this machine as Ctrl-C does, or a run anywhere, its controllers and their jobs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from launch.remote.run_places import RunPlaces

_POLL_S = 0.1

_EPILOG = """\
Where the run goes on on this machine it is told to wind down, as Ctrl-C does, and can be resumed; with --trial that trial alone is ended.
Jobs that a controller left running on a cluster (`ray: {detach: true}`) are taken over and ended, as if somebody had interrupted the run.
Else a mark is left beside the run's state in S3, which every controller reads before it creates a job, wherever it runs; then the jobs are
stopped in which controllers run, and once these have wound down, all other jobs of the tag. Jobs are found by name, and stopped only if
they carry the tag `outrider:tag` with exactly this value. Warm pools are released. A resume takes the mark away.
Exit codes: 0 all are gone and no controller can start more (with --no_wait: asked to go), 2 wrong use, 5 something could not be stopped,
which is then named."""


def main(arguments: Sequence[str]) -> int:
    """Stop the run or its jobs and return the exit code; raises `CloudError` where AWS refuses to list them."""
    given = make_parser().parse_args(arguments)
    from backends.sagemaker.admin.tagged_jobs import check_tag
    from benchmarking.archive.stored import experiments_of, load
    from definitions.errors import UserError
    from launch.left_running import left_running

    given.tag = given.tag if given.tag_flag is None else given.tag_flag
    if not given.tag and given.tag_flag is None:
        raise UserError("stop", "it needs the tag of a run", f"{command('stop', 'TAG')}")
    check_tag(given.tag)
    if given.trial is not None and given.trial < 0:
        raise UserError(f"--trial {given.trial}", "trials count from 0")
    folders = experiments_of(given.results_dir / given.tag)
    meant = [folder for folder in folders if f"/{folder}".endswith(f"/{given.experiment}") or not given.experiment]
    asked = [folder for folder in meant if _ask(folder, given.trial, alone=bool(given.experiment))]
    if asked:
        return _wait(asked, given)
    if given.trial is not None:
        raise UserError(f"stop {given.tag} --trial {given.trial}", "no run of this tag that has such a trial goes on on this machine")
    left = [folder for folder in meant if left_running(folder)]
    if left:
        return _end_left(left)
    launched = (given.results_dir / given.tag / "launch.json").is_file()
    is_asked_for = bool(given.region or given.bucket or launched)
    if folders and not is_asked_for and not any(jobs_outlive_it(load(folder).spec.backend) for folder in folders):
        print(f"nothing of {given.tag} runs on this machine")
        return 0
    return _stop_anywhere(given, folders)


def jobs_outlive_it(backend: str) -> bool:
    """Return whether jobs of a back-end may go on where nobody controls them any more, so that a service has to be asked."""
    from backends.registry import backend_class

    return backend_class(backend).expected_capabilities(os.environ).survives_controller


def _end_left(folders: Sequence[Path]) -> int:
    """End jobs that a controller has left running; return the exit code."""
    from definitions.errors import EXIT_CLOUD
    from launch.left_running import STOPPED, end_left

    found = end_left(folders, Path(os.environ.get("OUTRIDER_CACHE") or "~/.cache/outrider").expanduser())
    for folder, what in found:
        print(f"{folder}: {what}")
    return 0 if all(what == STOPPED for _, what in found) else EXIT_CLOUD


def _ask(folder: Path, trial: int | None, *, alone: bool) -> bool:
    from benchmarking.archive.stop_requests import ask, is_listening

    if trial is not None and not (is_listening(folder) and _runs(folder, trial)):
        return False
    return ask(folder, trial, alone=alone)


def _runs(folder: Path, trial: int) -> bool:
    from benchmarking.archive.stored import load

    stored = load(folder)
    if not stored.is_started:
        return False
    with stored.journal() as journal:
        return any(job.trial == trial for job in stored.state(journal).jobs.values())


def _wait(folders: Sequence[Path], given: Any) -> int:
    """Wait until what was asked to stop has stopped; return the exit code."""
    from benchmarking.archive.stop_requests import is_listening
    from definitions.errors import EXIT_CLOUD

    what = "" if given.trial is None else f"trial {given.trial} of "
    until = time.monotonic() + given.timeout
    left = list(folders)
    while left and not given.no_wait and time.monotonic() < until:
        left = [folder for folder in left if is_listening(folder) and (given.trial is None or _runs(folder, given.trial))]
        if left:
            time.sleep(_POLL_S)
    for folder in folders:
        state = "asked to stop" if given.no_wait else "did not stop in time" if folder in left else "stopped"
        print(f"{what}{folder}: {state}")
    return EXIT_CLOUD if left and not given.no_wait else 0


def _stop_anywhere(given: Any, folders: Sequence[Path]) -> int:
    """Stop the run in the region that is given, or where its experiments on this machine ran their jobs."""
    from backends.sagemaker.aws.errors import as_cloud_errors
    from benchmarking.report.text import table
    from definitions.errors import EXIT_CLOUD
    from launch.remote.stopping import RunStopper

    places = _places(given, folders)
    experiments = None if not given.experiment else _experiments(given, folders, places)
    with as_cloud_errors(f"the jobs of {given.tag} could not be listed, so none was stopped"):
        found = RunStopper(places.clients, given.tag, places.stores, _say).stop(
            wait=not given.no_wait, longest_s=given.timeout, experiments=experiments
        )
        region = places.clients.region
    jobs = found.jobs
    if jobs.jobs:
        print(table(["job", "before", "now", "what was done"], [[one.job, one.before, one.now, one.done] for one in jobs.jobs]))
    else:
        nowhere = "" if folders else f"; there is no run of it in {given.results_dir}"
        print(f"no job of {given.tag} runs in {region}{nowhere}")
    if found.unmarked:
        _say(f"no mark could be left, so that a controller that runs elsewhere may start further jobs: {found.unmarked}")
    if jobs.left:
        _say(f"{jobs.trouble or 'not everything could be stopped'}; what may still cost money:")
        for name in jobs.left:
            _say(f"  {name}")
    return 0 if found.is_over else EXIT_CLOUD


def _places(given: Any, folders: Sequence[Path]) -> RunPlaces:
    from launch.remote.run_places import check_region, places_of

    if not folders:
        check_region(f"stop {given.tag}", given.results_dir, given.region, os.environ)
    return places_of(given.tag, folders, bucket=given.bucket, prefix=given.prefix, region=given.region, environ=os.environ)


def _experiments(given: Any, folders: Sequence[Path], places: RunPlaces) -> list[tuple[str, str]]:
    """Return the experiments that are meant, each with the beginning of its jobs' names; raises `UserError` where there is no such one."""
    from definitions.errors import UserError
    from launch.remote.run_experiments import experiments_in, planned_in

    def meant(known: Mapping[str, str]) -> list[tuple[str, str]]:
        return [(name, prefix) for name, prefix in known.items() if f"/{name}".endswith(f"/{given.experiment}")]

    known = experiments_in(given.tag, folders, places.stores)
    found = meant(known)
    if not found:
        # Of what was collected so far it may be none, and one that has not begun has no jobs.
        known = {**dict.fromkeys(planned_in(places.stores), ""), **experiments_in(given.tag, (), places.stores), **known}
        found = meant(known)
    if not found:
        there = f"it has {', '.join(known)}" if known else "neither this machine nor S3 knows of one"
        raise UserError(f"stop {given.tag} --experiment {given.experiment}", there, "name one of them; give --bucket, if it is in another")
    return found


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("stop"),
        description="Stop a run on this machine, or anywhere: its controllers, their jobs, and what is kept warm.",
        epilog=_EPILOG,
    )
    parser.add_argument("tag", nargs="?", default="", metavar="TAG", help="the --experiment_tag of the run")
    parser.add_argument("--tag", dest="tag_flag", metavar="TAG", help="the same as a flag")
    parser.add_argument("--trial", type=int, metavar="N", help="end only this trial of a run on this machine")
    parser.add_argument("--experiment", default="", metavar="NAME", help="end this one of its experiments alone, e.g. toy/RS-sagemaker-0")
    parser.add_results_dir()
    parser.add_places()
    parser.add_argument("--no_wait", action="store_true", help="ask them to stop, and do not wait until they are gone")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="S", help="seconds to wait at most (default 900)")
    return parser


def _say(line: str) -> None:
    print(line, file=sys.stderr)
