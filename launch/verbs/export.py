"""`outrider export TAG [--to FORMAT...]`: brings a run into files and services anew from its journals, also one that was killed."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from benchmarking.archive.stored import StoredExperiment
    from benchmarking.export.exporter import Exporter
    from definitions.errors import UserError


_FORMATS = (
    "csv, json, parquet, syne_tune, bencher, s3torch, a tracker (mlflow, sagemaker), or a plug-in's "
    "(default csv and json, what a run leaves at its end)"
)


def main(arguments: Sequence[str]) -> int:
    """Export every experiment of a tag and return the exit code; raises `UserError` where there is none."""
    given = make_parser().parse_args(arguments)
    from benchmarking.export.exporter import ExportContext
    from benchmarking.export.registry import DEFAULT, make_exporter
    from definitions.errors import UserError
    from launch.collecting import with_collected
    from launch.planning import folders_of

    if given.tag.startswith("s3://"):
        (collected,) = with_collected([given.tag], given.results_dir, os.environ, lambda line: print(line, file=sys.stderr))
        given.tag = Path(collected).name
    common = given.results_dir / given.tag if given.output is None else given.output
    context = ExportContext(given.tag, common, os.environ, lambda line: print(line, file=sys.stderr))
    # Made before anything is read, so that a wrong name or a missing package is said at once.
    exporters = [make_exporter(name, context) for name in dict.fromkeys(given.to or DEFAULT)]
    folders = folders_of(given.tag, given.results_dir, "export")
    problems: list[UserError] = []
    left_out: list[tuple[Exporter, list[str]]] = [(exporter, []) for exporter in exporters]
    for folder in folders:
        target = folder if given.output is None else given.output / folder.relative_to(given.results_dir / given.tag)
        try:
            problems += _export(folder, target, left_out)
        except UserError as error:
            # What is wrong with one folder does not keep back the results of the others.
            problems.append(error)
            for _, reasons in left_out:
                reasons.append(str(error))
    for exporter, reasons in left_out:
        try:
            _tell(exporter.finish(reasons))
        except UserError as error:
            problems.append(error)
    if problems:
        for other in problems[1:]:
            print(f"error: {other}", file=sys.stderr)
        raise problems[0]
    return 0


def _export(folder: Path, target: Path, left_out: Sequence[tuple[Exporter, list[str]]]) -> list[UserError]:
    """Hand an experiment to all exporters, and return what some of them could not do; raises `UserError` where it cannot be read."""
    from benchmarking.archive.stored import load
    from benchmarking.results import exported
    from definitions.errors import UserError

    stored = load(folder)
    if not stored.is_started:
        print(f"{stored.spec.title}: not started")
        for _, reasons in left_out:
            reasons.append(f"{stored.spec.title}: not started")
        return []
    _read_late_logs(stored)
    problems = []
    with stored.journal() as journal:
        one = exported(stored.spec, folder, stored.state(journal), journal, stored.region)
        for exporter, reasons in left_out:
            try:
                if exporter.writes_files and target == folder and not os.access(folder, os.W_OK):
                    raise UserError(f"nothing can be written into {folder}", "", "--output DIR writes the files elsewhere")
                _tell(exporter.experiment(one, target))
            except UserError as error:
                problems.append(error)
                reasons.append(str(error))
    return problems


def _tell(lines: Sequence[str]) -> None:
    for line in lines:
        print(line)


def _read_late_logs(stored: StoredExperiment) -> None:
    """Read again the logs of jobs whose end was not seen, where these are to be had from here and nobody else writes the journal."""
    from backends.late_logs import late_log_reader
    from backends.registry import backend_class
    from benchmarking.archive.folder_lock import FolderInUseError, locked
    from benchmarking.archive.late_logs import read_late_logs
    from benchmarking.archive.stored import read_identity
    from benchmarking.controller.sqlite_journal import SqliteJournal
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
            lines = read_late_logs(spec, journal, stored.region, reader, stored.folder / "logs")
        print("\n".join(lines), file=sys.stderr)


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("export"), description="Bring a run into files and services anew from its journals.")
    parser.add_argument("tag", metavar="TAG|URI", help="tag of a run, or s3://BUCKET/PREFIX/runs/TAG, which is collected first")
    parser.add_argument("--to", "--as", dest="to", nargs="+", action="extend", metavar="FORMAT", help=_FORMATS)
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder for the files, in place of the experiments' own")
    parser.add_results_dir()
    return parser
