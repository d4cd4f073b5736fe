"""The loop over the experiments of a command: one after the other, and what came of each."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.failures import signature
from benchmarking.archive.code_version import check_code
from benchmarking.archive.dollars import kind_of_dollars
from benchmarking.archive.folder import discard_unstarted, prepare_folder
from benchmarking.archive.folder_lock import FolderInUseError, locked
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import load
from benchmarking.controller.ending import Ending, Reason
from benchmarking.controller.interfaces import Wallet
from benchmarking.controller.tuner import Tuner
from benchmarking.experiment import ExperimentResult, Surroundings, run_experiment
from benchmarking.results import collate
from benchmarking.studies.failing_alike import EndedExperiment, failing_alike
from benchmarking.studies.files import changing, discard_study, read_study, write_study
from benchmarking.studies.standing import final_ending, spent_usd
from definitions.errors import EXIT_DONE, EXIT_FAILURES, EXIT_FAULT, EXIT_USAGE, OutriderError, UserError
from definitions.program import command
from launch.emulated import MARK
from launch.parser import default_results_dir
from launch.planning import Planned, plan
from launch.progress import Progress
from launch.request import RunRequest
from launch.signals import winding_down

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExperimentOutcome:
    """What came of one experiment.

    Args:
        spec: the experiment.
        exit_code: as a command that runs it alone would have.
        reason: of its ending; `refused`, `in use`, `fault`, or `not begun`.
        cause: in a sentence.
        failure: what its failures have in common, where nothing was measured; else empty.
        result: what it came to; None where it was not run by this process.
    """

    spec: ExperimentSpec
    exit_code: int
    reason: str
    cause: str
    failure: str = ""
    result: ExperimentResult | None = None

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to say of it but its results."""
        return self.exit_code == EXIT_DONE


def execute(planned: Planned, request: RunRequest, progress: Progress) -> list[ExperimentOutcome]:
    """Run the experiments in order, up to one that is interrupted; return what came of each.

    In a study one that is refused, fails or is run by another process does not end the others.

    Raises:
        UserError: a single experiment is refused, which leaves nothing; or a study that cannot be begun.
    """
    if planned.study is None:
        return _execute_alone(planned.specs, request, progress)
    with changing(planned.tag_folder):
        if read_study(planned.tag_folder) != planned.before:
            # Another process has written meanwhile: what is asked for is laid over what there is now.
            planned = plan(request if request.resume else dataclasses.replace(request, experiment_tag=planned.specs[0].tag))
        assert planned.study is not None
        if planned.study != planned.before:
            write_study(planned.tag_folder, planned.study)
    for note in planned.notes:
        progress.say(note)
    _check_code(planned.specs, accepted=request.accept_changes)
    outcomes = [*_run_all(planned, request, progress)]
    if planned.before is None and all(one.reason == "refused" for one in outcomes):
        discard_study(planned.tag_folder)
    else:
        _collate(planned.tag_folder, progress)
    return outcomes


def with_results(outcomes: Sequence[ExperimentOutcome]) -> list[ExperimentOutcome]:
    """Return the outcomes with the results of what other processes, or earlier commands, have run, read from the folders."""
    return [one if one.result is not None else dataclasses.replace(one, result=_stored_result(one)) for one in outcomes]


def _stored_result(outcome: ExperimentOutcome) -> ExperimentResult | None:
    if not (outcome.spec.folder / "experiment.json").is_file():
        return None
    stored = load(outcome.spec.folder)
    if not stored.is_started:
        return None
    with stored.journal() as journal:
        state = stored.state(journal)
    ended = state.ended
    ending = Ending(Reason.INTERRUPTED, outcome.cause, outcome.exit_code)
    if ended is not None and ended["reason"] in {*Reason}:
        ending = Ending(Reason(ended["reason"]), str(ended["message"]), int(ended["exit_code"]))
    label = kind_of_dollars(stored.folder, stored.spec.backend)
    return ExperimentResult(outcome.spec, ending, state, "" if label == "real" else label, stored.region)


def _execute_alone(specs: Sequence[ExperimentSpec], request: RunRequest, progress: Progress) -> list[ExperimentOutcome]:
    """Run experiments that are no study: the first error ends them, and what never began leaves nothing."""
    created = [spec for spec in specs if not spec.folder.exists()]
    purse = _Purse(specs)
    outcomes: list[ExperimentOutcome] = []
    try:
        for spec in specs:
            with locked(spec.folder):
                prepare_folder(spec, os.environ, accept_changes=request.accept_changes)
        for spec in specs:
            outcomes.append(_outcome(run_one(spec, request, progress, purse.wallet_of(spec))))
            purse.take_in(outcomes[-1])
            if _ends_all(outcomes[-1]):
                break
    except OutriderError:
        _discard(created)
        raise
    _collate(specs[0].folder.parent.parent, progress)
    return outcomes


def _run_all(planned: Planned, request: RunRequest, progress: Progress) -> Iterator[ExperimentOutcome]:
    """Run the experiments of a study that are not over, and yield what came of each, also of those that were over before."""
    assert planned.study is not None
    methods, ended = planned.study.methods, list[EndedExperiment]()
    purse = _Purse(planned.specs) if planned.study.flags.shares == "first_come" else None
    stopped: dict[str, str] = {}
    for place, spec in enumerate(planned.specs, 1):
        name = spec.definition.name
        found = final_ending(spec.folder, spec.definition.budget)
        if found is not None:
            outcome = ExperimentOutcome(spec, found.exit_code, str(found.reason), found.message)
        elif name in stopped:
            outcome = ExperimentOutcome(spec, EXIT_FAILURES, "not begun", stopped[name])
        else:
            wallet = Wallet() if purse is None else purse.wallet_of(spec)
            outcome = attempt(spec, request, progress, wallet, place=f"{place} of {len(planned.specs)}")
            if purse is not None:
                purse.take_in(outcome)
            if outcome.result is not None:
                ended.append(EndedExperiment(name, spec.method, outcome.failure))
            alike = failing_alike(ended, name, len(methods[name]))
            if alike is not None:
                stopped[name] = f"the first {len(ended)} experiments of {name} fail alike ({alike}): it is the script"
                progress.say(stopped[name])
        yield outcome
        if _ends_all(outcome):
            return


def attempt(spec: ExperimentSpec, request: RunRequest, progress: Progress, wallet: Wallet, place: str = "") -> ExperimentOutcome:
    """Run an experiment of a study and return what came of it, whatever goes wrong; only an interrupt ends all.

    Args:
        spec: the experiment.
        request: of the command.
        progress: of the command.
        wallet: what the others have spent, where that counts.
        place: which of how many it is.
    """
    created = [] if spec.folder.exists() else [spec]
    try:
        return _outcome(run_one(spec, request, progress, wallet, place))
    except FolderInUseError as error:
        outcome = ExperimentOutcome(spec, EXIT_USAGE, "in use", error.fact)
    except OutriderError as error:
        outcome = ExperimentOutcome(spec, error.exit_code, "refused", str(error))
    except Exception as error:
        # A fault of ours in one experiment is no reason to lose the others.
        logger.exception("%s", spec.title)
        outcome = ExperimentOutcome(spec, EXIT_FAULT, "fault", f"{type(error).__name__}: {error}")
    _discard(created)
    progress.say(f"{spec.title}: {outcome.reason}: {outcome.cause}")
    return outcome


def run_one(spec: ExperimentSpec, request: RunRequest, progress: Progress, wallet: Wallet, place: str = "") -> ExperimentResult:
    """Run one experiment to its end; the first signal winds it down, the second raises KeyboardInterrupt.

    Args:
        spec: the experiment.
        request: of the command.
        progress: of the command.
        wallet: what others have spent of the same money.
        place: which of how many it is.

    Raises:
        UserError: it is refused; what was measured is kept.
    """
    progress.begin(spec, place)
    running: list[Tuner] = []

    def started(tuner: Tuner, n_workers: int) -> None:
        running.append(tuner)
        progress.started(tuner, n_workers)

    def wind_down() -> None:
        if not running:
            raise KeyboardInterrupt
        running[0].interrupt()

    surroundings = Surroundings(
        os.environ,
        request.cache_dir,
        wallet,
        (progress.observe,),
        started,
        progress.say_once,
        waiting=progress.waiting,
        accept_changes=request.accept_changes,
    )
    try:
        with winding_down(wind_down, progress.say):
            return run_experiment(spec, surroundings)
    except KeyboardInterrupt:
        progress.say(f"stopped at once; resume with: {resume_command(spec.tag, request)}")
        raise
    finally:
        progress.end()


class _Purse:
    """What each of some experiments has spent of the money that they have in common.

    Args:
        specs: the experiments; what earlier controllers spent of them counts.
    """

    def __init__(self, specs: Sequence[ExperimentSpec]) -> None:
        limited = any(spec.definition.budget.max_cost is not None for spec in specs)
        self._spent = {spec.folder: spent_usd(spec.folder) if limited else 0.0 for spec in specs}

    def wallet_of(self, spec: ExperimentSpec) -> Wallet:
        """Return what the others have spent."""
        return Wallet(math.fsum(usd for folder, usd in self._spent.items() if folder != spec.folder))

    def take_in(self, outcome: ExperimentOutcome) -> None:
        """Note what an experiment has spent by now."""
        if outcome.result is not None:
            self._spent[outcome.spec.folder] = outcome.result.state.spent_usd


def _outcome(result: ExperimentResult) -> ExperimentOutcome:
    state, ending = result.state, result.ending
    failed = ending.reason in (Reason.ALIKE, Reason.NONE_SUCCEEDED, Reason.FAILURES) and not state.succeeded
    failure = signature(*state.failures[-1]) if failed and state.failures else ""
    return ExperimentOutcome(result.spec, ending.exit_code, str(ending.reason), ending.message, failure, result)


def _ends_all(outcome: ExperimentOutcome) -> bool:
    return outcome.reason in (Reason.INTERRUPTED, Reason.DISK_FULL)


def _collate(tag_folder: Path, progress: Progress) -> None:
    """Write what the experiments of a tag came to into one file; that it cannot be written is said, as each has its own."""
    try:
        collate(tag_folder)
    except UserError as error:
        progress.say(f"warning: {error}")


def _discard(specs: Sequence[ExperimentSpec]) -> None:
    for spec in specs:
        # That it cannot be removed is less than why it was refused.
        with contextlib.suppress(OutriderError, OSError):
            discard_unstarted(spec.folder, spec.results_dir)


def _check_code(specs: Sequence[ExperimentSpec], *, accepted: bool) -> None:
    """Raise `UserError` where the code of a benchmark is another than an experiment measured, before anything goes on."""
    seen: set[str] = set()
    for spec in specs:
        if spec.definition.name not in seen and (spec.folder / "journal.sqlite").is_file():
            seen.add(spec.definition.name)
            check_code(spec, accepted=accepted)


def resume_command(tag: str, request: RunRequest) -> str:
    """Return the command that goes on with a tag, with the folder of results where it is not the usual one."""
    words = [] if request.results_dir == default_results_dir() else ["--results_dir", str(request.results_dir)]
    return command("run", "--resume", tag, *words, *(["--emulate"] if os.environ.get(MARK) else []))
