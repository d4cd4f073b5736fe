"""`outrider export TAG`: writes trials.csv and reports.csv anew from the journals, also of a run that was killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from benchmarking.archive.stored import StoredExperiment


def main(arguments: Sequence[str]) -> int:
    """Export every experiment of a tag and return the exit code; raises `UserError` where there is none."""
    given = make_parser().parse_args(arguments)
    from benchmarking.archive.stored import load
    from benchmarking.experiment import export
    from definitions.errors import UserError
    from launch.planning import folders_of

    problem: UserError | None = None
    for folder in folders_of(given.tag, given.results_dir, "export"):
        try:
            stored = load(folder)
            if not stored.is_started:
                print(f"{stored.spec.title}: not started")
                continue
            _read_late_logs(stored)
            with stored.journal() as journal:
                if given.output is None and not os.access(folder, os.W_OK):
                    raise UserError(f"nothing can be written into {folder}", "", "--output DIR writes the files elsewhere")
                target = folder if given.output is None else given.output / folder.relative_to(given.results_dir / given.tag)
                export(target, stored.spec.definition, stored.state(journal), journal, stored.region)
        except UserError as error:
            # What is wrong with one folder does not keep back the results of the others.
            problem = problem or error
            continue
        print(f"{target}/trials.csv\n{target}/reports.csv")
    if problem is not None:
        raise problem
    return 0


def _read_late_logs(stored: StoredExperiment) -> None:
    """Read again the logs of jobs whose end was not seen, where these are to be had from here and nobody else writes the journal."""
    import contextlib

    from backends.late_logs import late_log_reader
    from backends.registry import backend_class
    from benchmarking.archive.folder_lock import FolderInUseError, locked
    from benchmarking.archive.late_logs import read_late_logs
    from benchmarking.archive.stored import read_identity
    from benchmarking.controller.journal import SqliteJournal
    from definitions.backend_registry import backend_names

    spec = stored.spec
    with stored.journal() as journal:
        is_whole = not stored.state(journal).incomplete
    if is_whole or spec.backend not in backend_names() or not os.access(stored.folder, os.W_OK):
        return
    reader = late_log_reader(spec.backend)
    here = backend_class(spec.backend).expected_capabilities(os.environ).real_money
    if reader is None or here != read_identity(stored.folder).get("real_money"):
        return
    with contextlib.suppress(FolderInUseError), locked(stored.folder):
        with contextlib.closing(SqliteJournal(stored.folder / "journal.sqlite")) as journal:
            lines = read_late_logs(spec, journal, stored.region, reader)
        print("\n".join(lines), file=sys.stderr)


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("export"), description="Write the CSV files of a run anew from its journal.")
    parser.add_argument("tag", metavar="TAG")
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder for the files, in place of the experiments' own")
    parser.add_results_dir()
    return parser
