"""`outrider report TAG|DIR...`: verdicts, tables and figures of experiments as one file, which asks nothing of any network."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from definitions.errors import EXIT_DONE, EXIT_FAILURES, UserError
from definitions.program import command
from launch.comparison_flags import add_comparison_flags, asked
from launch.parser import VerbParser
from launch.report_files import REPORT, write_report

_EPILOG = """\
The page opens in any browser, also without a network, and can be sent as it is. Without the extra `report` (plotly) it has tables only.
Pictures are drawn by a Chromium or Chrome of this machine, or by the one that BROWSER_PATH names."""


def main(arguments: Sequence[str]) -> int:
    """Write the report, and return the exit code; raises `UserError` without anything to report on, or to draw pictures with."""
    given = make_parser().parse_args(arguments)
    from benchmarking.page.render import WITHOUT_PLOTLY
    from launch.collecting import with_collected

    named = with_collected(given.what, given.results_dir, os.environ, lambda line: print(line, file=sys.stderr))
    place = given.output or _place(named, given.results_dir)
    if given.output is None and not os.access(place.parent, os.W_OK):
        raise UserError(f"nothing can be written into {place.parent}", "", "--output FILE writes the report elsewhere")
    written = write_report(named, given.results_dir, place, asked(given))
    if not written.drawn:
        print(f"warning: {WITHOUT_PLOTLY}", file=sys.stderr)
    print(written.path, flush=True)
    if given.pictures is not None:
        from benchmarking.page.pictures import write_pictures

        count = len(write_pictures(written.made.page.sections, given.pictures))
        print(f"{given.pictures}: {count} pictures")
    return EXIT_FAILURES if written.made.lacks_seeds else EXIT_DONE


def _place(named: Sequence[str], results_dir: Path) -> Path:
    """Return where the report goes unless it is said: into the folder of the one tag or of the one folder that is named, else here."""
    folders = [folder for folder in (results_dir / named[0], Path(named[0])) if folder.is_dir()]
    return (folders[0] if len(named) == 1 and folders else Path()) / REPORT


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("report"), description="Write a report of experiments as one HTML file.", epilog=_EPILOG)
    parser.add_argument(
        "what", nargs="+", metavar="TAG|DIR|URI", help="tags of runs, folders that hold experiments, or s3://BUCKET/PREFIX/runs/TAG"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the file to write (default report.html in the folder of the one tag, else here)"
    )
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write each figure there as a picture too, PNG and SVG")
    add_comparison_flags(parser)
    parser.add_results_dir()
    return parser
