"""`outrider stop --tag T`: stops the training jobs of a tag from anywhere, also when the machine that started them is gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from definitions.program import command
from launch.parser import VerbParser

_EPILOG = """\
Jobs are found by name and stopped only if they carry the tag `outrider:tag` with exactly this value. Their warm pools are released.
If the run itself still goes on somewhere, end it there first (Ctrl-C), else it starts further jobs.
Exit codes: 0 all are gone (with --no_wait: asked to go), 2 wrong use, 5 something could not be stopped, which is then named."""


def main(arguments: Sequence[str]) -> int:
    """Stop the jobs and return the exit code; raises `CloudError` where AWS refuses to list them."""
    given = _parser().parse_args(arguments)
    from backends.sagemaker.admin.stop_jobs import JobStopper
    from backends.sagemaker.admin.tagged_jobs import check_tag
    from backends.sagemaker.aws.clients import Clients
    from backends.sagemaker.aws.errors import as_cloud_errors
    from benchmarking.report.text import table
    from definitions.errors import EXIT_CLOUD

    check_tag(given.tag)
    clients = Clients(given.region, os.environ)
    with as_cloud_errors(f"the jobs of {given.tag} could not be listed, so none was stopped"):
        region = clients.region
        jobs = JobStopper(clients, given.tag, page_gap_s=0.0 if clients.emulated else 1.0)
        result = jobs.stop(not given.no_wait, given.timeout, 0.2 if clients.emulated else 5.0, _say)
    if not result.jobs:
        print(f"no job of {given.tag} runs in {region}")
        return 0
    print(table(["job", "before", "now", "what was done"], [[one.job, one.before, one.now, one.done] for one in result.jobs]))
    if result.left:
        _say(f"{result.trouble or 'not everything could be stopped'}; what may still cost money:")
        for name in result.left:
            _say(f"  {name}")
        return EXIT_CLOUD
    return 0


def _parser() -> VerbParser:
    parser = VerbParser(
        prog=command("stop"),
        description="Stop all training jobs of a tag and release their warm pools.",
        epilog=_EPILOG,
    )
    parser.add_argument("--tag", required=True, metavar="TAG", help="the --experiment_tag of the run")
    parser.add_region("where the jobs run (default: the AWS configuration's)")
    parser.add_argument("--no_wait", action="store_true", help="ask them to stop, and do not wait until they are gone")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="S", help="seconds to wait at most (default 900)")
    return parser


def _say(line: str) -> None:
    print(line, file=sys.stderr)
