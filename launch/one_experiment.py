"""Runs one experiment of a command, and says what came of it."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from benchmarking.archive.folder import discard_unstarted
from benchmarking.archive.folder_lock import FolderInUseError
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.interfaces import Wallet
from benchmarking.controller.journal import JournalLostError
from benchmarking.controller.tuner import Tuner
from benchmarking.experiment import ExperimentResult, run_experiment
from benchmarking.surroundings import Surroundings
from definitions.errors import EXIT_FAULT, EXIT_TAKEN_OVER, EXIT_USAGE, OutriderError
from launch.experiment_outcome import DENIED, ExperimentOutcome, outcome_of
from launch.progress import Progress
from launch.remote.keeping import keeper_at
from launch.request import RunRequest
from launch.signals import winding_down

Interruptible = Callable[[Callable[[], None], Callable[[], None]], AbstractContextManager[None]]
"""A block in which somebody may call what is given, to wind down or to leave what runs, or have KeyboardInterrupt raised."""

TAKEN_OVER, CUT_OFF = "taken over", "cut off"
"""Reasons of outcomes: another controller is at work; where the state is kept cannot be reached."""

logger = logging.getLogger(__name__)


def attempt(
    spec: ExperimentSpec,
    request: RunRequest,
    progress: Progress,
    wallet: Wallet,
    place: str = "",
    interruptible: Interruptible | None = None,
) -> ExperimentOutcome:
    """Run an experiment of a study and return what came of it, whatever goes wrong; only an interrupt ends all.

    Args:
        spec: the experiment.
        request: of the command.
        progress: of the command.
        wallet: what the others have spent, where that counts.
        place: which of how many it is.
        interruptible: see `run_one`.
    """
    created = [] if spec.folder.exists() else [spec]
    try:
        return outcome_of(run_one(spec, request, progress, wallet, place, interruptible))
    except FolderInUseError as error:
        outcome = ExperimentOutcome(spec, EXIT_USAGE, "in use", error.fact)
    except JournalLostError as error:
        reason = TAKEN_OVER if error.exit_code == EXIT_TAKEN_OVER else DENIED if error.is_denied else CUT_OFF
        outcome = ExperimentOutcome(spec, error.exit_code, reason, str(error), has_run=True)
    except OutriderError as error:
        outcome = ExperimentOutcome(spec, error.exit_code, DENIED if error.is_denied else "refused", str(error))
    except Exception as error:
        # A fault of ours in one experiment is no reason to lose the others.
        logger.exception("%s", spec.title)
        outcome = ExperimentOutcome(spec, EXIT_FAULT, "fault", f"{type(error).__name__}: {error}")
    discard(created)
    progress.say(f"{spec.title}: {outcome.reason}: {outcome.cause}")
    return outcome


def run_one(
    spec: ExperimentSpec,
    request: RunRequest,
    progress: Progress,
    wallet: Wallet,
    place: str = "",
    interruptible: Interruptible | None = None,
) -> ExperimentResult:
    """Run one experiment to its end; who interrupts it has it wound down, or raises KeyboardInterrupt.

    Args:
        spec: the experiment.
        request: of the command.
        progress: of the command.
        wallet: what others have spent of the same money.
        place: which of how many it is.
        interruptible: who may interrupt it; by default signals, the first of which winds it down and the second of which stops it at once.

    Raises:
        UserError: it is refused; what was measured is kept.
    """
    running: list[Tuner] = []
    is_left = False

    def started(tuner: Tuner, n_workers: int) -> None:
        running.append(tuner)
        progress.started(tuner, n_workers)
        if is_left:
            tuner.detach()

    def wind_down() -> None:
        if not running:
            raise KeyboardInterrupt
        running[0].interrupt()

    def detach() -> None:
        nonlocal is_left
        is_left = True
        for tuner in running:
            tuner.detach()

    surroundings = Surroundings(
        os.environ,
        request.cache_dir,
        wallet,
        (progress.observe,),
        started,
        progress.say_once,
        waiting=progress.waiting,
        accept_changes=request.accept_changes,
        trackers=request.track,
        keeper=keeper_at(request.launched_remotely),
    )
    try:
        with winding_down(wind_down, progress.say, detach) if interruptible is None else interruptible(wind_down, detach):
            progress.begin(spec, place)  # who reads this may send a signal
            return run_experiment(spec, surroundings)
    finally:
        progress.end()


def discard(specs: Sequence[ExperimentSpec]) -> None:
    """Remove what experiments left that never began."""
    for spec in specs:
        # That it cannot be removed is less than why it was refused.
        with contextlib.suppress(OutriderError, OSError):
            discard_unstarted(spec.folder, spec.results_dir)
