"""The benchmark definition: frozen data that says what to run and how to judge it. YAML and Python build the same object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from definitions.configuration import Scalar
from definitions.errors import UserError
from definitions.fields import KEEP_WHOLE, Count, Dollars, Flag, NotNegative, Number, Positive, Seconds, Size, Text
from definitions.sagemaker import SageMakerOptions
from definitions.space import SearchSpace, parse_domain
from definitions.valid import Rule, parse_rule

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
        None, description="of a SageMaker job's several hosts, each gets all objects (the default), or its share of them"
    )
    content_type: Annotated[str, Field(strict=True, max_length=256)] | None = Field(
        None, description="MIME type of a SageMaker channel, which some algorithms ask for, e.g. text/csv"
    )


class ImagesDataset(Model):
    """JPEG crops cut with a seed from the photographs that scikit-learn ships; the class says which photograph."""

    type: Literal["images"]
    format: Literal["jpg", "tar"] = "jpg"
    samples: Count = 2000
    image_size: Positive = 96
    shard_size: Size = 8 * 1024**2
    seed: NotNegative = 0

    @property
    def layout(self) -> str:
        """`files` or `shards`."""
        return "shards" if self.format == "tar" else "files"


class PathDataset(Model):
    """A folder of the user's own on this machine."""

    type: Literal["path"]
    path: Text
    format: Literal["jpg", "tar"] = "jpg"

    @property
    def layout(self) -> str:
        """`files` or `shards`."""
        return "shards" if self.format == "tar" else "files"


class S3Dataset(Model):
    """Objects under an S3 prefix of the user's own."""

    type: Literal["s3"]
    uri: Annotated[str, Field(pattern=r"^s3://[^/]+(/.*)?$")]
    format: Literal["jpg", "tar"] = "jpg"

    @property
    def layout(self) -> str:
        """`files` or `shards`."""
        return "shards" if self.format == "tar" else "files"


class FilesystemDataset(Model):
    """A folder of an FSx for Lustre or EFS file system of the user's own, which SageMaker mounts."""

    type: Literal["filesystem"]
    kind: Literal["fsx", "efs"]
    id: Annotated[str, Field(strict=True, pattern=r"^fs-[0-9a-f]{8,18}$")]
    directory: Annotated[str, Field(strict=True, pattern=r"^/", max_length=4096)]
    format: Literal["jpg", "tar"] = "jpg"

    @property
    def layout(self) -> str:
        """`files` or `shards`."""
        return "shards" if self.format == "tar" else "files"

    @property
    def uri(self) -> str:
        """Where it is: `fsx://fs-0123456789abcdef0/folder` or `efs://…`."""
        return f"{self.kind}://{self.id}{self.directory}"


Dataset = Annotated[ImagesDataset | PathDataset | S3Dataset | FilesystemDataset, Field(discriminator="type")]


class PerJob(Model):
    """Each level is a job of its own, e.g. a fraction of the data, given to the script as `--<argument>`."""

    kind: Literal["per_job"]
    argument: Text
    ladder: tuple[Annotated[Number, KEEP_WHOLE], ...] = (0.01, 0.03, 0.1)
    family: Text | None = Field(
        None, description="of the algorithm, where it is known how it grows: epochs, linear, trees, sort, kernel, ..."
    )
    full: Annotated[Number, Field(gt=0), KEEP_WHOLE] = 1.0

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if not self.ladder or any(level <= 0 or level > self.full for level in self.ladder):
            raise ValueError(f"each level of the ladder must be above 0 and at most full = {self.full}")
        if list(self.ladder) != sorted(set(self.ladder)):
            raise ValueError("the ladder must ascend")
        return self


class Progressive(Model):
    """One job passes many levels, e.g. epochs: told its last one as `--<argument>`, it reports each as `reported_as`."""

    kind: Literal["progressive"]
    argument: Text
    reported_as: Text
    full: Positive


Fidelity = Annotated[PerJob | Progressive, Field(discriminator="kind")]


class Budget(Model):
    """Limits of an experiment; None where there is none."""

    max_wallclock_time: Seconds | None = Field(None, description="seconds that the experiment may take")
    max_failures: NotNegative = Field(3, description="failed trials that are tolerated; one more ends the experiment")
    max_cost: Dollars | None = Field(None, description="dollars that may be spent, counting the worst case of what is in flight")
    max_num_trials: Positive | None = Field(None, description="trials that may be started")
    max_run: Seconds | None = Field(None, description="seconds that one job may take; 3600 where nothing is given")


class MethodVariant(Model):
    """A named method with arguments of its own: `{base: ASHA, brackets: 3}`."""

    base: Text
    arguments: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if isinstance(data, dict) and "arguments" not in data:
            return {**{k: v for k, v in data.items() if k == "base"}, "arguments": {k: v for k, v in data.items() if k != "base"}}
        return data


class Study(Model):
    """Which methods and how many seeds are compared."""

    methods: tuple[Text, ...] = ()
    seeds: Positive = 8


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


class LocalBlock(Overrides):
    """What differs on this machine, and the local back-end's options."""

    grace_s: Seconds | None = Field(None, description="seconds between TERM and KILL (default 5)")


class SimulatedBlock(Overrides):
    """What differs on the simulated back-end, and its options."""

    table: Text | None = Field(None, description="CSV of measured runs: configuration keys, elapsed_s, metrics")
    start_delay_s: Annotated[Number, Field(ge=0)] | None = Field(None, description="mean seconds between submission and start")
    failure_rate: Annotated[Number, Field(ge=0, le=1)] | None = Field(None, description="probability that an attempt fails")


class SageMakerBlock(SageMakerOptions, Overrides):
    """What differs on SageMaker, and that back-end's options."""


class BenchmarkDefinition(Model):
    """What to run and how to judge it; data, no behaviour.

    Relative `source_dir` and dataset paths are made absolute when a definition is loaded from a file.
    """

    name: Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
    description: Text = ""
    script: Text | None = Field(
        None, description="relative to source_dir; left out only where SageMaker runs an image's own program, or an algorithm"
    )
    source_dir: Text = "."
    arguments: dict[str, Scalar] = {}
    space: Space = {}
    valid: tuple[RuleText, ...] = ()
    base_trial: Trial = {}
    trials: tuple[Trial, ...] = ()
    inputs: dict[str, InputChannel] = {}
    datasets: dict[str, Dataset] = {}
    repeats: Positive = 1
    order: Order = "default"
    objectives: Annotated[dict[str, Mode], Field(min_length=1)]
    fidelity: Fidelity | None = None
    n_workers: Positive | None = None
    exclusive: Flag | None = None
    budget: Budget = Budget()
    preload: tuple[Text, ...] = ()
    method: Text | None = None
    methods: dict[str, MethodVariant] = {}
    points_to_evaluate: tuple[Trial, ...] = Field((), description="configurations that methods with a space suggest first")
    local: LocalBlock = LocalBlock()
    simulated: SimulatedBlock = SimulatedBlock()
    sagemaker: SageMakerBlock = SageMakerBlock()
    warm_pool: SageMakerBlock = SageMakerBlock()
    study: Study = Study()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = list(self._contradictions())
        if problems:
            raise ContradictionError(problems)
        return self

    def _contradictions(self) -> Iterator[tuple[KeyPath, str]]:
        if self.trials and self.space:
            yield ("trials",), "give `space` or `trials`, not both"
        if self.base_trial and not self.trials:
            yield ("base_trial",), "needs `trials` that build on it"
        keys = self.configuration_keys
        for key in self.arguments:
            if key in keys:
                yield ("arguments", key), f"{key!r} is both a fixed argument and a key of the configurations; keep one"
        if self.fidelity is not None:
            argument = self.fidelity.argument
            for there, what in ((keys, "a key of the configurations"), (self.arguments, "a fixed argument")):
                if argument in there:
                    yield ("fidelity", "argument"), f"{argument!r} is both the fidelity's argument and {what}; keep one"
        for name, channel in self.inputs.items():
            if channel.dataset is not None and self.datasets and channel.dataset not in self.datasets:
                yield ("inputs", name, "dataset"), f"there is no data set {channel.dataset!r}; known: {', '.join(self.datasets)}"
        for number, text in enumerate(self.valid):
            try:
                parse_rule(text, keys)
            except UserError as error:
                yield ("valid", number), "; ".join(str(error).removeprefix("valid: ").split("\n  "))

    @property
    def configuration_keys(self) -> tuple[str, ...]:
        """The keys of a configuration, in the definition's order."""
        if self.space:
            return tuple(self.space)
        return tuple(dict.fromkeys([*self.base_trial, *(key for trial in self.trials for key in trial)]))

    @property
    def search_space(self) -> SearchSpace:
        """The parsed `space`."""
        return SearchSpace.parse(self.space)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The compiled `valid` expressions."""
        return tuple(parse_rule(text, self.configuration_keys) for text in self.valid)

    @property
    def explicit_configurations(self) -> tuple[dict[str, Scalar], ...]:
        """`trials`, each laid over `base_trial`."""
        return tuple({**self.base_trial, **trial} for trial in self.trials)

    @property
    def primary_objective(self) -> str:
        """The first objective."""
        return next(iter(self.objectives))

    @property
    def is_exclusive(self) -> bool:
        """Whether nothing may run beside a trial: as given, else where an objective is speed (`*_per_s`, `duration_s`) or cost."""
        return (
            self.exclusive
            if self.exclusive is not None
            else any(name in DERIVED_OBJECTIVES or name.endswith("_per_s") for name in self.objectives)
        )
