"""`outrider advise FILE`: which configuration to use, from beginnings of jobs or small ones, in one sentence."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from definitions.errors import EXIT_DONE, UserError
from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from benchmarking.experiment import ExperimentResult
    from benchmarking.forecasting.report import Recommended
    from definitions.schema import BenchmarkDefinition
    from launch.request import RunRequest

_RACED = ("cost_usd", "duration_s", "billable_s")
"""Objectives by which a race is decided."""
_METHODS = ("RACE", "CANARY")
_FORECASTS = ("median", "lo80", "hi80", "lo90", "hi90")

_EPILOG = """\
All flags of a run hold too: --set, --backend, --max_cost, --emulate, ... The method is RACE where the benchmark has `cost_usd: min` or
`duration_s: min` among its objectives, else CANARY; --method takes the other. The answer goes to stdout, progress to stderr; the whole
tables are in the run's folder, and --details prints them. Exit codes are those of a run."""


def main(arguments: Sequence[str]) -> int:
    """Run what is needed, print the answer and return the exit code; raises `UserError` for wrong use."""
    given, rest = make_parser().parse_known_args(arguments)
    from launch.cli import parse_run

    flags, request = parse_run(["--benchmark", given.benchmark, *rest], os.environ)
    if flags.format == "csv":
        raise UserError("advise --format csv", "the answer is a sentence", "take table or json; forecasts.csv is in the run's folder")
    asked = request.method or (_method_for(request),)
    if len(asked) > 1 or asked[0] not in _METHODS or (request.num_seeds or 1) > 1:
        what = f"method {', '.join(asked)}" + (f", {request.num_seeds} seeds" if request.num_seeds else "")
        raise UserError(f"advise with {what}", f"it is one run of {' or '.join(_METHODS)}", "`outrider run` takes any methods and seeds")
    from launch.confirm import confirm
    from launch.experiments import execute, resume_command
    from launch.hints import hint_for
    from launch.outcome import as_text
    from launch.panels import panel_here
    from launch.planning import plan
    from launch.progress import Progress

    request = dataclasses.replace(request, method=asked)
    planned = plan(request)
    if request.dry_run:
        from launch.dry_run import describe

        print(describe(planned.specs, os.environ, planned.study))
        return EXIT_DONE
    ask = input if sys.stdin is not None and sys.stdin.isatty() else None
    confirm(planned.specs, study=planned.study, yes=flags.yes, ask=ask, say=_say)
    progress = Progress(sys.stderr, panel=panel_here(sys.stderr, os.environ), verbose=request.verbose)
    (outcome,) = execute(planned, request, progress)
    result = outcome.result
    if result is None:
        raise UserError(f"advise on {given.benchmark}: nothing was run", outcome.cause)
    said = _answer(result)
    if flags.format == "json":
        print(_as_json(said, result))
    else:
        print(sentence(said, result))
        if given.details:
            print(f"\n{as_text([result])}")
    hint = hint_for([outcome], resume_command(planned.specs[0].tag, request), planned.study)
    if hint:
        _say(hint)
    return outcome.exit_code


def make_parser() -> VerbParser:
    """Return the parser of this verb's own words."""
    parser = VerbParser(
        prog=command("advise"),
        description="Say which configuration of a benchmark to use, and what its full job will take, without running it in full.",
        epilog=_EPILOG,
    )
    parser.add_argument("benchmark", metavar="NAME|FILE", help="a built-in benchmark by its name, your own by its YAML file")
    parser.add_argument("--details", action="store_true", help="print the forecasts and what was measured too")
    return parser


def sentence(said: Recommended, result: ExperimentResult) -> str:
    """Return the recommendation, and what it took to find out.

    Args:
        said: what the experiment says.
        result: of the experiment.
    """
    from benchmarking.forecasting.recommendation import CONFIDENCE
    from benchmarking.forecasting.render import readable

    spent = "" if result.described.nominal else f"{readable('cost_usd', result.state.money.spent_usd)} in "
    runs = len(result.state.trials)
    took = f"Spent {spent}{readable('total_s', _seconds(result))} on {runs} run{'s' * (runs != 1)}"
    why = f": {result.ending.message}" if said.sure < CONFIDENCE else ""
    return f"{said.sentence}\n{took}{why}.\nresults: {result.spec.folder}/forecasts.csv, trials.csv"


def _seconds(result: ExperimentResult) -> float:
    """Return from when to when its jobs ran."""
    first = result.state.first_start
    return 0.0 if first is None else max(0.0, result.state.last_at - first[1])


def _method_for(request: RunRequest) -> str:
    objectives = _definition(request).objectives
    return "RACE" if any(objectives.get(name) == "min" for name in _RACED) else "CANARY"


def _definition(request: RunRequest) -> BenchmarkDefinition:
    from benchmarking.methods.registry import known_methods
    from definitions.registry import Registry
    from launch.study_request import resolve_benchmark

    return resolve_benchmark(request.benchmark[0], Registry(), request.backend_name, request.settings, list(known_methods())).definition


def _answer(result: ExperimentResult) -> Recommended:
    from benchmarking.forecasting.model.billing import Billing
    from benchmarking.forecasting.model.draws import Question
    from benchmarking.forecasting.recommendation import MORE
    from benchmarking.forecasting.report import answer

    # A race that decided nothing says itself why it spent no more.
    more = "" if result.spec.method == "RACE" else MORE
    return answer(
        result.spec.definition, result.state, Question(billing=Billing(result.region, options=result.spec.definition.block)), more
    )


def _as_json(said: Recommended, result: ExperimentResult) -> str:
    from definitions import strict_json

    made: list[dict[str, Any]] = [
        {
            "configuration": one.configuration,
            "metric": one.metric,
            "status": str(one.status),
            "why": one.why,
            **{name: getattr(one, name) for name in _FORECASTS},
        }
        for one in said.forecasts
    ]
    found = {
        "schema_version": 1,
        "sentence": said.sentence,
        "best": said.best or None,
        "ordered_by": said.metric,
        "sure": said.sure,
        "spent_usd": result.state.money.spent_usd,
        "nominal_dollars": result.described.nominal,
        "took_s": _seconds(result),
        "runs": len(result.state.trials),
        "folder": str(result.spec.folder),
        "forecasts": made,
    }
    return strict_json.dumps(found)


def _say(line: str) -> None:
    print(line, file=sys.stderr)
