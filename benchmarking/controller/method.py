"""The method interface (Syne Tune's `TrialScheduler`, without its import). Every method implements it; the adapter alone calls it."""

from __future__ import annotations

import abc
import enum
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from benchmarking.controller.method_arguments import Argument
from benchmarking.controller.progress_curve import ProgressCurve
from definitions.instances import Options, no_options
from definitions.made_at_once import made_at_once
from definitions.schema import Fidelity, Mode
from definitions.space import SearchSpace
from definitions.trial import TrialSpec
from definitions.valid import Rule

MOST_PLANNED = 20_000
"""Suggestions that are listed before a run, to say what it costs at most."""


class Decision(enum.StrEnum):
    """What a method wants done with a trial that has just reported."""

    CONTINUE = "CONTINUE"
    STOP = "STOP"
    PAUSE = "PAUSE"


@made_at_once
@dataclass(frozen=True)
class Suggestion:
    """What to evaluate next.

    Args:
        configuration: the point of the search space.
        level: level of a per-job fidelity to run at; None for the full job.
        repeat: number of the measurement, where the method counts repeats itself; the definition's repeats follow it.
        resume: id of a paused evaluation to go on with; None for a new one.
        checkpoint_from: id of an evaluation whose checkpoint the new one starts from; None to start afresh.
        prefix_s: most seconds that it runs where it is a prefix of the full job, which `on_progress` stops; None to run to its end.
    """

    configuration: Mapping[str, Any]
    level: float | None = None
    repeat: int = 0
    resume: int | None = None
    checkpoint_from: int | None = None
    prefix_s: float | None = None

    @property
    def trial(self) -> TrialSpec:
        """What its first trial runs."""
        return TrialSpec(self.configuration, self.level, self.repeat, self.prefix_s)


@made_at_once
@dataclass(frozen=True)
class Evaluation:
    """A suggestion that runs, by its id; the method hears of its repeated measurements as one.

    Args:
        id: number of the evaluation, from 0, in the order in which they were suggested.
        configuration: the point of the search space.
        level: level of a per-job fidelity that the method chose; None for the full job.
        repeat: number of the measurement, where the method counts repeats itself.
        prefix_s: most seconds that it runs where it is a prefix of the full job; None where it runs to its end.
    """

    id: int
    configuration: Mapping[str, Any]
    level: float | None = None
    repeat: int = 0
    prefix_s: float | None = None


@dataclass(frozen=True)
class PastEvaluation:
    """A configuration that an earlier experiment measured.

    Args:
        configuration: the point of the present search space.
        results: what it reported, in the order of its levels, each as `Method.on_trial_result` has it; empty where there are no levels.
        final: its objectives at the end of the full job; None where it did not get there.
    """

    configuration: Mapping[str, Any]
    results: Sequence[Mapping[str, Any]] = ()
    final: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class MethodContext:
    """What a method is built from.

    Args:
        space: the search space; None where the definition lists its trials.
        configurations: the listed configurations, empty where there is a space.
        objectives: name -> `min` or `max`, the primary one first.
        fidelity: the benchmark's fidelity; None where it has none.
        seed: the experiment's seed; the same for every method of a study.
        arguments: the method's own arguments, by name; where it declares any, all of them are there, checked.
        repeats: measurements of each configuration that the definition asks for.
        rules: the definition's `valid` expressions, so that a method need not suggest what they rule out.
        fixed: the definition's fixed arguments, and the back-end's usual instance type where they name none, for methods that reason
            about what jobs cost and need.
        region: whose prices count, for those methods; `options`: of back-ends, some of which have prices there.
    """

    space: SearchSpace | None
    configurations: tuple[Mapping[str, Any], ...]
    objectives: Mapping[str, Mode]
    fidelity: Fidelity | None
    seed: int
    arguments: Mapping[str, Any] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    repeats: int = 1
    fixed: Mapping[str, Any] = field(default_factory=dict)
    region: str = field(kw_only=True)
    options: Options = field(default=no_options, compare=False)


def allow(configuration: Mapping[str, Any]) -> str | None:
    """Return None: nothing speaks against a configuration as long as nobody says what does."""
    return None


class Method(abc.ABC):
    """A scheduler: suggests evaluations, hears of their results, decides who goes on.

    A method is deterministic given its context and the sequence of calls: it draws from generators seeded by the context alone.
    It is called by one thread. A result holds the primary objective, every other one that was reported (finite numbers, as
    reported) and, for a progressive fidelity, the level under its `reported_as` name.
    """

    arguments: ClassVar[Mapping[str, Argument] | None] = None
    """The arguments it takes, by name; None where it does not say, so that they are handed over unchecked."""

    name: str = ""
    """What the user calls it; set when it is built."""

    about: str = ""
    """What it is after, in a line that is said before it starts; empty where its name says it all."""

    independent: bool = False
    """Whether suggestions depend on no result, so that they may be asked for ahead of time."""

    finite: bool = False
    """Whether `suggest` comes to an end that the user asked to reach (a list, a grid), so that stopping earlier is no success."""

    hears_levels: bool = True
    """Whether it gets results below the full fidelity, and decides about them."""

    measures_repeats: bool = False
    """Whether it counts repeats itself, so that the definition's are not laid over them."""

    needs_checkpoints: bool = False
    """Whether it pauses evaluations or starts them from others' checkpoints."""

    copies_checkpoints: bool = False
    """Whether it may start an evaluation from the checkpoint of another, also of one that is over."""

    replays_without_asking: bool = False
    """Whether on resume it need but hear of recorded suggestions (`on_suggestion`), not make them again."""

    refuse: Callable[[Mapping[str, Any]], str | None] = staticmethod(allow)
    """Says why a configuration cannot run, or None where it can; set before the first call."""

    learns: bool = False
    """Whether it makes use of what earlier experiments measured (`learn`)."""

    def learn(self, past: Sequence[PastEvaluation]) -> None:  # noqa: B027
        """Hear, before the first suggestion, of what earlier experiments measured; none of it counts as an evaluation of this one."""

    @abc.abstractmethod
    def suggest(self) -> Suggestion | None:
        """Return the next evaluation, or None when nothing is left to suggest."""

    def ready(self) -> bool:
        """Return whether `suggest` has an answer at once; where not, it is asked again when something has happened."""
        return True

    def plan(self) -> Sequence[Suggestion] | None:
        """Return all that it may suggest; None where that depends on results, is endless, or more than `MOST_PLANNED`.

        Nothing can be asked of the method afterwards, as its suggestions are made.
        """
        if not self.independent:
            return None
        found = list(itertools.islice(iter(self.suggest, None), MOST_PLANNED + 1))
        return found if len(found) <= MOST_PLANNED else None

    def conclude(self) -> tuple[bool, str] | None:
        """Return whether what it was to decide is decided, and in words what, when nothing is left to suggest; None for most."""
        return None

    def resume_only(self) -> Suggestion | None:
        """Return a paused evaluation to go on with, or None; asked instead of `suggest` where no new trial may start."""
        return None

    def on_suggestion(self, suggestion: Suggestion | None, skipped: int) -> None:  # noqa: B027
        """Hear of a recorded suggestion, which counts as made; `skipped` ones before it were refused."""

    def on_trial_add(self, evaluation: Evaluation) -> None:  # noqa: B027 - a method that learns nothing overrides nothing
        """Hear that a suggestion became an evaluation."""

    def on_trial_result(self, evaluation: Evaluation, result: Mapping[str, Any]) -> Decision:
        """Hear of a result and decide about the evaluation."""
        return Decision.CONTINUE

    def on_progress(self, evaluation: Evaluation, progress: ProgressCurve) -> Decision:
        """Hear how far a prefix of the full job is, and decide whether that is enough: one that is stopped counts as complete.

        Of a prefix, and of a job at a level of a per-job fidelity, it also hears all that was said, right before `on_trial_complete`.
        Then nothing comes of the answer.
        """
        return Decision.CONTINUE

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, Any]) -> None:  # noqa: B027
        """Hear that an evaluation ran to its end."""

    def on_trial_error(self, evaluation: Evaluation) -> None:  # noqa: B027
        """Hear that an evaluation failed and will not be retried."""

    def on_trial_remove(self, evaluation: Evaluation) -> None:  # noqa: B027
        """Hear that an evaluation was stopped or paused by this method's decision."""

    def start_worker(self, wake: Callable[[], None]) -> None:  # noqa: B027
        """Compute slow suggestions in another process from now on, and call `wake` (from any thread) when `ready` turns true by it."""

    @property
    def is_computing(self) -> bool:
        """Whether another process is at work on the next suggestion."""
        return False

    def close(self) -> None:  # noqa: B027
        """End what `start_worker` began."""
