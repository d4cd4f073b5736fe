"""`outrider collect TAG`: brings what a launched run has measured from S3 into the folder of results, while it runs or after."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from definitions.program import command
from launch.parser import VerbParser

_EPILOG = """\
What was fetched before is not fetched again, and a download that was cut goes on where it was. The folder is as a run of this machine
leaves it: compare, report and export know no difference. Nothing is written into a folder that holds another run."""


def main(arguments: Sequence[str]) -> int:
    """Collect a run, and return the exit code; raises `UserError` where there is none, or the folder holds another."""
    given = make_parser().parse_args(arguments)
    from benchmarking.remote.layout import shared_root, tag_of
    from definitions.errors import EXIT_DONE, EXIT_FAULT
    from launch.collecting import collect, note_bill, outcome_of_collecting
    from launch.launching.place import place_named
    from launch.remote.run_bill import bill_text
    from launch.remote.run_places import check_region
    from launch.remote.stores import clients_of, store_at

    if given.run.startswith("s3://"):
        uri = given.run
    else:
        if not (given.results_dir / given.run).exists():
            check_region(f"collect {given.run}", given.results_dir, given.region, os.environ)
        uri = place_named(given.run, os.environ, region=given.region, bucket=given.bucket, prefix=given.prefix).uri
    store, shared = store_at(uri, os.environ, given.region), store_at(shared_root(uri), os.environ, given.region)
    tag_folder = given.results_dir / tag_of(uri)
    found = collect(store, shared, tag_folder, lambda line: print(line, file=sys.stderr))
    print(outcome_of_collecting(found, tag_folder))
    bill = note_bill(store, tag_folder, clients_of(os.environ, given.region))
    if bill is not None:
        print(bill_text(bill))
    return EXIT_FAULT if found.problems else EXIT_DONE


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("collect"), description="Bring a launched run from S3 into the folder of results.", epilog=_EPILOG)
    parser.add_argument("run", metavar="TAG|URI", help="tag of the run, or s3://BUCKET/PREFIX/runs/TAG")
    parser.add_argument("--bucket", default=None, metavar="B", help="bucket of the run (default sagemaker-<region>-<account>)")
    parser.add_argument("--prefix", default="outrider", metavar="P", help="where in it Outrider keeps everything (default outrider)")
    parser.add_region("of the bucket (default: the AWS configuration's)")
    parser.add_results_dir()
    return parser
