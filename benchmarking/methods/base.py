"""The method interface (Syne Tune's `TrialScheduler`, without its import). Every method implements it; the adapter alone calls it."""

from __future__ import annotations

import abc
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from definitions.schema import Fidelity, Mode
from definitions.space import SearchSpace


class Decision(enum.StrEnum):
    """What a method wants done with a trial that has just reported."""

    CONTINUE = "CONTINUE"
    STOP = "STOP"
    PAUSE = "PAUSE"


@dataclass(frozen=True)
class Suggestion:
    """What to evaluate next.

    Args:
        configuration: the point of the search space.
        resume: id of a paused evaluation to go on with; None for a new one.
        checkpoint_from: id of an evaluation whose checkpoint the new one starts from; None to start afresh.
    """

    configuration: Mapping[str, Any]
    resume: int | None = None
    checkpoint_from: int | None = None


@dataclass(frozen=True)
class Evaluation:
    """What a method calls a trial: a configuration with an id; repeated measurements of it are folded into one."""

    trial_id: int
    config: Mapping[str, Any]


@dataclass(frozen=True)
class MethodContext:
    """What a method is built from.

    Args:
        space: the search space; None where the definition lists its trials.
        configurations: the listed configurations, empty where there is a space.
        objectives: name -> `min` or `max`, the primary one first.
        fidelity: the benchmark's fidelity; None where it has none.
        seed: the experiment's seed; the same for every method of a study.
        arguments: the method's own arguments, by name.
    """

    space: SearchSpace | None
    configurations: tuple[Mapping[str, Any], ...]
    objectives: Mapping[str, Mode]
    fidelity: Fidelity | None
    seed: int
    arguments: Mapping[str, Any] = field(default_factory=dict)


class Method(abc.ABC):
    """A scheduler: suggests evaluations, hears of their results, decides who goes on.

    A method is deterministic given its context and the sequence of calls: it draws from generators seeded by the context alone.
    It is called by one thread. Results hold exactly the objectives (finite numbers, as reported) and, for a progressive
    fidelity, the level under its `reported_as` name.
    """

    independent: bool = False
    """Whether suggestions depend on no result, so that they may be asked for ahead of time."""

    finite: bool = False
    """Whether `suggest` comes to an end that the user asked to reach (a list, a grid), so that stopping earlier is no success."""

    hears_levels: bool = True
    """Whether it is told of results below the full fidelity, and decides about them."""

    @abc.abstractmethod
    def suggest(self) -> Suggestion | None:
        """Return the next evaluation, or None when nothing is left to suggest."""

    def on_trial_add(self, trial: Evaluation) -> None:  # noqa: B027 - a method that learns nothing overrides nothing
        """Hear that a suggestion became an evaluation."""

    def on_trial_result(self, trial: Evaluation, result: Mapping[str, Any]) -> Decision:
        """Hear of a result and decide about the evaluation."""
        return Decision.CONTINUE

    def on_trial_complete(self, trial: Evaluation, result: Mapping[str, Any]) -> None:  # noqa: B027
        """Hear that an evaluation ran to its end."""

    def on_trial_error(self, trial: Evaluation) -> None:  # noqa: B027
        """Hear that an evaluation failed and will not be retried."""

    def on_trial_remove(self, trial: Evaluation) -> None:  # noqa: B027
        """Hear that an evaluation was stopped or paused by this method's decision."""
