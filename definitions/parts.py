"""Parts of a definition that a back-end's block may give as well, and what all parts are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from definitions.configuration import Scalar
from definitions.errors import UserError
from definitions.fields import Dollars, Flag, NotNegative, Positive, Seconds, Text
from definitions.space import parse_domain
from definitions.valid import parse_rule

Mode = Literal["min", "max"]
Order = Literal["default", "interleave", "random"]

DERIVED_OBJECTIVES = ("cost_usd", "duration_s", "billable_s")
"""Objectives that Outrider itself measures when a job is closed; all others are reported by the script."""

RESERVED_KEYS = (
    "trial", "fidelity", "repeat", "attempts", "status", "cause", "started_at", "ended_at", "duration_s", "cost_usd", "method",
    "seed", "job", "attempt", "incarnation", "rank", "sequence", "at", "elapsed_s", "after_stop", "configuration_id", "message",
    "billable_s", "level", "benchmark",
)  # fmt: skip
"""Columns of the result files, which no configuration key may be called."""


def _check_keys(value: dict[str, Any]) -> dict[str, Any]:
    for key in value:
        if key in RESERVED_KEYS:
            raise ValueError(f"{key!r} is a column of the result files; call the key something else")
        if not re.fullmatch(r"[^\W\d]\w*", key):
            raise ValueError(f"{key!r} is not a name (letters, digits and _, the first no digit)")
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
Trial = Annotated[dict[str, Scalar], AfterValidator(_check_keys)]
KeyPath: TypeAlias = tuple[str | int, ...]


class ContradictionError(ValueError):
    """Parts of a definition that do not fit together.

    Args:
        problems: pairs of the path of a key and what is wrong there.
    """

    def __init__(self, problems: Sequence[tuple[KeyPath, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{'.'.join(map(str, path))}: {text}" for path, text in problems))


class Model(BaseModel):
    """Base of all parts of a definition: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


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
    base_trial: Trial | None = None
    trials: tuple[Trial, ...] | None = None
    arguments: dict[str, Scalar] | None = None
    inputs: dict[str, InputChannel] | None = None
    valid: tuple[RuleText, ...] | None = None
    budget: Budget | None = None
    n_workers: Positive | None = None
    exclusive: Flag | None = None
    repeats: Positive | None = None
    order: Order | None = None
