"""What came of an experiment: of one that ran here, and of one that is read from its folder."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends.failures import Cause
from benchmarking.archive import folder
from benchmarking.controller.ending import Ending, Reason
from definitions.errors import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES, EXIT_INTERRUPTED, EXIT_TAKEN_OVER
from launch.experiment_outcome import DENIED, ExperimentOutcome, outcome_of, with_results
from launch.experiments import execute
from tests.launch.simulated_study import planned, progress, request_for


def ended(reason, code, failures=(), succeeded=0):
    state = SimpleNamespace(failures=[*failures], succeeded=succeeded)
    return SimpleNamespace(spec="spec", ending=Ending(reason, "so it ended", code), state=state)


def test_a_good_end_is_fine_and_has_nothing_in_common_with_failures():
    found = outcome_of(ended(Reason.TRIALS, EXIT_DONE, [(Cause.SCRIPT_ERROR, "boom", "")], succeeded=3))
    assert (found.is_fine, found.ends_all, found.failure, found.has_run, found.cause) == (True, False, "", True, "so it ended")


def test_where_nothing_was_measured_the_last_failure_says_what_others_may_share():
    failures = [(Cause.TIME_OUT, "slow", ""), (Cause.SCRIPT_ERROR, "x = 0.25 is too much", "toy.py:main")]
    for reason in (Reason.ALIKE, Reason.NONE_SUCCEEDED, Reason.FAILURES):
        assert outcome_of(ended(reason, EXIT_FAILURES, failures)).failure == "script_error: x = #.# is too much toy.py:main"
    assert outcome_of(ended(Reason.FAILURES, EXIT_FAILURES, failures, succeeded=1)).failure == ""
    assert outcome_of(ended(Reason.TIME, EXIT_BUDGET, failures)).failure == ""


@pytest.mark.parametrize(
    ("reason", "code", "ends_all"),
    [
        (Reason.INTERRUPTED, EXIT_INTERRUPTED, True),
        (Reason.ALONE, EXIT_INTERRUPTED, False),
        (Reason.DISK_FULL, EXIT_BUDGET, True),
        (Reason.DETACHED, EXIT_DONE, True),
        (DENIED, EXIT_FAILURES, True),
        ("taken over", EXIT_TAKEN_OVER, True),
        ("killed", EXIT_FAILURES, False),
        (Reason.FAILURES, EXIT_FAILURES, False),
    ],
)
def test_what_ends_all(reason, code, ends_all):
    assert ExperimentOutcome(None, code, str(reason), "").ends_all is ends_all


@pytest.fixture
def outcomes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder, "describe_environment", lambda *about: {})
    return execute(planned(tmp_path, num_seeds=2), request_for(tmp_path), progress()[0])


def test_results_of_other_processes_are_read_from_their_folders_as_they_were(outcomes):
    bare = [ExperimentOutcome(one.spec, one.exit_code, one.reason, one.cause) for one in outcomes]
    for here, read in zip(outcomes, with_results(bare), strict=True):
        assert (read.result.ending, read.result.best) == (here.result.ending, here.result.best)
        assert len(read.result.trials) == 3
    assert with_results(outcomes) == outcomes


def test_one_that_never_began_or_cannot_be_read_has_no_result_and_the_others_have(outcomes):
    bare = [ExperimentOutcome(one.spec, one.exit_code, one.reason, one.cause) for one in outcomes]
    (bare[0].spec.folder / "experiment.json").unlink()
    (bare[1].spec.folder / "journal.sqlite").write_bytes(b"no journal")
    (bare[2].spec.folder / "journal.sqlite").unlink()
    assert [one.result is not None for one in with_results(bare)] == [False, False, False, True]
