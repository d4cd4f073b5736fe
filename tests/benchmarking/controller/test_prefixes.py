"""Prefixes of the full job: stopped by their method or by their time, complete all the same, and the same after a resume."""

import math

import pytest

from backends.events import Progressed
from backends.failures import Cause, Outcome
from backends.progress import ProgressLine
from backends.simulated.table import Run
from benchmarking.controller.aggregation import Tell
from benchmarking.controller.method import Decision, Method, Suggestion
from benchmarking.controller.prefixes import end_of_prefix, first_over, over_at, stopped_itself
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import JobState, TrialState
from definitions.trial import TrialSpec
from tests.benchmarking.experiments import MemoryJournal, definition, tuner
from tests.benchmarking.methods.method_experiments import kill_and_resume

STEPS = 50


class Steps:
    """Jobs of 50 steps of 2 s after 10 s of start-up, which report a loss at their end only; x = 1 stands still after its third step."""

    def run(self, configuration, level, repeat):
        most = 3 if configuration["x"] == 1 else STEPS
        said = [ProgressLine(float(k), float(STEPS), 10.0 + 2 * k, number=k) for k in range(most + 1)]
        return Run([(110.0, {"loss": 1.0})], 112.0, progress=said)


class Prefixes(Method):
    """Three prefixes, each stopped after ten steps."""

    finite = True
    measures_repeats = True

    def __init__(self):
        self.asked, self.heard, self.ends = 0, [], []

    def suggest(self):
        self.asked += 1
        return Suggestion({"x": self.asked - 1}, 1.0, prefix_s=60.0) if self.asked <= 3 else None

    def on_progress(self, evaluation, progress):
        self.heard.append((evaluation.id, progress.points[-1].done))
        return Decision.STOP if progress.points[-1].done >= 10 else Decision.CONTINUE

    def on_trial_complete(self, evaluation, result):
        self.ends.append((evaluation.id, evaluation.prefix_s, result["canary_total_s"]))


def experiment(journal, folder=None, method=None):
    asked = definition(space={"x": {"choice": [0, 1, 2]}})
    return tuner(asked, journal, make_method=lambda: method or Prefixes(), table=Steps(), stop_delay_s=1.0)


def test_a_prefix_is_stopped_by_its_method_or_by_its_time_and_counts_as_complete():
    method = Prefixes()
    run = experiment(MemoryJournal(), method=method)
    ending = run.run()
    assert ending.exit_code == 0, ending
    trials = run.state.trials
    assert [(str(one.status), str(one.cause)) for one in trials.values()] == [("completed", "prefix_measured")] * 3
    # Ten steps after 10 s, and a second until the stop takes effect; the one that stands still has its 60 s.
    assert [one.duration_s for one in trials.values()] == [31.0, 61.0, 31.0]
    assert sorted(method.ends) == [(0, 60.0, 31.0), (1, 60.0, 61.0), (2, 60.0, 31.0)]
    assert [one.progress.points[-1].done for one in trials.values()] == [10.0, 3.0, 10.0]
    # The last word is heard once more, with all that was said, before the end.
    assert [done for number, done in method.heard if number == 1] == [0.0, 1.0, 2.0, 3.0, 3.0]
    assert run.state.counted_failures == 0


def test_a_killed_controller_goes_on_with_its_prefixes(tmp_path):
    whole = kill_and_resume(experiment, tmp_path)
    assert [row[2] for row in whole.rows].count("stop") == 3


@pytest.mark.parametrize(
    ("elapsed_s", "done", "outcome", "cause", "expected"),
    [
        (61.0, 20.0, Outcome.COMPLETED, None, True),
        (60.0, 20.0, Outcome.COMPLETED, None, True),
        (61.0, 20.0, Outcome.FAILED, Cause.NO_METRICS, True),
        (59.0, 20.0, Outcome.COMPLETED, None, False),  # its total was wrong: the work was done
        (61.0, 50.0, Outcome.COMPLETED, None, False),
        (61.0, 20.0, Outcome.FAILED, Cause.SCRIPT_ERROR, False),
    ],
)
def test_a_prefix_that_its_reporter_ended_is_told_from_one_whose_work_was_done(elapsed_s, done, outcome, cause, expected):
    trial = TrialState(0, 0, TrialSpec({}, 1.0, 0, 60.0))
    curve = ProgressCurve.begun(Progressed("j", 0.0, 0.0, 50.0, 1.0))
    curve.take(Progressed("j", elapsed_s, done, 50.0, elapsed_s))
    job = JobState("j", 0, 0, 0.0, None, None, progress=curve)
    assert stopped_itself(trial, job, outcome, cause) is expected


def test_of_work_without_an_end_the_time_alone_decides_and_without_a_word_nothing():
    trial = TrialState(0, 0, TrialSpec({}, 1.0, 0, 60.0))
    curve = ProgressCurve.begun(Progressed("j", 61.0, 7.0, None, 61.0))
    assert stopped_itself(trial, JobState("j", 0, 0, 0.0, None, None, progress=curve), Outcome.COMPLETED, None)
    assert not stopped_itself(trial, JobState("j", 0, 0, 0.0, None, None), Outcome.COMPLETED, None)


@pytest.mark.parametrize(
    ("prefix_s", "job", "expected"),
    [
        (60.0, {"started": True, "started_at": 5.0}, 65.0),
        (None, {"started": True, "started_at": 5.0}, None),
        (60.0, {"started": False, "started_at": 5.0}, None),
        (60.0, {"started": True, "started_at": None}, None),
        (60.0, {"started": True, "started_at": 5.0, "ended": True}, None),
        (60.0, {"started": True, "started_at": 5.0, "stop_requested_at": 9.0}, None),
    ],
)
def test_the_time_of_a_prefix_runs_from_the_start_of_its_job_until_it_ends_or_is_stopped(prefix_s, job, expected):
    trial = TrialState(0, 0, TrialSpec({}, 1.0, 0, prefix_s))
    assert over_at(trial, JobState("j", 0, 0, 0.0, None, None, **job)) == expected


def test_the_first_that_is_over_has_begun_first():
    trials = {number: TrialState(number, number, TrialSpec({}, 1.0, 0, limit_s)) for number, limit_s in enumerate((60.0, 30.0, None))}
    jobs = {f"j{number}": JobState(f"j{number}", number, 0, 0.0, None, None, started=True, started_at=10.0) for number in trials}
    assert first_over(trials, jobs, ["j0", "j1", "j2"]) == (40.0, "j1")
    assert first_over(trials, jobs, ["j2"]) is None


@pytest.mark.parametrize(
    ("status", "call"), [(TrialStatus.COMPLETED, "complete"), (TrialStatus.FAILED, "error"), (TrialStatus.STOPPED, "error")]
)
def test_a_prefix_that_completed_is_told_as_complete_and_any_other_as_failed(status, call):
    assert end_of_prefix(TrialState(3, 2, TrialSpec({}, 1.0, 0, 60.0), status=status)) == Tell(call, 2)


def test_a_whole_job_is_no_prefix_however_long_it_takes():
    trial = TrialState(0, 0, TrialSpec({}), status=TrialStatus.COMPLETED)
    curve = ProgressCurve.begun(Progressed("j", 0.0, 0.0, 50.0, math.inf))
    assert not stopped_itself(trial, JobState("j", 0, 0, 0.0, None, None, progress=curve), Outcome.COMPLETED, None)
    assert trial.spec.prefix_s is None
    assert Cause.PREFIX not in trial.causes
