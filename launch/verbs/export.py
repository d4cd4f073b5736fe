"""`outrider export TAG`: writes trials.csv and reports.csv anew from the journals, also of a run that was killed."""

from __future__ import annotations

from collections.abc import Sequence

from launch.parser import VerbParser


def main(arguments: Sequence[str]) -> int:
    """Export every experiment of a tag and return the exit code; raises `UserError` where there is none."""
    parser = VerbParser(prog="outrider export", description="Write the CSV files of a run anew from its journal.")
    parser.add_argument("tag", metavar="TAG")
    parser.add_results_dir()
    given = parser.parse_args(arguments)
    from benchmarking.archive.stored import read_state
    from benchmarking.controller.journal import SqliteJournal
    from benchmarking.experiment import export
    from launch.planning import plan
    from launch.request import RunRequest

    for spec in plan(RunRequest(resume=given.tag, results_dir=given.results_dir)):
        path = spec.folder / "journal.sqlite"
        if not path.is_file():
            print(f"{spec.title}: not started")
            continue
        journal = SqliteJournal(path, read_only=True)
        export(spec, read_state(spec, journal), journal)
        print(f"{spec.folder}/trials.csv\n{spec.folder}/reports.csv")
    return 0
