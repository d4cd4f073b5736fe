"""What a study is, as data, and how study.json says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from definitions import strict_json
from definitions.errors import UserError
from definitions.study import Shares, StudyOrder

SCHEMA_VERSION = 1
"""Of study.json."""

Pair = tuple[str, str]
"""Names of a benchmark and of a method."""


@dataclass(frozen=True)
class StudyFlags:
    """What holds for all experiments of a study.

    Args:
        backend: where their trials run.
        random_seed: master seed that all seeds are derived from.
        method_args: arguments for the methods, over those of variants.
        max_cost: dollars for all experiments together; None where each benchmark has its own limit, or none.
        order: `seeds`: seed by seed, and within one in an order drawn by it; `methods`: method by method.
        shares: `equal`: each experiment has its part of the money; `first_come`: whoever runs first spends it.
        skip_unfit: whether pairs of benchmark and method that cannot be are left out.
        compare: options of the comparison at its end, by the names of its flags.
        parallel: how many of its experiments run at once, or `auto`; None for one after the other.
    """

    backend: str
    random_seed: int = 0
    method_args: Mapping[str, Any] = field(default_factory=dict)
    max_cost: float | None = None
    order: StudyOrder = "seeds"
    shares: Shares = "equal"
    skip_unfit: bool = False
    compare: Mapping[str, Any] = field(default_factory=dict)
    parallel: int | str | None = None


@dataclass(frozen=True)
class PlannedExperiment:
    """One experiment of a study, begun or not.

    Args:
        benchmark, method, number: what it is; `number` is that of its seed.
        seed: that its method gets.
        hash: of everything that determines its results, as experiment.json has it.
        hears_levels, repeats: as in `ExperimentSpec`.
        share_usd: dollars that it may spend; None where it shares a limit first come, or has none.
    """

    benchmark: str
    method: str
    number: int
    seed: int
    hash: str
    hears_levels: bool
    repeats: int
    share_usd: float | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from the others of its study."""
        return self.benchmark, self.method, self.number


@dataclass(frozen=True)
class Look:
    """Somebody saw a comparison.

    Args:
        at: when, UTC.
        experiments: how many the study had then.
    """

    at: str
    experiments: int


@dataclass(frozen=True)
class StudyRecord:
    """A study.

    Args:
        flags: what holds for all of it.
        definitions: benchmark -> its definition as YAML, resolved for the back-end.
        experiments: in the order in which they run.
        left_out: pairs that cannot be, and why.
        looks: comparisons that somebody saw.
    """

    flags: StudyFlags
    definitions: Mapping[str, str]
    experiments: tuple[PlannedExperiment, ...]
    left_out: Mapping[Pair, str] = field(default_factory=dict)
    looks: tuple[Look, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its seeds."""
        return tuple(sorted({one.number for one in self.experiments}))

    @property
    def methods(self) -> Mapping[str, tuple[str, ...]]:
        """The methods of each benchmark."""
        return {name: tuple(dict.fromkeys(one.method for one in self.experiments if one.benchmark == name)) for name in self.definitions}

    @property
    def looks_before_extension(self) -> int:
        """How often a comparison was seen before the study was extended."""
        return len({look.experiments for look in self.looks if look.experiments < len(self.experiments)})

    def looked_at(self, at: str) -> StudyRecord:
        """Return the study with one look more; a second one at the same experiments tells nothing new."""
        if any(look.experiments == len(self.experiments) for look in self.looks):
            return self
        return replace(self, looks=(*self.looks, Look(at, len(self.experiments))))


def as_json(study: StudyRecord) -> str:
    """Return the text of study.json."""
    experiments = [{**asdict(one), "backend": study.flags.backend, "order": place} for place, one in enumerate(study.experiments)]
    found = {
        "schema_version": SCHEMA_VERSION,
        "flags": {**asdict(study.flags)},
        "experiments": experiments,
        "left_out": [{"benchmark": name, "method": method, "why": why} for (name, method), why in study.left_out.items()],
        "looks": [asdict(look) for look in study.looks],
        "definitions": dict(study.definitions),
    }
    return strict_json.dumps(found) + "\n"


def from_json(text: str, name: str) -> StudyRecord:
    """Return the study that the text of a study.json says.

    Args:
        text: of the file.
        name: of the file, for messages.

    Raises:
        UserError: it is damaged, or of a version that this Outrider does not read.
    """
    advice = "take it from a copy of the folder; or delete it, to go on with those experiments that have a folder"
    try:
        data = strict_json.loads(text)
    except ValueError as error:
        raise UserError(f"{name} is damaged", str(error), advice) from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise UserError(
            f"{name} has {'no version' if version is None else f'version {version}'}",
            f"this Outrider reads version {SCHEMA_VERSION}; nothing was changed",
            "use the Outrider that wrote it or a later one, or another tag",
        )
    try:
        known = StudyFlags.__dataclass_fields__
        flags = StudyFlags(**{key: value for key, value in data["flags"].items() if key in known})
        return StudyRecord(
            flags,
            {str(key): str(value) for key, value in data["definitions"].items()},
            tuple(_experiment(one) for one in sorted(data["experiments"], key=lambda one: int(one["order"]))),
            {(one["benchmark"], one["method"]): one["why"] for one in data["left_out"]},
            tuple(Look(one["at"], int(one["experiments"])) for one in data["looks"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{name} is damaged", f"{type(error).__name__}: {error}", advice) from error


def _experiment(one: Mapping[str, Any]) -> PlannedExperiment:
    return PlannedExperiment(**{key: one[key] for key in PlannedExperiment.__dataclass_fields__})


def titles(experiments: Sequence[PlannedExperiment], most: int = 5) -> str:
    """Return what some experiments are called, the first of many."""
    names = [f"{one.benchmark} x {one.method} x seed {one.number}" for one in experiments[:most]]
    return ", ".join(names) + (f" and {len(experiments) - most} more" if len(experiments) > most else "")
