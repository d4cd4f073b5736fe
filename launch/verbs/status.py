"""`outrider status [TAG...]`: how experiments stand, from another terminal, also of those that other processes run."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.errors import UserError
from definitions.program import command
from launch.parser import VerbParser, port_number

if TYPE_CHECKING:
    from benchmarking.status import ExperimentStatus

_EPILOG = """\
running: a process of this machine runs it. waiting: for its turn, for cores, for the service. killed: it has not ended, and nobody here
runs it. interrupted: somebody ended it. `outrider run --resume TAG` goes on with both. Nothing is written, and nothing is locked.
A launched run is looked for in S3, from any machine, by its tag alone: how its controllers and experiments stand by their last words."""


def main(arguments: Sequence[str]) -> int:
    """Show how the experiments of some tags stand, or of all, and return the exit code; raises `UserError` where there are none."""
    given = make_parser().parse_args(arguments)
    if given.serve and (given.watch or given.format != "table"):
        raise UserError("--serve", "it is a page, which renews itself", "leave --watch and --format out")
    if given.port is not None and not given.serve:
        raise UserError(f"--port {given.port}", "it is that of the page", "add --serve")
    where = None if given.serve else _elsewhere(given)
    if where is not None:
        from benchmarking.archive.stored import experiments_of
        from benchmarking.remote.standing import NoRunError

        try:
            return _show_launched(given, where)
        except NoRunError:
            # It was collected, and then cleaned: what there is of it is here.
            if _is_named(given) or not experiments_of(given.results_dir / where):
                raise
    from benchmarking.status import StatusReader

    reader = StatusReader()

    def look() -> list[ExperimentStatus]:
        return reader.look(_tag_folders(given.tag, given.results_dir))

    if given.serve:
        _serve(lambda: (_tag_folders(given.tag, given.results_dir), look()), given.port or 0)
        return 0
    if not given.watch:
        print(_text(look(), given.format))
        return 0
    with contextlib.suppress(KeyboardInterrupt):  # it is how one ends this
        _watch(look, given.format, given.every)
    return 0


def _is_named(given: argparse.Namespace) -> bool:
    """Return whether a flag says where in the cloud a run is."""
    return bool(given.bucket or given.region or given.prefix is not None)


def _elsewhere(given: argparse.Namespace) -> str | None:
    """Return the tag of the one run that is looked for in S3: one that was launched, or of which this machine knows nothing."""
    from launch.remote.run_places import may_be_elsewhere

    named = _is_named(given)
    if len(given.tag) != 1:
        if named:
            raise UserError("status with --bucket, --prefix or --region", "it is of one launched run", "name its tag")
        return None
    tag: str = given.tag[0]
    folder = given.results_dir / tag
    is_launched = named or (folder / "launch.json").is_file()
    # Without a region there is nobody to ask: that the folder is not there is then what is said.
    return tag if is_launched or (not folder.exists() and may_be_elsewhere(os.environ)) else None


def _show_launched(given: argparse.Namespace, tag: str) -> int:
    from backends.sagemaker.admin.tagged_jobs import check_tag
    from backends.sagemaker.aws.errors import as_cloud_errors
    from benchmarking.archive.stored import experiments_of
    from definitions import strict_json
    from launch.remote.run_places import places_of
    from launch.remote.run_status import document, look, text

    check_tag(tag)
    folders = experiments_of(given.results_dir / tag)
    places = places_of(tag, folders, bucket=given.bucket, prefix=given.prefix, region=given.region, environ=os.environ)

    def looked() -> str:
        with as_cloud_errors(f"status {tag}"):
            run, bill = look(places)
        return strict_json.dumps(document(tag, run, bill)) if given.format == "json" else text(tag, run, bill, places.flags)

    print(looked(), flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        while given.watch:
            time.sleep(given.every)
            print(("\n" if given.format == "table" else "") + looked(), flush=True)
    return 0


def _serve(look: Callable[[], tuple[Sequence[Path], Sequence[ExperimentStatus]]], port: int) -> None:
    """Serve the report of what is looked at until INT or TERM."""
    import threading

    from launch.live_report import LiveReport
    from launch.report_server import ReportServer
    from launch.signals import caught

    look()  # a tag that there is not is said before anything is served
    stopped = threading.Event()
    with caught(lambda *_: stopped.set()), contextlib.closing(ReportServer(port, LiveReport(look))) as server:
        print(server.address, flush=True)
        print("the report renews itself while it is looked at; Ctrl-C stops it", file=sys.stderr, flush=True)
        stopped.wait()


def _tag_folders(tags: Sequence[str], results_dir: Path) -> list[Path]:
    """Return the folders of tags, of all in a folder of results where none is named, those that changed last first."""
    from launch.planning import folders_of

    if tags:
        for tag in tags:
            if not (results_dir / tag / "study.json").is_file():
                folders_of(tag, results_dir, "status")
        return [results_dir / tag for tag in dict.fromkeys(tags)]
    found = [path for path in results_dir.glob("*") if path.is_dir() and not path.name.startswith(".")]
    if not found:
        raise UserError(f"status: there is nothing in {results_dir}", "", "give --results_dir, if results are elsewhere")
    return sorted(found, key=lambda path: (-path.stat().st_mtime, path.name))


def _watch(look: Callable[[], Sequence[ExperimentStatus]], form: str, every_s: float) -> None:
    """Show it again and again, in place on a terminal, else one after the other, until Ctrl-C."""
    import os

    from launch.panels import panel_here

    panel = panel_here(sys.stdout, os.environ) if form == "table" else None
    if panel is None:
        while True:
            print(_text(look(), form), flush=True)
            time.sleep(every_s)
    text = _text(_active_first(look()), form)
    panel.start(lambda: text)
    try:
        while True:
            time.sleep(every_s)
            text = _text(_active_first(look()), form)
            panel.changed()
    finally:
        panel.stop()
        print(text)


def _active_first(found: Sequence[ExperimentStatus]) -> list[ExperimentStatus]:
    """Return the same with those that run at the top, as a terminal may be shorter than the table."""
    return sorted(found, key=lambda one: one.standing not in ("running", "waiting"))


def _text(found: Sequence[ExperimentStatus], form: str) -> str:
    if form == "json":
        from definitions import strict_json

        return strict_json.dumps({"schema_version": 1, "experiments": [{**asdict(one), "standing": str(one.standing)} for one in found]})
    from collections import Counter

    from benchmarking.report.text import table

    counts = Counter(str(one.standing) for one in found)
    head = f"{len(found)} experiments: " + ", ".join(f"{count} {standing}" for standing, count in counts.items())
    columns = ["tag", "benchmark", "method", "seed", "state", "trials", "objective", "best", "time", "spent"]
    forecasts, notes = any(one.forecast for one in found), any(one.note for one in found)
    columns += [*(["forecast"] if forecasts else []), *(["note"] if notes else [])]
    shown = f"{head}\n\n{table(columns, [_row(one, forecasts=forecasts, notes=notes) for one in found])}"
    ends = [
        f"{one.tag}/{one.benchmark} {one.method} {one.seed}, trial {trial}: {text}" for one in found for trial, text in one.running.items()
    ]
    # A note may hold commands, of which half is of no use.
    cut = [one for one in found if "`" in one.note and _short(one.note) != one.note]
    ends += [f"{one.tag}/{one.benchmark} {one.method} {one.seed}: {one.note}" for one in cut]
    return "\n\n".join([shown, "\n".join(ends)]) if ends else shown


def _row(one: ExperimentStatus, *, forecasts: bool, notes: bool) -> list[object]:
    from benchmarking.report.text import dollars, duration

    trials = ", ".join(f"{count} {status}" for status, count in one.trials.items())
    of = f" of {one.budget_trials}" if one.budget_trials is not None and trials else ""
    began = bool(one.trials)
    spent = dollars(one.spent_usd) + (f" {one.dollars}" if one.dollars not in ("", "real") else "") if began else ""
    row = [one.tag, one.benchmark, one.method, one.seed, str(one.standing), trials + of, one.objective, one.best]
    row += [duration(one.elapsed_s) if began else "", spent]
    return [*row, *([_short(one.forecast)] if forecasts else []), *([_short(one.note)] if notes else [])]


def _short(text: str, most: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("status"), description="Show how experiments stand, also of other processes.", epilog=_EPILOG)
    parser.add_argument("tag", nargs="*", metavar="TAG", help="tags of runs (default: all in the folder of results)")
    parser.add_argument("--watch", action="store_true", help="show it again and again, until Ctrl-C")
    parser.add_argument("--every", type=_seconds, default=2.0, metavar="S", help="with --watch: seconds between two looks (default 2)")
    parser.add_argument("--serve", action="store_true", help="the report as a page on 127.0.0.1 that renews itself, until Ctrl-C")
    parser.add_argument("--port", type=port_number, metavar="N", help="with --serve: where the page is (default: a free port)")
    parser.add_argument("--format", default="table", choices=("table", "json"), help="json: a document, with --watch one a line")
    parser.add_results_dir()
    parser.add_places("of a launched run, which is looked for in S3 (default: the AWS configuration's)")
    return parser


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0.1 <= (value := float(text)) < 1e6:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no time between two looks; give seconds from 0.1 up, below a million")
