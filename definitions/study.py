"""What a study is asked to be: the `study:` block of a definition, or a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from definitions.errors import did_you_mean
from definitions.fields import Dollars, Flag, NotNegative, Number, Positive, Text
from definitions.model import Model
from definitions.quantities import parse_share
from definitions.remote import RemoteOptions
from definitions.written import WrittenInt

StudyOrder = Literal["seeds", "methods"]
Shares = Literal["equal", "first_come"]


def _check_share(value: Any) -> Any:
    parse_share(value)
    return value


def _check_parallel(value: Any) -> Any:
    if value != "auto" and (type(value) not in (int, WrittenInt) or value < 1):
        raise ValueError(f"needs a whole number from 1 up, or auto; {value!r} was given")
    return value


Names = Annotated[
    tuple[Text, ...],
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Parallel = Annotated[
    Any, AfterValidator(_check_parallel), WithJsonSchema({"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"const": "auto"}]})
]
Share = Annotated[Any, AfterValidator(_check_share), WithJsonSchema({"type": ["number", "string"]})]


class ComparisonOptions(Model):
    """How the methods of a study are compared at its end, as the flags of `outrider compare`."""

    objective: Text | None = Field(None, description="which objective; default: each benchmark's first")
    baseline: Text | None = Field(None, description="method that the others are compared with; default RS, else the first")
    by: Names = Field((), description="what is compared; default: methods")
    facet_by: Names = Field((), description="a comparison for each value of these")
    x: Literal["wallclock", "trials", "cost", "level"] | None = Field(None, description="on which axis budgets are equal")
    at: Number | None = Field(None, description="the budget on that axis; default: the largest that all have reached")
    levels: Literal["any", "full"] | None = Field(None, description="whether results below the full fidelity count; default full")
    aggregate: Literal["iqm", "mean", "median"] | None = Field(None, description="of a method's seeds; default mean")
    threshold: Share | None = Field(None, description="least lead that matters; default 1%")
    expect_seeds: Positive | None = Field(None, description="seeds that each method should have; with fewer the exit code is 3")


class Study(Model):
    """Which methods are compared over how many seeds, and how; `outrider run --study` goes by it, and flags win over it."""

    methods: tuple[Text, ...] = Field((), description="names of methods; default: each benchmark's own")
    seeds: Positive = Field(8, description="repetitions of each search")
    start_seed: NotNegative | None = Field(None, description="number of the first seed; default 0")
    backend: Text | None = Field(None, description="where trials run; default local")
    set: dict[str, Any] | None = Field(
        None, description="keys of the definitions, as with `--set`: a value, a list of values to sweep, a domain"
    )
    parallel: Parallel | None = Field(None, description="experiments at once; default 1")
    order: StudyOrder | None = Field(None, description="which experiments come first: seed by seed (default), or method by method")
    max_cost: Dollars | None = Field(None, description="dollars for all experiments together")
    shares: Shares | None = Field(
        None, description="of max_cost: an equal one for each experiment (default), or whoever runs first spends it"
    )
    shared_start: NotNegative | None = Field(
        None, description="configurations that all methods of a seed begin with alike: the first that RS draws; default 0"
    )
    skip_unfit: Flag | None = Field(
        None, description="whether pairs of benchmark and method that cannot be are left out; default: nothing starts"
    )
    compare: ComparisonOptions | None = Field(None, description="options of the comparison at the end")

    def problems(
        self, methods: Sequence[str], objectives: Sequence[str], backends: Sequence[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield what it names and there is not: the path of its key, and what is wrong there.

        Args:
            methods: names of all methods, variants included.
            objectives: names of those of its benchmarks.
            backends: names of all back-ends.
        """
        for number, name in enumerate(self.methods):
            if name in self.methods[:number]:
                yield ("methods", number), f"{name!r} is named twice; each method and seed runs once"
            elif name not in methods:
                yield ("methods", number), f"there is no method {name!r}; {did_you_mean(name, list(methods))}"
        if self.backend is not None and self.backend not in backends:
            yield ("backend",), f"there is no back-end {self.backend!r}; {did_you_mean(self.backend, list(backends))}"
        asked = self.compare or ComparisonOptions()
        if asked.objective is not None and asked.objective not in objectives:
            near = did_you_mean(asked.objective, list(objectives))
            yield ("compare", "objective"), f"there is no objective {asked.objective!r}; {near}"
        if asked.baseline is not None and asked.by in ((), ("method",)) and self.methods and asked.baseline not in self.methods:
            near = did_you_mean(asked.baseline, list(self.methods))
            yield ("compare", "baseline"), f"{asked.baseline!r} is no method of the study; {near}"


class StudyFile(Study):
    """A study of its own: a file for `outrider run --study FILE.yaml`."""

    benchmarks: tuple[Text, ...] = Field((), description="names of benchmarks, or paths of their files, relative to this one")
    remote: RemoteOptions = Field(RemoteOptions(), description="the jobs that run it with `outrider launch`; wins over the benchmarks' own")
