"""`outrider forecast TABLE.csv`: what the full job will take, from canaries that anybody may have measured."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.program import command
from launch.parser import VerbParser, default_region

if TYPE_CHECKING:
    from benchmarking.forecasting.data.canary import CanaryTable
    from benchmarking.forecasting.explain import Explanation
    from benchmarking.forecasting.model.draws import Question
    from benchmarking.forecasting.model.result import Forecast

_MOST_EXPLAINED = 20
"""Configurations that are explained in words."""

_EPILOG = """\
Columns of a table: configuration, fraction, repeat, and any of rows, bytes, startup_s, list_s, download_s, load_s, train_s, checkpoint_s,
total_s, steps, step_s, cpu_s, rss_bytes, gpu_bytes, cpu_util, gpu_util, status, instance_type, instance_count, family; startup_cpu_s,
load_cpu_s, train_cpu_s, ... narrow the forecast of cpu_s. Runs whose status is not completed do not enter a fit; out_of_memory does,
as what it is. The forecast goes to stdout, remarks to stderr."""


def main(arguments: Sequence[str]) -> int:
    """Forecast and return the exit code; raises `UserError` where a table cannot be used."""
    given = make_parser().parse_args(arguments)
    if given.scores:
        return _scores(given)
    if given.metric is not None:
        return _metric(given)
    from benchmarking.forecasting.forecast import forecast

    given.region = given.region or _region_of(given) or default_region()
    table, question = _table(given), _question(given)
    found = forecast(table, question)
    _show(found, given.format, _explained(table, question) if given.explain and given.format != "table" else None)
    for note in table.notes.get("", ()):
        print(note, file=sys.stderr)
    if given.explain:
        if not question.calibration.scores:
            print(f"not calibrated: no job has been run in full after its canaries in {given.results_dir}", file=sys.stderr)
        if given.format == "table":
            _explain(table, question)
    return 0


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("forecast"),
        description="Forecast the full job from canaries: a CSV table, a tag or a folder of results, or training jobs by name.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "source",
        nargs="+",
        metavar="TABLE.csv|TAG|FOLDER|JOB",
        help="a CSV table, a tag, a folder of results or a file in one, or names of training jobs",
    )
    parser.add_argument(
        "--at", type=float, default=1.0, metavar="F", help="fraction of the data that is forecast (default 1.0, the full job)"
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table", help="form of the forecast (default table)")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what drives the width, and what one more canary, or a longer beginning, would cost and buy",
    )
    parser.add_argument(
        "--scores", action="store_true", help="how good the forecasts were that running jobs were given, by how far they were (of tags)"
    )
    parser.add_argument(
        "--metric",
        nargs="?",
        const="",
        metavar="NAME",
        help="what an objective will be at full data or after all epochs (of tags; default: the first one that the script reports)",
    )
    parser.add_argument(
        "--instances", type=int, default=None, metavar="M", help="forecast on M instances, where more than one number was measured"
    )
    parser.add_region(f"region of the prices, and of training jobs (default: that of the runs, else {default_region()})")
    parser.add_argument("--price", action="append", default=[], metavar="TYPE=USD", help="dollars per instance-hour, over the price table")
    parser.add_argument("--spot", action="store_true", help="spot prices: those given by --price, as no others are known beforehand")
    parser.add_argument("--billed_startup", type=float, default=0.0, metavar="S", help="seconds billed before the script runs")
    parser.add_argument("--fraction_from", default="hyperparameter:fraction", metavar="manifest|hyperparameter:NAME|channel-bytes",
                        help="how a training job's share of the data is found: entries of its manifest over the objects that there are, a "
                        "hyperparameter, or the bytes of its channels (default hyperparameter:fraction)")  # fmt: skip
    parser.add_argument("--data", default="", metavar="s3://...", help="all of the data, of which a job had a share (default: what its "
                        "manifest is a sample of)")  # fmt: skip
    parser.add_results_dir("finished jobs in it calibrate the intervals (default results, or $OUTRIDER_RESULTS)")
    return parser


def _scores(given: argparse.Namespace) -> int:
    """Show what the forecasts of running jobs were worth."""
    from dataclasses import asdict

    from benchmarking.archive.stored import experiments_of, load, state_setup
    from benchmarking.forecasting.running.scores import score_rows, scored
    from benchmarking.report.text import table
    from definitions import strict_json
    from definitions.errors import UserError

    found = []
    for tag in given.source:
        folder = Path(tag) if Path(tag).is_dir() else given.results_dir / tag
        if not folder.is_dir():
            raise UserError(f"forecast --scores {tag}", f"there is no folder {folder}", "give a tag of finished runs")
        for experiment in experiments_of(folder):
            stored = load(experiment)
            with stored.journal() as journal:
                found += scored(journal.records(), state_setup(stored.spec))
    rows = score_rows(found)
    if not rows:
        raise UserError(
            f"forecast --scores {' '.join(given.source)}",
            "no finished job there told how far it was",
            "let the script call outrider_report.progress(done, total), or say in the definition where its log tells it: progress: ...",
        )
    columns = {"share": "done", "jobs": "jobs", "decided": "decided", "median": "error median", "p90": "error p90",
               "held80": "80 % intervals held", "held90": "90 % intervals held"}  # fmt: skip
    if given.format == "json":
        print(strict_json.dumps({"schema_version": 1, "scores": [asdict(row) for row in rows]}))
    elif given.format == "csv":
        print("\n".join([",".join(columns), *(",".join("" if v is None else f"{v:g}" for v in asdict(row).values()) for row in rows)]))
    else:
        cells = [[f"{row.share:.0%}", row.jobs, row.decided, *map(_percent, (row.median, row.p90, row.held80, row.held90))] for row in rows]
        print(table(list(columns.values()), cells))
    return 0


def _metric(given: argparse.Namespace) -> int:
    """Show what an objective will be at the full level, and which configuration will be best."""
    from benchmarking.archive.stored import experiments_of, load, state_setup
    from benchmarking.controller.state import ExperimentState
    from benchmarking.forecasting.metric.forecast import metric_forecasts
    from benchmarking.forecasting.metric.measured import metric_curves
    from definitions.errors import UserError
    from definitions.schema import DERIVED_OBJECTIVES

    asked = f"forecast --metric {given.metric}".strip()
    for tag in given.source:
        folder = Path(tag) if Path(tag).is_dir() else given.results_dir / tag
        experiments = experiments_of(folder) if folder.is_dir() else []
        if not experiments:
            raise UserError(f"{asked} {tag}", f"there are no results in {folder}", "give a tag of a run with canaries, or with epochs")
        for experiment in experiments:
            stored = load(experiment)
            definition, state = stored.spec.definition, ExperimentState(state_setup(stored.spec))
            reported = {name: mode for name, mode in definition.objectives.items() if name not in DERIVED_OBJECTIVES}
            name = given.metric or next(iter(reported), "")
            if name not in reported:
                there = ", ".join(reported) or "none, as all are measured by Outrider"
                raise UserError(f"{asked} {tag}", f"{name!r} is no objective that the script reports", f"there are: {there}")
            with stored.journal() as journal:
                records = list(journal.records())
            for record in records:
                state.apply(record)
            curves, full = metric_curves(definition, state, records, name)
            if not curves:
                raise UserError(f"{asked} {tag}", f"nothing was measured of {name} below the full level", "its definition needs a fidelity")
            found, verdict = metric_forecasts(curves, name, reported[name], full)
            _show(found, given.format, None)
            if verdict is not None:
                print(verdict.text, file=sys.stdout if given.format == "table" else sys.stderr)
    return 0


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _question(given: argparse.Namespace) -> Question:
    from benchmarking.forecasting.model.billing import Billing
    from benchmarking.forecasting.model.draws import Question
    from definitions.errors import UserError

    if not math.isfinite(given.at) or given.at <= 0:
        raise UserError(f"--at {given.at:g}: there is no such share of the data", "it must be above 0", "the full job is --at 1.0")
    if not math.isfinite(given.billed_startup) or given.billed_startup < 0:
        raise UserError(f"--billed_startup {given.billed_startup:g}", "it must be 0 or more seconds")
    from benchmarking.forecasting.data.results_folder import options_of
    from benchmarking.forecasting.past_jobs import calibration_of
    from definitions.instances import no_options

    folder = _results_of(Path(given.source[0]), given.results_dir) if len(given.source) == 1 else None
    options = no_options if folder is None else options_of(folder)
    prices = dict(_price(text) for text in given.price)
    billing = Billing(given.region, prices, given.spot, startup_s=given.billed_startup, options=options)

    return Question(at=given.at, billing=billing, calibration=calibration_of(given.results_dir))


def _price(text: str) -> tuple[str, float]:
    from definitions.errors import UserError

    name, equals, value = text.partition("=")
    try:
        usd = float(value)
    except ValueError:
        usd = math.nan
    if not equals or not name or not math.isfinite(usd) or usd <= 0:
        raise UserError(f"--price {text}", "it must be TYPE=USD, dollars per instance-hour above 0", "e.g. --price ml.m5.xlarge=0.23")
    return name, usd


def _table(given: argparse.Namespace) -> CanaryTable:
    from benchmarking.forecasting.data.table import read_table
    from definitions.errors import UserError

    first = Path(given.source[0])
    folder = _results_of(first, given.results_dir) if len(given.source) == 1 else None
    if folder is not None:
        from benchmarking.forecasting.data.results_folder import read_folder

        table = read_folder(folder)
    elif len(given.source) == 1 and (first.exists() or first.suffix.lower() in (".csv", ".tsv")):
        table = read_table(first)
    elif all(not Path(name).exists() and "/" not in name for name in given.source):
        from backends.past_jobs import fraction_source, past_job_reader
        from benchmarking.forecasting.data.finished_jobs import canaries_of_jobs

        try:
            fractions = fraction_source(given.fraction_from, given.data)
            table = canaries_of_jobs(past_job_reader()(given.source, given.region, fractions), fractions)
        except UserError as error:
            if len(given.source) > 1:
                raise
            fact = f"there is no tag {first} in {given.results_dir} either"
            # Of its own class, which has the exit code.
            raise type(error)(error.asked, "\n  ".join(part for part in (error.fact, fact) if part), error.advice) from error
    else:
        raise UserError(f"{', '.join(given.source)}: no such table or folder", "one table or one folder is forecast at a time")
    if given.instances is not None:
        from benchmarking.forecasting.model.instances import on_instances

        if given.instances < 1:
            raise UserError(f"--instances {given.instances}: nothing would run", "it is the number of instances", "give 1 or more")
        table = on_instances(table, given.instances)
    return table


def _region_of(given: argparse.Namespace) -> str | None:
    """Return the region whose prices counted for the runs that are forecast from; None where there are none, or of several regions."""
    folder = _results_of(Path(given.source[0]), given.results_dir) if len(given.source) == 1 else None
    if folder is None:
        return None
    from benchmarking.forecasting.data.results_folder import regions_of

    regions = regions_of(folder)
    if len(regions) > 1:
        print(f"the runs are of {', '.join(regions)}; prices are those of one region, which --region names", file=sys.stderr)
    return regions[0] if len(regions) == 1 else None


def _results_of(source: Path, results_dir: Path) -> Path | None:
    """Return the folder of results that is meant: itself, that of one of its files, or that of a tag; None where it is no such thing."""
    from benchmarking.archive.stored import experiments_of

    if source.is_dir():
        return source
    if source.name in ("trials.csv", "reports.csv", "forecasts.csv", "journal.sqlite", "experiment.json"):
        return source.parent if (source.parent / "experiment.json").is_file() else None
    tag = results_dir / source
    return tag if len(source.parts) == 1 and experiments_of(tag) else None


def _show(found: Sequence[Forecast], form: str, why: Sequence[Explanation] | None) -> None:
    from benchmarking.forecasting.render import as_csv, as_json, as_table

    print(as_table(found) if form == "table" else {"json": as_json, "csv": as_csv}[form](found, why))


def _explained(table: CanaryTable, question: Question) -> list[Explanation]:
    from benchmarking.forecasting.data.canary import by_configuration
    from benchmarking.forecasting.explain import explanations

    groups = by_configuration(table.canaries)
    return [one for name in groups for one in explanations(groups, name, question)]


def _explain(table: CanaryTable, question: Question) -> None:
    from benchmarking.forecasting.data.canary import PREFIX, by_configuration
    from benchmarking.forecasting.explain import explained_lines, explanations

    groups = by_configuration(table.canaries)
    for name in list(groups)[:_MOST_EXPLAINED]:
        timed = any(canary.train_s is not None or canary.status == PREFIX for canary in groups[name])
        print("\n".join(["", *explained_lines(explanations(groups, name, question), name, timed=timed)]))
    if len(groups) > _MOST_EXPLAINED:
        print(f"\n... and {len(groups) - _MOST_EXPLAINED} more configurations, which --format json has")
