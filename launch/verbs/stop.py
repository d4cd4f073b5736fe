"""`outrider stop TAG [--trial N]`: stops a run on this machine as Ctrl-C does, or the training jobs of a tag from anywhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from definitions.program import command
from launch.parser import VerbParser

_POLL_S = 0.1

_EPILOG = """\
Where the run goes on on this machine it is told to wind down, as Ctrl-C does, and can be resumed; with --trial that trial alone is ended.
Else jobs are found by name and stopped only if they carry the tag `outrider:tag` with exactly this value. Their warm pools are released.
If the run itself still goes on on another machine, end it there first (Ctrl-C), else it starts further jobs.
Exit codes: 0 all are gone (with --no_wait: asked to go), 2 wrong use, 5 something could not be stopped, which is then named."""


def main(arguments: Sequence[str]) -> int:
    """Stop the run or its jobs and return the exit code; raises `CloudError` where AWS refuses to list them."""
    given = make_parser().parse_args(arguments)
    from backends.sagemaker.admin.tagged_jobs import check_tag
    from benchmarking.archive.stored import experiments_of, load
    from definitions.errors import UserError

    given.tag = given.tag if given.tag_flag is None else given.tag_flag
    if not given.tag and given.tag_flag is None:
        raise UserError("stop", "it needs the tag of a run", f"{command('stop', 'TAG')}")
    check_tag(given.tag)
    folders = experiments_of(given.results_dir / given.tag)
    asked = [folder for folder in folders if _ask(folder, given.trial)]
    if asked:
        return _wait(asked, given)
    if given.trial is not None:
        raise UserError(f"stop {given.tag} --trial {given.trial}", "no run of this tag that has such a trial goes on on this machine")
    if folders and not given.region and not any(jobs_outlive_it(load(folder).spec.backend) for folder in folders):
        print(f"nothing of {given.tag} runs on this machine")
        return 0
    return _stop_jobs(given, [load(folder).region for folder in folders])


def jobs_outlive_it(backend: str) -> bool:
    """Return whether jobs of a back-end may go on where nobody controls them any more, so that a service has to be asked."""
    from backends.registry import backend_class

    return backend_class(backend).expected_capabilities(os.environ).survives_controller


def _ask(folder: Path, trial: int | None) -> bool:
    from benchmarking.archive.stop_requests import ask, is_listening

    if trial is not None and not (is_listening(folder) and _runs(folder, trial)):
        return False
    return ask(folder, trial)


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


def _stop_jobs(given: Any, regions: Sequence[str]) -> int:
    """Stop the training jobs of a tag, in the region that is given, or where its experiments on this machine ran their jobs."""
    from backends.sagemaker.admin.stop_jobs import JobStopper
    from backends.sagemaker.aws.clients import Clients
    from backends.sagemaker.aws.errors import as_cloud_errors
    from benchmarking.report.text import table
    from definitions.errors import EXIT_CLOUD, UserError

    clients = Clients(given.region or next(iter(regions), None), os.environ)
    nowhere = "" if regions else f"there is no run of it in {given.results_dir}"
    try:
        clients.region  # noqa: B018 (asked for the error alone)
    except UserError as error:
        raise UserError(
            f"stop {given.tag}: {nowhere}",
            "nor is a region known in which its training jobs could be looked for",
            "give --results_dir, if its results are elsewhere; or --region, if its jobs run on SageMaker",
        ) from error
    with as_cloud_errors(f"the jobs of {given.tag} could not be listed, so none was stopped"):
        region = clients.region
        jobs = JobStopper(clients, given.tag, page_gap_s=0.0 if clients.emulated else 1.0)
        result = jobs.stop(not given.no_wait, given.timeout, 0.2 if clients.emulated else 5.0, _say)
    if not result.jobs:
        print(f"no job of {given.tag} runs in {region}" + (f"; {nowhere}" if nowhere else ""))
        return 0
    print(table(["job", "before", "now", "what was done"], [[one.job, one.before, one.now, one.done] for one in result.jobs]))
    if result.left:
        _say(f"{result.trouble or 'not everything could be stopped'}; what may still cost money:")
        for name in result.left:
            _say(f"  {name}")
        return EXIT_CLOUD
    return 0


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("stop"),
        description="Stop a run on this machine, or all training jobs of a tag and their warm pools.",
        epilog=_EPILOG,
    )
    parser.add_argument("tag", nargs="?", default="", metavar="TAG", help="the --experiment_tag of the run")
    parser.add_argument("--tag", dest="tag_flag", metavar="TAG", help="the same as a flag")
    parser.add_argument("--trial", type=int, metavar="N", help="end only this trial of a run on this machine")
    parser.add_results_dir()
    parser.add_region("where the jobs run (default: the AWS configuration's)")
    parser.add_argument("--no_wait", action="store_true", help="ask them to stop, and do not wait until they are gone")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="S", help="seconds to wait at most (default 900)")
    return parser


def _say(line: str) -> None:
    print(line, file=sys.stderr)
