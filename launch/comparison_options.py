"""What is asked of a comparison, of options by name, and whether a study can answer that at its end."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from definitions.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from benchmarking.comparison.question import ComparisonQuestion
    from definitions.schema import BenchmarkDefinition

_THRESHOLD = "1%"


def question_of(flags: Mapping[str, Any]) -> ComparisonQuestion:
    """Return what is asked, of flags by name, those that were given; raises `UserError` where a value cannot be."""
    from benchmarking.comparison.question import ComparisonQuestion
    from benchmarking.comparison.runs import Axis

    at, seeds = flags.get("at"), flags.get("expect_seeds", 1)
    if at is not None and not 0 < at < math.inf:
        raise UserError(f"--at {at:g}", "it is the budget at which values are compared", "give a number above 0")
    if seeds < 1:
        raise UserError(f"--expect_seeds {seeds}", "it is how many seeds each method should have", "give 1 or more")
    return ComparisonQuestion(
        objective=flags.get("objective", ""),
        baseline=flags.get("baseline", ""),
        axis=Axis(flags["x"]) if flags.get("x") else None,
        at=flags.get("at"),
        any_level=flags.get("levels") == "any",
        aggregate=flags.get("aggregate", "mean"),
        threshold=_share(flags.get("threshold", _THRESHOLD)),
        by=tuple(flags.get("by") or ("method",)),
        facet_by=tuple(flags.get("facet_by", ())),
        expect_seeds=flags.get("expect_seeds", 0),
    )


def _share(given: Any) -> float:
    """Return `1%` or `0.01` as 0.01; raises `UserError` for anything else."""
    from definitions.quantities import parse_share

    try:
        return parse_share(given)
    except ValueError:
        raise UserError(
            f"--threshold {given}", "it is the least lead that matters, a share below 1", "e.g. --threshold 1% or 0.01"
        ) from None


def check_options(options: Mapping[str, Any], definitions: Mapping[str, BenchmarkDefinition], methods: Collection[str]) -> None:
    """Raise `UserError` where a study's comparison asks for what there will not be at its end, which may be hours away.

    Args:
        options: of the comparison, as `NAMES`; what the study does not say is absent.
        definitions: of its benchmarks, resolved.
        methods: of its experiments.
    """
    from benchmarking.comparison.runs import RUN_KEYS

    asked = question_of(options)
    keys = list(dict.fromkeys(key for definition in definitions.values() for key in definition.configuration_keys))
    for option, names, also in (("by", asked.by, ()), ("facet_by", asked.facet_by, ("benchmark",))):
        for name in names:
            if name not in (*RUN_KEYS, *keys, *also):
                fact = f"experiments have {', '.join(RUN_KEYS)}, configurations {', '.join(keys)}"
                raise UserError(f"compare.{option}: nothing has a key {name!r}", fact, did_you_mean(name, [*RUN_KEYS, *keys]))
    objectives = list(dict.fromkeys(name for definition in definitions.values() for name in definition.objectives))
    for option, name, there, applies in (
        ("objective", asked.objective, objectives, True),
        ("baseline", asked.baseline, list(methods), asked.by == ("method",)),
    ):
        if name and applies and name not in there:
            raise UserError(f"compare.{option}: there is no {name!r}", f"there are {', '.join(there)}", did_you_mean(name, there))
