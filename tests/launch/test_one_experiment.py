"""Whatever goes wrong with one experiment becomes its outcome, and an interrupt reaches what runs."""

from __future__ import annotations

import contextlib
import signal

import pytest

import launch.one_experiment as module
from benchmarking.archive.folder_lock import FolderInUseError
from benchmarking.controller.interfaces import Wallet
from benchmarking.controller.journal import JournalLostError
from definitions.errors import EXIT_CLOUD, EXIT_FAULT, EXIT_TAKEN_OVER, EXIT_USAGE, OutriderError, UserError
from launch.experiment_outcome import DENIED
from launch.one_experiment import CUT_OFF, TAKEN_OVER, attempt, run_one
from launch.request import RunRequest
from tests.launch.simulated_study import planned, progress


class CloudTroubleError(OutriderError):
    exit_code = EXIT_CLOUD


def lost(code, *, denied=False):
    error = JournalLostError("it cannot be written")
    error.exit_code, error.is_denied = code, denied
    return error


def denied(error):
    error.is_denied = True
    return error


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return planned(tmp_path).specs[0]


def outcome_after(spec, monkeypatch, error):
    def fails(spec, surroundings):
        raise error

    monkeypatch.setattr(module, "run_experiment", fails)
    follows, said = progress()
    return attempt(spec, RunRequest(), follows, Wallet(0.0)), said.getvalue()


@pytest.mark.parametrize(
    ("error", "reason", "code", "has_run", "ends_all"),
    [
        (UserError("no room"), "refused", EXIT_USAGE, False, False),
        (CloudTroubleError("no answer"), "refused", EXIT_CLOUD, False, False),
        (denied(CloudTroubleError("no permission")), DENIED, EXIT_CLOUD, False, True),
        (FolderInUseError("the folder", "process 7 runs it"), "in use", EXIT_USAGE, False, False),
        (lost(EXIT_TAKEN_OVER), TAKEN_OVER, EXIT_TAKEN_OVER, True, True),
        (lost(EXIT_CLOUD, denied=True), DENIED, EXIT_CLOUD, True, True),
        (lost(EXIT_CLOUD), CUT_OFF, EXIT_CLOUD, True, False),
        (ZeroDivisionError("division by zero"), "fault", EXIT_FAULT, False, False),
    ],
)
def test_what_goes_wrong_is_an_outcome_with_its_cause_and_only_some_end_all(spec, monkeypatch, error, reason, code, has_run, ends_all):
    outcome, said = outcome_after(spec, monkeypatch, error)
    assert (outcome.reason, outcome.exit_code, outcome.has_run, outcome.ends_all) == (reason, code, has_run, ends_all)
    assert f"{spec.title}: {reason}: {outcome.cause}" in said
    assert outcome.cause in ("process 7 runs it", str(error), f"ZeroDivisionError: {error}")


def test_only_an_interrupt_passes(spec, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        outcome_after(spec, monkeypatch, KeyboardInterrupt())


def test_what_never_began_leaves_nothing_and_a_folder_that_was_there_stays(spec, monkeypatch):
    def begun(spec, surroundings):
        spec.folder.mkdir(parents=True, exist_ok=True)
        (spec.folder / "experiment.json").write_text("{}")
        raise UserError("no room")

    monkeypatch.setattr(module, "run_experiment", begun)
    attempt(spec, RunRequest(), progress()[0], Wallet(0.0))
    assert not spec.folder.exists()
    spec.folder.mkdir(parents=True)
    attempt(spec, RunRequest(), progress()[0], Wallet(0.0))
    assert (spec.folder / "experiment.json").is_file()


class Running:
    """Stands for what runs, and notes what it is told."""

    def __init__(self):
        self.told = []

    def interrupt(self):
        self.told.append("interrupt")

    def detach(self):
        self.told.append("detach")


class Follows:
    """Stands for what follows a command."""

    def __getattr__(self, name):
        return lambda *about, **more: None


@pytest.mark.parametrize(("calls", "told"), [("wind_down", ["interrupt"]), ("detach", ["detach"])])
def test_an_interrupt_reaches_what_runs(spec, monkeypatch, calls, told):
    tuner, handed = Running(), {}

    @contextlib.contextmanager
    def interruptible(wind_down, detach):
        handed.update(wind_down=wind_down, detach=detach)
        yield

    def runs(spec, surroundings):
        surroundings.started(tuner, 1)
        handed[calls]()
        return "result"

    monkeypatch.setattr(module, "run_experiment", runs)
    assert run_one(spec, RunRequest(), Follows(), Wallet(0.0), interruptible=interruptible) == "result"
    assert tuner.told == told


def test_before_anything_runs_winding_down_is_an_interrupt_and_detaching_is_kept_for_what_starts_then(spec, monkeypatch):
    tuner, handed = Running(), {}

    @contextlib.contextmanager
    def interruptible(wind_down, detach):
        handed.update(wind_down=wind_down, detach=detach)
        yield

    def runs(spec, surroundings):
        with pytest.raises(KeyboardInterrupt):
            handed["wind_down"]()
        handed["detach"]()
        surroundings.started(tuner, 1)

    monkeypatch.setattr(module, "run_experiment", runs)
    run_one(spec, RunRequest(), Follows(), Wallet(0.0), interruptible=interruptible)
    assert tuner.told == ["detach"]


def test_who_reads_that_it_begins_may_send_a_signal(spec, monkeypatch):
    caught = []
    follows, _ = progress()
    monkeypatch.setattr(follows, "begin", lambda spec, place: caught.append(signal.getsignal(signal.SIGUSR1)))
    monkeypatch.setattr(module, "run_experiment", lambda spec, surroundings: "done")
    assert run_one(spec, RunRequest(), follows, Wallet(0.0)) == "done"
    assert callable(caught[0])
    assert signal.getsignal(signal.SIGUSR1) is not caught[0]
