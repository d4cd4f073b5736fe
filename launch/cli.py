"""The flags of `outrider run`: parsing only. Syne Tune's names where it has them; dashes and underscores are alike."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from definitions import __version__
from definitions.builtin_backends import BUILT_IN, DEFAULT, OF_AN_ACCOUNT
from definitions.program import command
from definitions.results_folder import default_results_dir
from launch.parser import VerbParser
from launch.remote_flags import add_remote_flags, remote_settings
from launch.request import RunRequest

_EPILOG = """\
A value given here wins over the definition's. Results go to stdout, progress to stderr.
Exit codes: 0 done, 1 a fault of ours, 2 wrong use, 3 failure budget spent, 4 budget spent before a list was finished, or disk full,
5 refused by the cloud, 6 left to the next controller (by USR1), 7 another controller is at work, 130 interrupted.
Ctrl-C once winds down and prints the line that resumes; twice stops at once."""

_DESCRIPTIONS = {
    "run": "Run benchmarks as asynchronous trials and say which configuration wins.",
    "launch": "Run benchmarks, or a study, inside training jobs, and return as soon as these are accepted.",
}

_SETTINGS = (
    "n_workers",
    "max_wallclock_time",
    "max_failures",
    "max_cost",
    "max_num_trials",
    "max_run",
    "repeats",
    "order",
    "exclusive",
    "scale",
)
BUDGET_FLAGS = {name: f"budget.{name}" if name.startswith("max_") else name for name in _SETTINGS}


def make_parser(verb: str = "run") -> VerbParser:
    """Return the parser of `outrider run`, or of `outrider launch`, which has the same flags."""
    parser = VerbParser(prog=command(verb), description=_DESCRIPTIONS[verb], epilog=_EPILOG)
    for add in (_add_what, _add_study, _add_limits, _add_files, add_remote_flags, _add_other):
        add(parser)
    return parser


def _add_what(parser: VerbParser) -> None:
    what = parser.add_argument_group("what to run")
    what.add_argument("--benchmark", nargs="+", default=[], metavar="NAME|FILE", help="built-in benchmarks by name, your own by YAML file")
    what.add_argument("--command", metavar="WORDS", help="in place of a benchmark: a command, with ${key} for what --set varies")
    what.add_argument("--objective", nargs="+", default=[], metavar="NAME=min|max", help="of the command; default: duration_s=min")
    what.add_argument("--method", nargs="+", default=[], metavar="NAME", help="methods; default: the definition's, else LISTED or RS")
    what.add_argument("--method_args", nargs="+", default=[], metavar="KEY=VALUE", help="arguments for the methods, e.g. points=3")
    what.add_argument("--ladder", metavar="L1,L2,...", help="levels of canaries, for CANARY and RACE: 0.01,0.03,0.1")
    what.add_argument(
        "--warm_start",
        nargs="+",
        default=[],
        metavar="TAG",
        help="finished runs whose measurements the method is told first, in place of the definition's",
    )
    what.add_argument("--backend", default=None, metavar="NAME",
                      help=f"where trials run: {', '.join(BUILT_IN)}, or a plug-in's (default {DEFAULT})")  # fmt: skip
    what.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=V1[,V2]", dest="settings",
                      help="override a key of the definition, or sweep one of its space or arguments: batch_size=32,64")  # fmt: skip
    what.add_argument("--num_seeds", type=int, metavar="N", help="number of seeds: repeat each search N times (default 1)")
    what.add_argument("--start_seed", type=int, metavar="S", help="first seed; seeds are S, S+1, ..., S+N-1 (default 0)")
    what.add_argument("--random_seed", type=int, metavar="R", help="master seed that all seeds are derived from (default 0)")
    what.add_argument("--list", action="store_true", help="list the known benchmarks and stop")
    what.add_argument("--show", metavar="NAME|FILE", help="show a benchmark, resolved, with where each value came from, and stop")
    what.add_argument("--check_script", action="store_true", help="start each script once first, and refuse arguments it does not know")
    what.add_argument("--dry_run", action="store_true", help="show what would run and its worst case, and stop")


def _add_study(parser: VerbParser) -> None:
    study = parser.add_argument_group("several experiments, a study (docs/studies.md)")
    study.add_argument("--study", nargs="?", const=True, metavar="FILE",
                       help="take the rest from the `study:` block of the definition, or from a file")  # fmt: skip
    study.add_argument("--study_order", choices=("seeds", "methods"), default="",
                       help="what comes first: all of a seed (default), or all of a method")  # fmt: skip
    study.add_argument("--shares", choices=("equal", "first_come"), default="",
                       help="of --max_cost: an equal one for each experiment (default), or whoever runs first spends it")  # fmt: skip
    study.add_argument("--skip_unfit", action=argparse.BooleanOptionalAction, default=None,
                       help="leave out pairs of benchmark and method that cannot be")  # fmt: skip
    study.add_argument("--shared_start", type=int, metavar="K",
                       help="configurations that all methods of a seed begin with alike: the first that RS draws (default 0)")  # fmt: skip
    study.add_argument(
        "--parallel", type=_number_or_word, metavar="N|auto", help="experiments at once, each in a process of its own (default 1)"
    )


def _add_limits(parser: VerbParser) -> None:
    limits = parser.add_argument_group("limits and repeats (default: the definition's)")
    limits.add_argument("--n_workers", metavar="N", help="trials at once, at most; default: what fits, 1 where speed or cost is measured")
    limits.add_argument("--max_wallclock_time", metavar="S", help="seconds that each experiment may take")
    limits.add_argument("--max_failures", metavar="N", help="failed trials that are tolerated; one more ends the experiment")
    limits.add_argument("--max_cost", metavar="USD", help="dollars for all experiments together, counting the worst case in flight")
    limits.add_argument("--max_num_trials", metavar="N", help="trials that each experiment may start")
    limits.add_argument("--max_run", metavar="S", help="seconds that one job may take")
    limits.add_argument("--repeats", metavar="N", help="measurements of each configuration")
    limits.add_argument("--scale", metavar="S", help="share of generated data, e.g. 0.005; never less than a steady window needs")
    limits.add_argument("--order", choices=("default", "interleave", "random"), help="order of repeated measurements")
    limits.add_argument("--exclusive", action=argparse.BooleanOptionalAction, default=None, help="nothing else runs beside a trial (local)")


def _add_files(parser: VerbParser) -> None:
    files = parser.add_argument_group("results and resume")
    files.add_argument("--experiment_tag", default="", metavar="TAG", help="name of this run; default: date and hash. A known tag goes on")
    files.add_argument("--resume", default="", metavar="TAG", help="go on with the experiments of this tag, as they were defined")
    files.add_argument(
        "--accept_changes", action="store_true", help="go on with a tag although the script changed; trials say which version"
    )
    files.add_argument(
        "--track", nargs="+", default=[], metavar="TRACKER", help="tell trackers while it runs: mlflow (at $MLFLOW_TRACKING_URI), sagemaker"
    )
    files.add_argument(
        "--results_dir", type=Path, default=None, metavar="DIR", help="folder of results (default results, or $OUTRIDER_RESULTS)"
    )
    files.add_argument("--cache_dir", type=Path, default=None, metavar="DIR", help="where generated data sets are kept "
                       "(default ~/.cache/outrider, or $OUTRIDER_CACHE)")  # fmt: skip


def _add_other(parser: VerbParser) -> None:
    other = parser.add_argument_group("other")
    other.add_argument("--format", choices=("table", "json", "csv"), default="table", help="form of the result on stdout (default table)")
    other.add_argument("--verbose", action=argparse.BooleanOptionalAction, default=False, help="log more, and every change of every trial")
    other.add_argument(
        "--warm_pool",
        type=int,
        choices=(0, 1),
        default=0,
        help="1: instances are kept for the next job, where the back-end can",
    )
    other.add_argument("--emulate", action="store_true", help="run an emulator of SageMaker's training jobs and S3 for this command")
    other.add_argument("--version", action="version", version=f"outrider {__version__}", help="print Outrider's version and stop")
    other.add_argument("--yes", action="store_true", help="do not ask before spending real money")
    other.add_argument("--save_tuner", nargs="?", const="1", help=argparse.SUPPRESS)
    other.add_argument("--launched_remotely", default="", metavar="URI", help=argparse.SUPPRESS)


def parse_run(arguments: Sequence[str], environ: Mapping[str, str], verb: str = "run") -> tuple[argparse.Namespace, RunRequest]:
    """Return the parsed flags and the request they amount to.

    Raises:
        UserError: a flag or value that cannot be.
    """
    given = make_parser(verb).parse_args(arguments)
    settings = [*given.settings, *remote_settings(given)]
    for name, key in BUDGET_FLAGS.items():
        value = getattr(given, name)
        if value is not None:
            settings.append(f"{key}={str(value).lower() if isinstance(value, bool) else value}")
    benchmark: tuple[Any, ...] = tuple(given.benchmark)
    if given.command is not None:
        from launch.command_benchmark import command_benchmark

        made, others = command_benchmark(given.command, given.objective, settings)
        benchmark, settings = (*benchmark, made), [*others]
    elif given.objective:
        from definitions.errors import UserError

        raise UserError("--objective without --command", "a benchmark says itself what it is judged by", "write it into the definition")
    cache = given.cache_dir or Path(environ.get("OUTRIDER_CACHE") or "~/.cache/outrider")
    request = RunRequest(
        benchmark=benchmark,
        method=tuple(given.method),
        backend=backend_of(given.backend, warm=bool(given.warm_pool)),
        num_seeds=given.num_seeds,
        start_seed=given.start_seed,
        random_seed=given.random_seed,
        settings=tuple(settings),
        method_args=_method_arguments([*given.method_args, *_short_for_arguments(given)]),
        experiment_tag=given.experiment_tag,
        resume=given.resume,
        results_dir=(given.results_dir or default_results_dir(environ)).expanduser(),
        cache_dir=cache.expanduser(),
        dry_run=given.dry_run,
        verbose=given.verbose,
        accept_changes=given.accept_changes,
        warm_start=tuple(given.warm_start),
        track=tuple(given.track),
        parallel=given.parallel,
        study=given.study,
        study_order=given.study_order,
        shares=given.shares,
        skip_unfit=given.skip_unfit,
        launched_remotely=given.launched_remotely,
    )
    return given, request


def _short_for_arguments(given: argparse.Namespace) -> list[str]:
    """Return the flags that are short for arguments of the methods, as such."""
    return [f"{name}={getattr(given, name)}" for name in ("ladder", "shared_start") if getattr(given, name) is not None]


def backend_of(name: str | None, *, warm: bool) -> str:
    """Return the back-end that is asked for; raises `UserError` where no instances could be kept.

    Args:
        name: of the back-end; None where none was named, which is answered with an empty one.
        warm: whether `--warm_pool 1` was given, which makes of it, or of the one with an account, the one that keeps instances warm.
    """
    if not warm:
        return name or ""
    from definitions.backend_registry import backend_description

    found = backend_description(name or OF_AN_ACCOUNT).warm_variant
    if not found:
        from definitions.errors import UserError

        raise UserError(f"--warm_pool 1 with --backend {name}", f"{name} keeps no instances warm", "leave one of them out")
    return found


def _number_or_word(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text


def _method_arguments(texts: Sequence[str]) -> dict[str, Any]:
    if not texts:
        return {}
    from definitions.settings import parse_setting

    parsed = [parse_setting(text) for text in texts]
    return {setting.key: setting.values[0] if len(setting.values) == 1 else list(setting.values) for setting in parsed}
