"""How to go on after a run that ended early: one line to paste."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.common.hints import says_called_wrongly
from backends.failures import Cause
from benchmarking.controller.ending import Reason
from launch.outcome import gravest

if TYPE_CHECKING:
    from benchmarking.experiment import ExperimentResult
    from benchmarking.studies.record import StudyRecord
    from launch.experiment_outcome import ExperimentOutcome

NOT_RUN = ("refused", "denied", "in use", "fault", "killed")
"""Reasons of experiments that this command did not bring to an end."""

_CHECK = "--check_script finds that before trials are spent"
_OF_THE_DEFINITION = ("mend that in the definition", "'too short: ", "`command: [", "`working_dir: source`")
"""What messages of failures say where the definition is at fault."""
_BUDGETS = (Reason.FAILURES, Reason.TIME, Reason.COST)


def hint_for(outcomes: Sequence[ExperimentOutcome], resume: str, study: StudyRecord | None = None) -> str:
    """Return how to go on after the gravest early end; empty where there is nothing to go on with.

    Args:
        outcomes: what came of the experiments, at least one.
        resume: the command that resumes.
        study: that they belong to; None for a single experiment.
    """
    code = gravest([one.exit_code for one in outcomes])
    ended_so = [one for one in outcomes if one.exit_code == code]
    if any(one.reason in NOT_RUN for one in ended_so):
        return f"once that is mended, resume with: {resume}"
    ran = [one.result for one in ended_so if one.result is not None]
    if not ran:
        return ""
    ended = next((result for result in ran if result.ending.reason in _BUDGETS), ran[0])
    reason, more = ended.ending.reason, _more(ran, resume, study)
    match reason:
        case Reason.ALIKE | Reason.NONE_SUCCEEDED:
            return _mend([one.result for one in outcomes if one.result is not None])
        case Reason.FAILURES:
            if is_called_wrongly([ended]):
                return f"mend the definition and start anew ({_CHECK}); or go on in spite of the failures with: {more.command}"
            return f"mend the script and start anew; or go on in spite of the failures with: {more.command}"
        case Reason.INTERRUPTED | Reason.ALONE:
            return f"resume with: {resume}"
        case Reason.DISK_FULL:
            return f"make room, then resume with: {resume}"
        case Reason.COST if not ended.state.trials:
            return f"a trial may cost more than that; `{resume} --dry_run` says how much, then resume with as much: {resume} --max_cost USD"
        case Reason.TIME | Reason.COST if more.counts:
            return more.sentence
        case Reason.TRIALS if code:
            return more.sentence
    return f"some trials failed as the definition tells the script what it does not take; {_CHECK}" if is_called_wrongly(ran) else ""


def is_called_wrongly(results: Iterable[ExperimentResult]) -> bool:
    """Return whether a trial failed since its script was told what it does not take."""
    return any(says_called_wrongly(trial.message) for result in results for trial in result.state.trials.values())


def _mend(results: Sequence[ExperimentResult]) -> str:
    """Return what to do where nothing succeeded: what is said to a script is mended in the definition, all else in the script."""
    causes = {trial.cause for result in results for trial in result.state.trials.values()}
    if causes == {Cause.OUT_OF_MEMORY}:
        return "search smaller settings or larger machines, then start anew with another tag"
    if is_called_wrongly(results):
        return f"mend the definition, then start anew with another tag; {_CHECK}"
    messages = [trial.message for result in results for trial in result.state.trials.values()]
    if any(words in message for message in messages for words in _OF_THE_DEFINITION):
        return "mend the definition, then start anew with another tag"
    return "mend the script, then start anew with another tag"


@dataclass(frozen=True)
class _More:
    """How to go on with larger limits.

    Args:
        command: that raises each limit by which an experiment ended.
        counts: experiments by the limit that ended them.
    """

    command: str
    counts: Mapping[Reason, int]

    @property
    def sentence(self) -> str:
        """What to do; where several limits ended experiments, how many each did: raising one alone leaves the others where they are."""
        who = [f"{count} by {reason}" for reason, count in self.counts.items()]
        ended = f"experiments ended {', '.join(who)}; " if len(who) > 1 else ""
        return f"{ended}resume with more: {self.command}"


def _more(ran: Sequence[ExperimentResult], resume: str, study: StudyRecord | None) -> _More:
    larger: dict[Reason, float] = {}
    counts: Counter[Reason] = Counter()
    for result in ran:
        reason, limit = result.ending.reason, _larger(result, study)
        if limit is not None:
            larger[reason] = max(limit, larger.get(reason, 0.0))
            counts[reason] += 1
    return _More(" ".join([resume, *(f"--{reason} {limit:g}" for reason, limit in larger.items())]), counts)


def _larger(result: ExperimentResult, study: StudyRecord | None) -> float | None:
    """Return twice the limit that ended an experiment, which is beyond what was used of it; of its share, twice what all have."""
    budget, reason = result.spec.definition.budget, result.ending.reason
    if reason is Reason.FAILURES:
        return result.state.counted_failures + max(1, budget.max_failures)
    limit = getattr(budget, str(reason), None)
    if reason is Reason.COST and study is not None and study.flags.max_cost is not None:
        limit = study.flags.max_cost
    return None if limit is None else 2 * limit
