"""The flags of a comparison, which `compare` and `report` share, and what a study says where they are not given."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launch.comparison_options import question_of

if TYPE_CHECKING:
    from benchmarking.comparison.question import ComparisonQuestion

NAMES = ("objective", "baseline", "by", "facet_by", "x", "at", "levels", "aggregate", "threshold", "expect_seeds")
"""The flags, which are also the keys of a study's `compare`."""


def add_comparison_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what is compared with what."""
    add = parser.add_argument
    add("--objective", metavar="NAME", help="which objective (default: each benchmark's first)")
    add(
        "--baseline",
        metavar="METHOD",
        help="what the others are compared with (default RS, else the first; configurations: the best)",
    )
    add(
        "--by",
        nargs="+",
        metavar="KEY",
        help="what is compared: method (default), tag, backend, region, workers, or keys of configurations, e.g. instance_type",
    )
    add("--facet_by", nargs="+", metavar="KEY", help="a comparison for each value of these")
    add("--x", choices=("wallclock", "trials", "cost", "level"), help="on which axis budgets are equal")
    add("--at", type=float, metavar="X", help="the budget on that axis (default: the largest that all have reached)")
    add("--levels", choices=("any", "full"), help="whether results below the full fidelity count (default full)")
    add("--aggregate", choices=("iqm", "mean", "median"), help="of a method's seeds (default mean, of which intervals are)")
    add("--threshold", metavar="SHARE", help="least lead that matters (default 1%%)")
    add("--expect_seeds", type=int, metavar="N", help="seeds that each method should have; with fewer the exit code is 3")


def asked(given: argparse.Namespace) -> dict[str, Any]:
    """Return the flags that were given, by name."""
    return {name: value for name in NAMES if (value := getattr(given, name)) is not None}


def question_for(named: Sequence[str], results_dir: Path, verb: str, flags: Mapping[str, Any]) -> ComparisonQuestion:
    """Return what is asked of the experiments that are named: by flags, and where these say nothing by the study that they all are of.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        verb: for messages.
        flags: by name, those that were given.

    Raises:
        UserError: there is nothing of what is named, or a flag cannot be.
    """
    from dataclasses import replace

    from launch.named_results import studies_of

    studies = studies_of(named, results_dir, verb)
    options = [{} if one.study is None else one.study.flags.compare for one in studies]
    of_study = options[0] if options and all(one == options[0] for one in options) else {}
    known = [one for one in studies if one.study is not None]
    looks = max((one.study.looks_before_extension for one in known if one.study is not None), default=0)
    # Where some of a study's experiments were named, the others are not missed.
    planned = dict.fromkeys(experiment.key[:2] for one in known if one.is_whole and one.study for experiment in one.study.experiments)
    return replace(question_of({**_still_meant(of_study, flags), **flags}), looks=looks, planned=(*planned,))


def _still_meant(options: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a study without those that mean nothing beside the flags that were given."""
    from definitions.study import ComparisonOptions

    found: dict[str, Any] = {}
    with contextlib.suppress(ValueError):  # what is written into study.json by hand may be anything
        found = ComparisonOptions.model_validate(options).model_dump(exclude_defaults=True)
    # A baseline is one of what is compared, and a budget a place on its axis.
    gone = {*(("baseline",) if "by" in flags else ()), *(("at",) if "x" in flags else ()), *(("facet_by",) if "by" in flags else ())}
    return {name: value for name, value in found.items() if name not in gone}
