"""Parts of a definition that a back-end's block may give as well, and what all parts are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from definitions.command import ArgumentsStyle, Command, Environment, WorkingDir
from definitions.endpoint import EndpointBlock
from definitions.errors import UserError
from definitions.fields import Dollars, Flag, NotNegative, Positive, Seconds, Size, Text
from definitions.forms import Booleans, Lists
from definitions.metric_files import Read
from definitions.metrics import Metrics
from definitions.model import Model
from definitions.models import EndpointModels
from definitions.space import parse_domain
from definitions.valid import parse_rule

Mode = Literal["min", "max"]
Order = Literal["default", "interleave", "random"]

Keep = Literal["paused", "none", "all"] | Positive
"""Whose checkpoints and models outlive their trials: those of so many of the best, of paused trials alone, nobody's, or all."""

PER_EPOCH = ("cost_first_epoch_usd", "cost_per_epoch_usd")
"""Objectives that Outrider derives from what a script reports of its epochs: dollars of the first one, and of each further one."""

USD_PER_MILLION = "usd_per_million"
"""Objective that Outrider derives of the largest rate that a load reports: dollars of a million requests at it."""

OF_REPORTS = (*PER_EPOCH, USD_PER_MILLION)
"""Derived objectives that need reports of the script."""

DERIVED_OBJECTIVES = ("cost_usd", "duration_s", "billable_s", "peak_rss_bytes", "cpu_s", *OF_REPORTS)
"""Objectives that Outrider itself measures when a job is closed; all others are reported by the script."""

_TIMED = frozenset({*DERIVED_OBJECTIVES} - {"peak_rss_bytes"})
"""Objectives that another trial beside it would change."""

_KEY = re.compile(r"[^\W\d][\w.+@/:-]*")


def is_timed(objective: str) -> bool:
    """Return whether other load on the machine changes an objective: speed, seconds and dollars."""
    return objective in _TIMED or objective.endswith("_per_s")


def is_money(objective: str) -> bool:
    """Return whether Outrider counts an objective in dollars, so that what kind they are has to be said."""
    return objective in ("cost_usd", *OF_REPORTS)


def _check_keys(value: dict[str, Any]) -> dict[str, Any]:
    for key in value:
        if not _KEY.fullmatch(key):
            raise ValueError(
                f"{key!r} is not a name (letters, digits and _.-+@/:, the first a letter or _); `rename` says what the script calls it"
            )
    return value


def _check_value(value: Any) -> Any:
    """Refuse what is no value of an argument, and keep what is one as it was written."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    for part in parts:
        _check_value(part)
    if not isinstance(value, (bool, int, float, str, type(None), list, tuple, dict)):
        raise ValueError(f"needs text, a number, true/false, null, or a list or mapping of these; {value!r} was given")
    return value


def _check_domain(value: Any) -> Any:
    try:
        parse_domain(value)
    except UserError as error:
        raise ValueError("; ".join(str(error).removeprefix("space.: ").split("\n  "))) from error
    return value


def _check_rule(text: str) -> str:
    try:
        parse_rule(text)
    except UserError as error:
        raise ValueError("; ".join(str(error).removeprefix("valid: ").split("\n  "))) from error
    return text


RuleText = Annotated[str, Field(strict=True), AfterValidator(_check_rule)]
DomainSpec = Annotated[Any, AfterValidator(_check_domain)]
Space = Annotated[dict[str, DomainSpec], AfterValidator(_check_keys)]
# `Any`, as a union of types would make a plain number of one that knows how it was written.
ArgumentValue = Annotated[
    Any, AfterValidator(_check_value), WithJsonSchema({"type": ["string", "number", "boolean", "null", "array", "object"]})
]
Trial = Annotated[dict[str, ArgumentValue], AfterValidator(_check_keys)]
Arguments = Annotated[dict[str, ArgumentValue], AfterValidator(_check_keys)]
StandsFor = dict[str, dict[str, Text]]
"""Keys of configurations and arguments -> the text of a value -> what it stands for, where that cannot be had."""


def _each_value(given: Any) -> Any:
    """Return a list of keys as a mapping in which each value of theirs stands alone."""
    return {key: {} for key in given} if isinstance(given, (list, tuple)) and all(isinstance(key, str) for key in given) else given


CompareWithin = Annotated[dict[str, dict[str, tuple[ArgumentValue, ...]]], BeforeValidator(_each_value)]
"""Keys of configurations that are circumstances -> name of a group -> the values in it; a value in no group stands alone."""

KeyPath: TypeAlias = tuple[str | int, ...]


class ContradictionError(ValueError):
    """Parts of a definition that do not fit together.

    Args:
        problems: pairs of the path of a key and what is wrong there.
    """

    def __init__(self, problems: Sequence[tuple[KeyPath, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{'.'.join(map(str, path))}: {text}" for path, text in problems))


class InputChannel(Model):
    """One input channel; what it does not fix comes from the configuration's `dataset` and `ingestion`."""

    dataset: Text | None = None
    ingestion: Text | None = None
    sampled: Flag | None = Field(
        None, description="canaries get a folder with that fraction of its files, the same for every configuration"
    )
    distribution: Literal["replicated", "sharded"] | None = Field(
        None, description="of a job's several hosts, each gets all objects (the default), or its share of them"
    )
    content_type: Annotated[str, Field(strict=True, max_length=256)] | None = Field(
        None, description="MIME type of the channel, which some algorithms ask for, e.g. text/csv"
    )


class Budget(Model):
    """Limits of an experiment; None where there is none."""

    max_wallclock_time: Seconds | None = Field(None, description="seconds that the experiment may take")
    max_failures: NotNegative = Field(3, description="failed trials that are tolerated; one more ends the experiment")
    max_cost: Dollars | None = Field(None, description="dollars that may be spent, counting the worst case of what is in flight")
    max_num_trials: Positive | None = Field(None, description="trials that may be started")
    max_run: Seconds | None = Field(
        None, description="seconds that one job may take; where nothing is given, no limit on this machine (3600 with max_cost), else 3600"
    )


class Overrides(Model):
    """Parts of a definition that may differ on one back-end."""

    space: Space | None = None
    metrics: Metrics | None = Field(None, description="laid over the definition's own")
    read: Read | None = None
    log_cap: Size | None = None
    base_trial: Trial | None = None
    trials: tuple[Trial, ...] | None = None
    arguments: Arguments | None = None
    command: Command | None = None
    arguments_style: ArgumentsStyle | None = None
    booleans: Booleans | None = None
    lists: Lists | None = None
    rename: dict[str, Text] | None = None
    python: Text | None = None
    working_dir: WorkingDir | None = None
    environment: Environment | None = None
    prepare: Command | None = None
    cleanup: Command | None = None
    warmup_runs: NotNegative | None = None
    inputs: dict[str, InputChannel] | None = None
    models: EndpointModels | None = None
    endpoint: EndpointBlock | None = None
    valid: tuple[RuleText, ...] | None = None
    stands_for: StandsFor | None = None
    budget: Budget | None = None
    n_workers: Positive | None = None
    exclusive: Flag | None = None
    repeats: Positive | None = None
    order: Order | None = None
