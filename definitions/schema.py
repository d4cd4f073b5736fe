"""The benchmark definition: frozen data that says what to run and how to judge it. YAML and Python build the same object."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self, TypeVar

from pydantic import ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, ValidationInfo, model_validator

from definitions.blocks import KEEP_FOREIGN, ForeignBlock, details_of, is_contradiction, validated_block
from definitions.command import ArgumentsStyle, Calling, Command, Environment, Script, WorkingDir
from definitions.configuration import OWN_KEYS, OWN_WITH_DATA, instance_count_problem
from definitions.datasets import (
    BytesDataset,
    Caltech256Dataset,
    Dataset,
    FilesystemDataset,
    ImagesDataset,
    PathDataset,
    S3Dataset,
    TableDataset,
)
from definitions.endpoint import EndpointBlock, endpoint_problems, with_instances
from definitions.errors import UserError
from definitions.fidelity import Fidelity, PerJob, Prefix, Progressive
from definitions.fields import Flag, NotNegative, Positive, Preload, Share, Size, Text
from definitions.file_source import FileSource
from definitions.forms import Booleans, Lists
from definitions.metric_files import Read, file_sources
from definitions.metrics import Metrics, MetricSources, sources_of
from definitions.model import Model
from definitions.models import EndpointModels
from definitions.parts import (
    DERIVED_OBJECTIVES,
    OF_REPORTS,
    Arguments,
    Budget,
    CompareWithin,
    ContradictionError,
    InputChannel,
    Keep,
    KeyPath,
    Mode,
    Order,
    Overrides,
    RuleText,
    Space,
    StandsFor,
    Trial,
    is_timed,
)
from definitions.progress import Progress, progress_sources
from definitions.remote import RemoteOptions
from definitions.space import SearchSpace
from definitions.study import Study
from definitions.valid import Rule, parse_rule

__all__ = [
    "DERIVED_OBJECTIVES",
    "KEEP_FOREIGN",
    "BenchmarkDefinition",
    "Budget",
    "BytesDataset",
    "Caltech256Dataset",
    "ContradictionError",
    "Dataset",
    "Fidelity",
    "FilesystemDataset",
    "ForeignBlock",
    "ImagesDataset",
    "InputChannel",
    "Keep",
    "KeyPath",
    "MethodVariant",
    "Mode",
    "Model",
    "Order",
    "Overrides",
    "PathDataset",
    "PerJob",
    "Prefix",
    "Progressive",
    "S3Dataset",
    "Study",
    "TableDataset",
]

_METHOD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,39}")

Block = TypeVar("Block", bound=Overrides)


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


class BenchmarkDefinition(Model):
    """What to run and how to judge it; data, no behaviour.

    Relative `source_dir` and dataset paths are made absolute when a definition is loaded from a file.
    """

    model_config = ConfigDict(frozen=True, extra="allow", protected_namespaces=(), defer_build=True)

    name: Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")]
    description: Text = ""
    script: Script | None = Field(
        None, description="relative to source_dir; left out only where a back-end runs an image's own program, or an algorithm"
    )
    source_dir: Text = "."
    include: tuple[Text, ...] = Field((), description="what travels to remote jobs though it would stay behind: patterns as in .gitignore")
    command: Command | None = Field(None, description="in place of the script alone, with placeholders such as ${arguments} and ${data}")
    arguments_style: ArgumentsStyle = Field("flags", description="how ${arguments} is written; `--key=value` by default")
    booleans: Booleans = Field("value", description="`--flag true`; `--flag` or nothing; `--flag` or `--no-flag`; also by key")
    lists: Lists = Field("words", description="`--hidden 64 32`; `--hidden=64 --hidden=32`; `--hidden=64,32`; also by key")
    rename: dict[str, Text] = Field({}, description="what the script calls a key, e.g. {learning_rate: optim.lr}")
    python: Text | None = Field(None, description="interpreter of Python scripts, e.g. that of a virtual environment")
    working_dir: WorkingDir = Field("job", description="where jobs start on this machine: in a folder of their own, or in source_dir")
    environment: Environment = {}
    metrics: Metrics | None = Field(
        None,
        description="found in what the script prints: a regular expression with one group by name, a library's name, or a list of both",
    )
    progress: Progress | None = Field(None, description="how far the script is, found in what it prints: 'batch {step}/{steps}', or a list")
    read: Read = Field(
        (), description="files that the script writes metrics to: a path, {path, format, level, counts_from, names}, or a list of these"
    )
    seed_argument: Text | None = Field(None, description="told the script, a value of its own for each seed and repeat")
    prepare: Command | None = Field(None, description="run before the script, outside of what is measured")
    cleanup: Command | None = Field(None, description="run after the script, outside of what is measured")
    warmup_runs: NotNegative = Field(0, description="runs of the script before the one that is measured")
    arguments: Arguments = {}
    space: Space = {}
    valid: tuple[RuleText, ...] = ()
    base_trial: Trial = {}
    trials: tuple[Trial, ...] = ()
    inputs: dict[str, InputChannel] = {}
    datasets: dict[str, Dataset] = {}
    models: EndpointModels = {}
    endpoint: EndpointBlock | None = None
    scale: Share = 1.0
    stands_for: StandsFor = {}
    compare_within: CompareWithin = Field(
        {},
        description="keys that are circumstances and no choice, e.g. [dataset]: only configurations of the same value are compared; "
        "or groups of values, {dataset: {small: [a, b], large: [c, d]}}",
    )
    repeats: Positive = 1
    order: Order = "default"
    objectives: Annotated[dict[str, Mode], Field(min_length=1)]
    fidelity: Fidelity | None = None
    n_workers: Positive | None = None
    exclusive: Flag | None = None
    budget: Budget = Budget()
    keep: Keep = Field(
        1,
        description="whose checkpoints and models outlive their trials: a number for so many of the best, `paused` for none but those that "
        "may go on, `none`, `all`; paused ones are kept in any case but `none`",
    )
    log_cap: Size = Field(
        100_000_000, description="bytes of a job's log that are kept, e.g. 100MB: its beginning and its end; reports always"
    )
    preload: Preload = ()
    method: Text | None = None
    methods: dict[str, MethodVariant] = {}
    points_to_evaluate: tuple[Trial, ...] = Field((), description="configurations that methods with a space suggest first")
    warm_start: tuple[Text, ...] = Field((), description="tags of finished runs whose measurements the method is told first")
    reuse: Flag = Field(False, description="take the results of what was measured already, here or in runs of `warm_start`")
    study: Study = Study()
    remote: RemoteOptions = RemoteOptions()

    @model_validator(mode="wrap")
    @classmethod
    def _with_blocks(cls, data: Any, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Validate the blocks by the models of their back-ends, and report their problems beside those of the fields."""
        if not isinstance(data, Mapping):
            return handler(data)
        given, problems = with_instances(data), []
        for name in [key for key in given if key not in cls.model_fields]:
            try:
                given[name] = validated_block(name, given[name], info.context)
            except ValidationError as error:
                problems += details_of(error, (name,))
                given.pop(name)
        try:
            made = handler(given)
        except ValidationError as error:
            # What does not fit together is worth a word only where each part is in order.
            problems = [one for one in details_of(error) if not (problems and is_contradiction(one))] + problems
        else:
            if not problems:
                return made
        raise ValidationError.from_exception_data(cls.__name__, problems)

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
        argument = None if self.fidelity is None else self.fidelity.argument
        if argument is not None:
            for there, what in ((keys, "a key of the configurations"), (self.arguments, "a fixed argument")):
                if argument in there:
                    yield ("fidelity", "argument"), f"{argument!r} is both the fidelity's argument and {what}; keep one"
        for key in self.compare_within:
            if key not in (*keys, *self.arguments):
                yield ("compare_within", key), f"{key!r} is no key of the configurations; there are: {', '.join(keys) or 'none'}"
        if self.seed_argument is not None and self.seed_argument in (*keys, *self.arguments):
            yield ("seed_argument",), f"{self.seed_argument!r} is given a value elsewhere; keep one"
        if self.read and self.program is None:
            yield ("read",), "needs a script or a command: what an image's own program writes is not seen; `metrics` reads what it prints"
        yield from self.calling.problems()
        yield from self._wrong_instance_counts()
        yield from endpoint_problems(self.endpoint, self.models, self._endpoint_values())
        for name in self.methods:
            # It is part of the name of the experiment's folder.
            if not _METHOD.fullmatch(name):
                yield ("methods", name), "a method's name has letters, digits and `_ . + -` (40 at most, the first a letter, digit or _)"
        for name, channel in self.inputs.items():
            if channel.dataset is not None and self.datasets and channel.dataset not in self.datasets:
                yield ("inputs", name, "dataset"), f"there is no data set {channel.dataset!r}; known: {', '.join(self.datasets)}"
        try:
            _ = self.search_space
        except UserError as error:
            yield ("space",), "; ".join(str(error).removeprefix("space: ").removeprefix("space.").split("\n  "))
        for number, text in enumerate(self.valid):
            try:
                parse_rule(text, keys)
            except UserError as error:
                yield ("valid", number), "; ".join(str(error).removeprefix("valid: ").split("\n  "))

    @property
    def blocks(self) -> Mapping[str, Overrides]:
        """The blocks that were given, by the names of their back-ends: what differs there (`Overrides`), and the back-end's options."""
        return self.__pydantic_extra__ or {}

    def block(self, name: str, model: type[Block]) -> Block:
        """Return the block of a back-end; where none is given, one that says nothing.

        Args:
            name: of the back-end.
            model: of its block.

        Raises:
            TypeError: the block is of another model.
        """
        found = self.blocks.get(name)
        if found is None:
            return model()
        if not isinstance(found, model):
            raise TypeError(f"the block of {name} is a {type(found).__name__}, not a {model.__name__}")
        return found

    def _wrong_instance_counts(self) -> Iterator[tuple[KeyPath, str]]:
        key = "instance_count"
        given: list[tuple[KeyPath, Mapping[str, Any]]] = [(("arguments",), self.arguments), (("base_trial",), self.base_trial)]
        given += [(("trials", number), trial) for number, trial in enumerate(self.trials)]
        for path, values in given:
            if key in values and (problem := instance_count_problem(values[key])) is not None:
                yield (*path, key), problem
        with contextlib.suppress(UserError):
            domain = self.search_space.domains.get(key) if self.space else None
            for value in () if domain is None else domain.grid(2):
                if (problem := instance_count_problem(value)) is not None:
                    yield ("space", key), problem

    def _endpoint_values(self) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
        """Yield what configurations say of the endpoint, by the path of each."""
        given = {**self.base_trial}
        yield from ((("trials", number), {**given, **trial}) for number, trial in enumerate(self.trials))
        with contextlib.suppress(UserError):
            domains = self.search_space.domains if self.space else {}
            yield from ((("space", key), {key: value}) for key, domain in domains.items() for value in domain.grid(2))

    @property
    def configuration_keys(self) -> tuple[str, ...]:
        """The keys of a configuration, in the definition's order."""
        if self.space:
            return tuple(self.space)
        return tuple(dict.fromkeys([*self.base_trial, *(key for trial in self.trials for key in trial)]))

    @property
    def own_keys(self) -> tuple[str, ...]:
        """The keys of configurations and arguments that are ours; all others are the script's.

        `dataset` and `ingestion` are ours only where there are `datasets` or `inputs`.
        """
        return (*OWN_KEYS, *OWN_WITH_DATA) if self.datasets or self.inputs else OWN_KEYS

    @property
    def calling(self) -> Calling:
        """How the script is called."""
        given = [*self.arguments, *self.configuration_keys]
        added = [self.fidelity.argument if self.fidelity is not None else None, self.seed_argument]
        ours = self.own_keys
        return Calling(
            self.command,
            self.arguments_style,
            self.booleans,
            self.lists,
            self.rename,
            self.environment,
            keys=tuple(dict.fromkeys([*(key for key in given if key not in ours), *(name for name in added if name is not None)])),
            own_keys=ours,
            channels=tuple(dict.fromkeys([*self.inputs, *(["train"] if self.datasets else [])])),
            others={name: words for name, words in (("prepare", self.prepare), ("cleanup", self.cleanup)) if words},
            paths=tuple(file.path for file in self.read),
        )

    @property
    def program(self) -> str | None:
        """What jobs run: the script, or the first word of the command; None where it is an image's own program."""
        return self.command[0] if self.command is not None else self.script

    @property
    def is_silent(self) -> bool:
        """Whether all objectives are measured by Outrider itself, so that a script need not report anything."""
        return all(name in DERIVED_OBJECTIVES and name not in OF_REPORTS for name in self.objectives)

    @property
    def search_space(self) -> SearchSpace:
        """The parsed `space`."""
        return SearchSpace.parse(self.space)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The compiled `valid` expressions."""
        return tuple(parse_rule(text, self.configuration_keys) for text in self.valid)

    @property
    def metric_sources(self) -> MetricSources:
        """Where metrics and progress are found in what the script prints."""
        from_zero = self.fidelity.from_zero if isinstance(self.fidelity, Progressive) else None
        return sources_of(self.metrics, self._level, self._reported_objectives, progress_sources(self.progress, self.fidelity), from_zero)

    def metric_files(self, paths: Sequence[str]) -> tuple[FileSource, ...]:
        """Return what metrics are read from.

        Args:
            paths: of the files of `read`, with a job's own values filled in.
        """
        first = 0 if isinstance(self.fidelity, Progressive) and self.fidelity.counts_from == 0 else 1
        return file_sources(self.read, paths, self._level, self._reported_objectives, self.calling.keys, first)

    @property
    def _level(self) -> str | None:
        return self.fidelity.reported_as if isinstance(self.fidelity, Progressive) else None

    @property
    def _reported_objectives(self) -> list[str]:
        return [name for name in self.objectives if name not in DERIVED_OBJECTIVES]

    @property
    def explicit_configurations(self) -> tuple[dict[str, Any], ...]:
        """`trials`, each laid over `base_trial`."""
        return tuple({**self.base_trial, **trial} for trial in self.trials)

    @property
    def primary_objective(self) -> str:
        """The first objective."""
        return next(iter(self.objectives))

    @property
    def is_exclusive(self) -> bool:
        """Whether nothing may run beside a trial: as given, else with an endpoint, or where an objective is speed (`*_per_s`) or cost."""
        return self.exclusive if self.exclusive is not None else self.endpoint is not None or any(map(is_timed, self.objectives))
