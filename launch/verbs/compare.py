"""`outrider compare TAG|DIR...`: which method is better, by how much, and whether the seeds can carry that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from definitions.program import command
from launch.named_results import looks_of, named_runs
from launch.parser import VerbParser

_EPILOG = """\
The unit is the experiment: one seed of one method. Seeds are paired. Each verdict has one of four words: better (significant after Holm's
correction, and beyond --threshold), tie (the interval lies within it), not decided (with how many seeds would), one run only.
docs/studies.md explains the statistics."""

_THRESHOLD = "1%"


def main(arguments: Sequence[str]) -> int:
    """Compare all experiments of some tags or folders, and return the exit code; raises `UserError` where there is nothing to compare."""
    given = make_parser().parse_args(arguments)
    from benchmarking.comparison.document import COLUMNS, as_json, as_markdown, as_text, document
    from benchmarking.comparison.methods import ComparisonQuestion
    from benchmarking.comparison.runs import Axis
    from benchmarking.export.files import csv_text
    from definitions.errors import EXIT_FAILURES

    question = ComparisonQuestion(
        objective=given.objective,
        baseline=given.baseline,
        axis=Axis(given.x) if given.x else None,
        at=given.at,
        any_level=given.levels == "any",
        aggregate=given.aggregate,
        threshold=_share(given.threshold),
        by=tuple(given.by),
        facet_by=tuple(given.facet_by),
        expect_seeds=given.expect_seeds,
    )
    looks = looks_of(given.what, given.results_dir, "compare")
    found = document(named_runs(given.what, given.results_dir, "compare"), replace(question, looks=looks))
    if given.format == "csv":
        print(csv_text(list(COLUMNS), [[row[name] for name in COLUMNS] for row in found.rows]))
    else:
        print({"table": as_text, "json": as_json, "md": as_markdown}[given.format](found))
    return EXIT_FAILURES if found.lacks_seeds else 0


def _share(text: str) -> float:
    """Return `1%` or `0.01` as 0.01; raises `UserError` for anything else."""
    from definitions.errors import UserError
    from definitions.quantities import parse_share

    try:
        return parse_share(text)
    except ValueError:
        raise UserError(
            f"--threshold {text}", "it is the least lead that matters, a share below 1", "e.g. --threshold 1% or 0.01"
        ) from None


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("compare"), description="Compare methods over seeds and benchmarks.", epilog=_EPILOG)
    parser.add_argument("what", nargs="+", metavar="TAG|DIR", help="tags of runs, or folders that hold experiments")
    parser.add_argument("--objective", default="", metavar="NAME", help="which objective (default: each benchmark's first)")
    parser.add_argument(
        "--baseline",
        default="",
        metavar="METHOD",
        help="what the others are compared with (default RS, else the first; configurations: the best)",
    )
    parser.add_argument(
        "--by",
        nargs="+",
        default=["method"],
        metavar="KEY",
        help="what is compared: method (default), tag, backend, region, workers, or keys of configurations, e.g. instance_type",
    )
    parser.add_argument("--facet_by", nargs="+", default=[], metavar="KEY", help="a comparison for each value of these")
    parser.add_argument("--x", default="", choices=("wallclock", "trials", "cost", "level"), help="on which axis budgets are equal")
    parser.add_argument("--at", type=float, metavar="X", help="the budget on that axis (default: the largest that all have reached)")
    parser.add_argument("--levels", default="full", choices=("any", "full"), help="whether results below the full fidelity count")
    parser.add_argument("--aggregate", default="iqm", choices=("iqm", "mean", "median"), help="of a method's seeds (default iqm)")
    parser.add_argument("--threshold", default=_THRESHOLD, metavar="SHARE", help="least lead that matters (default 1%%)")
    parser.add_argument(
        "--expect_seeds", type=int, default=0, metavar="N", help="seeds that each method should have; with fewer the exit code is 3"
    )
    parser.add_argument("--format", default="table", choices=("table", "json", "csv", "md"))
    parser.add_results_dir()
    return parser
