"""`outrider clean --tag T`: shows and deletes what the training jobs of a tag left in S3, or what trackers were told of it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.errors import EXIT_CLOUD, UserError
from definitions.program import command
from definitions.quantities import size_text
from definitions.results_folder import results_words
from launch.parser import VerbParser

if TYPE_CHECKING:
    from backends.sagemaker.admin.s3_leftovers import LeftoverFolder, Leftovers
    from backends.sagemaker.aws.clients import Clients

_EPILOG = """\
Deleted are the folders checkpoints/<tag>/, output/<tag>/, jobs/<tag>/ and runs/<tag>/ below the prefix, the last of which has the journals,
claims and marks of a launched run: a run of this tag cannot be resumed afterwards. What was not collected here is named, and asked about.
Code packages and data sets are kept: they are shared by content with other runs. Nothing is deleted while jobs of the tag run.
With --tracking, what a tracker was told of the tag is shown and deleted there, in place of what is in S3; `outrider export` tells it anew.
Exit codes: 0 done, 2 wrong use or not agreed, 5 something could not be deleted, which is then named."""


def main(arguments: Sequence[str]) -> int:
    """Delete the leftovers and return the exit code; raises `UserError` where that was not agreed to, `CloudError` where AWS refuses."""
    given = make_parser().parse_args(arguments)
    if given.tracking is not None:
        from launch.tracking_cleanup import delete_tracked

        environ = os.environ if given.region is None else {**os.environ, "AWS_REGION": given.region}
        return delete_tracked(given.tag, given.tracking, given.results_dir, environ, lambda: _agree(given.yes))
    from backends.sagemaker.admin.s3_leftovers import Leftovers
    from backends.sagemaker.admin.tagged_jobs import check_tag
    from backends.sagemaker.aws.clients import Clients
    from backends.sagemaker.aws.errors import as_cloud_errors, masked
    from backends.sagemaker.jobs.resolve_options import default_bucket
    from launch.remote.run_places import check_region

    check_tag(given.tag)
    _check_none_left(given.tag, given.results_dir)
    if given.region is None and given.bucket is None and (lines := _only_here(given.tag, given.results_dir)):
        print("\n".join(lines))
        return 0
    clients = Clients(given.region, os.environ)
    if not (given.results_dir / given.tag).exists():
        check_region(f"clean {given.tag}", given.results_dir, given.region, os.environ)
    with as_cloud_errors(f"what {given.tag} left in S3 could not be looked at, so nothing was deleted"):
        bucket = given.bucket or default_bucket(clients, create=False)
        _check_none_runs(given.tag, clients)
        leftovers = Leftovers(clients, bucket, given.prefix, given.tag)
        where = masked(f"s3://{bucket}/")
        places = _measured(leftovers, given.bucket is None)
        missing = _uncollected(given, clients, bucket) if any(place.objects for place in places) else ""
    _clear_parts(given.tag, clients)
    if not any(place.objects for place in places):
        print(f"{given.tag} has left nothing in {where}{given.prefix}")
        return 0
    _show(where, places)
    if missing and given.yes and not given.uncollected:
        asked = f"{given.tag}: this deletes measurements that are nowhere else: {missing}"
        raise UserError(
            asked, f"they are not in {given.results_dir}", f"`{command('collect', given.tag)}` first; or give --uncollected too"
        )
    _agree(given.yes)
    if missing and not given.uncollected:
        print(f"not collected, and gone for good then: {missing}", flush=True)
        _agree(yes=False)
    problems = leftovers.delete()
    left = leftovers.measure()
    kept = sum(place.objects for place in left)
    deleted = sum(place.objects for place in places) - kept
    print(f"{deleted} objects deleted; code packages and data sets are kept, as other runs may share them")
    if not kept:
        return 0
    for line in problems:
        print(line, file=sys.stderr)
    for place in left:
        if place.objects:
            print(f"not deleted: {place.objects} objects in {where}{place.key_prefix}", file=sys.stderr)
    return EXIT_CLOUD


def _check_none_runs(tag: str, clients: Clients) -> None:
    """Raise `UserError` where a tag's jobs still run."""
    from backends.sagemaker.admin.stop_endpoints import EndpointStopper
    from backends.sagemaker.admin.stop_jobs import JobStopper

    jobs = JobStopper(clients, tag, page_gap_s=0.0 if clients.emulated else 1.0).running()
    endpoints = EndpointStopper(clients, tag).running()
    for kind, running in (("job", jobs), ("endpoint", endpoints)):
        if not running:
            continue
        raise UserError(
            f"{tag} still has {len(running)} {kind}{'s' * (len(running) > 1)} in {clients.region}, e.g. {running[0]}",
            "they still write",
            command("stop", "--tag", tag),
        )


def _check_none_left(tag: str, results_dir: Path) -> None:
    """Raise `UserError` where a controller of a tag has left jobs running."""
    from benchmarking.archive.stored import experiments_of
    from launch.left_running import left_running

    for folder in experiments_of(results_dir / tag):
        if jobs := left_running(folder):
            stop = command("stop", tag, *results_words(results_dir))
            raise UserError(f"{tag} still has jobs that go on without a controller: {jobs}", "they still write", stop)


def _clear_parts(tag: str, clients: Clients) -> None:
    """Delete the endpoint configurations and models that a tag left, which cost nothing, and name what could not be."""
    from backends.sagemaker.admin.stop_endpoints import EndpointStopper
    from backends.sagemaker.aws.errors import as_cloud_errors

    with as_cloud_errors(f"the models of endpoints of {tag} could not be looked at"):
        stopper = EndpointStopper(clients, tag)
        left = stopper.parts()
        if not left:
            return
        for row in stopper.stop(wait=False).jobs:
            print(f"{row.job}: {row.done}", file=sys.stderr)
    print(f"{len(left)} endpoint configurations and models deleted")


def _only_here(tag: str, results_dir: Path) -> list[str]:
    """Return what is to be said of a tag whose jobs all ran on this machine, so that nothing of it is in S3; nothing for others."""
    from benchmarking.archive.stored import experiments_of, load
    from launch.verbs.stop import jobs_outlive_it

    folder = results_dir / tag
    experiments = experiments_of(folder)
    if not experiments or any(jobs_outlive_it(load(one).spec.backend) for one in experiments):
        return []
    size = sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
    where = f"all that it left is {folder} ({size_text(size)}), and goes with that folder"
    return [f"{tag} ran on this machine, and left nothing in S3", where]


def _uncollected(given: argparse.Namespace, clients: Clients, bucket: str) -> str:
    """Return what of a launched run is in S3 alone, in words; empty where nothing is."""
    from backends.sagemaker.aws.object_store import S3ObjectStore
    from benchmarking.remote.layout import run_uri
    from launch.remote.uncollected import uncollected, words

    return words(uncollected(S3ObjectStore(run_uri(bucket, given.prefix, given.tag), clients), given.results_dir / given.tag))


def _measured(leftovers: Leftovers, bucket_may_lack: bool) -> list[LeftoverFolder]:
    """Return what there is; the default bucket is made by the first run, so that there may be none."""
    from backends.sagemaker.aws.errors import FailureKind, failure_of

    try:
        return leftovers.measure()
    except UserError as error:
        failure = failure_of(error.__cause__)
        if failure is None or failure.kind is not FailureKind.MISSING or not bucket_may_lack:
            raise
        return []


def _show(where: str, places: Sequence[LeftoverFolder]) -> None:
    from benchmarking.report.text import table

    rows = [[where + place.key_prefix, place.objects, size_text(place.size_bytes)] for place in places]
    total = ["together", sum(place.objects for place in places), size_text(sum(place.size_bytes for place in places))]
    print(table(["what", "objects", "size"], [*rows, total]), flush=True)


def _agree(yes: bool) -> None:
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UserError("this deletes what is listed above", "there is no terminal to ask on", "give --yes to agree beforehand")
    if input("Delete? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not agreed, so nothing was deleted")


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("clean"),
        description="Delete what the training jobs of a tag left in S3, or what trackers were told of it.",
        epilog=_EPILOG,
    )
    parser.add_argument("--tag", required=True, metavar="TAG", help="the --experiment_tag of the run")
    parser.add_argument("--bucket", default=None, metavar="B", help="bucket of the run (default sagemaker-<region>-<account>)")
    parser.add_argument("--prefix", default="outrider", metavar="P", help="where in it Outrider keeps everything (default outrider)")
    parser.add_region("where the jobs ran (default: the AWS configuration's)")
    parser.add_argument(
        "--tracking",
        nargs="*",
        default=None,
        metavar="KIND",
        help="delete at these trackers instead, as `run --track` names them (default mlflow, at MLFLOW_TRACKING_URI)",
    )
    parser.add_results_dir("where runs of the tag are looked for that still go on (default results, or $OUTRIDER_RESULTS)")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--uncollected", action="store_true", help="also delete what was not collected, without asking about it")
    return parser
