"""`outrider compare TAG|DIR...`: which method is better, by how much, and whether the seeds can carry that."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from definitions.program import command
from launch.comparison_flags import add_comparison_flags, asked, question_for
from launch.named_results import named_runs
from launch.parser import VerbParser

_EPILOG = """\
The unit is the experiment: one seed of one method. Seeds are paired. Each verdict has one of four words: better (significant after Holm's
correction over all that is compared, and beyond --threshold), tie (the interval lies within it), not decided (with how many seeds would),
one run only; or both are the same by construction.
docs/studies.md explains the statistics."""


def main(arguments: Sequence[str]) -> int:
    """Compare all experiments of some tags or folders, and return the exit code; raises `UserError` where there is nothing to compare."""
    given = make_parser().parse_args(arguments)
    from benchmarking.comparison.document import COLUMNS, as_json, as_markdown, as_text, document
    from benchmarking.export.files import csv_text
    from definitions.errors import EXIT_FAILURES
    from launch.collecting import with_collected

    named = with_collected(given.what, given.results_dir, os.environ, lambda line: print(line, file=sys.stderr))
    question = question_for(named, given.results_dir, "compare", asked(given))
    found = document(named_runs(named, given.results_dir, "compare"), question)
    if given.format == "csv":
        print(csv_text(list(COLUMNS), [[row[name] for name in COLUMNS] for row in found.rows]))
    else:
        print({"table": as_text, "json": as_json, "md": as_markdown}[given.format](found))
    return EXIT_FAILURES if found.lacks_seeds else 0


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("compare"), description="Compare methods over seeds and benchmarks.", epilog=_EPILOG)
    parser.add_argument(
        "what", nargs="+", metavar="TAG|DIR|URI", help="tags of runs, folders that hold experiments, or s3://BUCKET/PREFIX/runs/TAG"
    )
    add_comparison_flags(parser)
    parser.add_argument("--format", default="table", choices=("table", "json", "csv", "md"))
    parser.add_results_dir()
    return parser
