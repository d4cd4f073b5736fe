"""The loop when jobs are refused, fail or break off: what each costs, and how it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.events import Closed, Rejected, Reported, Scope
from backends.failures import Cause, Outcome
from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.ending import Reason
from benchmarking.controller.method import Method, Suggestion
from benchmarking.controller.retry_policy import TrialStatus
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeTable, MemoryJournal, Rejecting, definition, statuses, tuner


class Slow(SimulatedBackend):
    """On whose clock each step is committed."""

    capabilities = replace(SimulatedBackend.capabilities, virtual_time=False)


@pytest.mark.parametrize("cause", [Cause.THROTTLED, Cause.QUOTA, Cause.CREDENTIALS])
def test_not_now_costs_time_and_no_failure(cause):
    backend = Rejecting([cause] * 5, Scope.BACKEND)
    run = tuner(definition(budget=Budget(max_num_trials=4, max_failures=0)), MemoryJournal(), backend=backend, n_workers=4)
    assert run.run().exit_code == 0
    assert statuses(run) == {"completed": 4}
    assert run.state.counted_failures == 0
    assert {trial.starts for trial in run.state.trials.values()} == {1}
    times = [at for at, _ in backend.submitted]
    assert times[1] - times[0] == 10.0  # nothing is submitted while the whole back-end says to wait
    assert len({name for _, name in backend.submitted}) == 9


@pytest.mark.parametrize("step_s", [0.01, 0.3, 0.7, 1.1, 1.9, 3.3, 4.7])
@pytest.mark.parametrize("scope", [Scope.BACKEND, Scope.JOB])
def test_what_comes_due_between_two_looks_at_the_clock_is_neither_too_dear_nor_forgotten(scope, step_s):
    class Busy(Rejecting):
        """On a machine so busy that time passes between any two looks."""

        def now(self):
            self._now += step_s
            return self._now

    backend = Busy([Cause.QUOTA] * 8, scope)
    run = tuner(definition(budget=Budget(max_num_trials=3, max_failures=0)), MemoryJournal(), backend=backend, n_workers=2)
    assert run.run().exit_code == 0
    assert statuses(run) == {"completed": 3}


def test_a_bad_request_is_a_failure_at_once():
    class Never(Rejecting):
        def submit(self, job):
            super().submit(job)
            self.rejected = [replace(event, retry_at=None) for event in self.rejected]

    run = tuner(definition(budget=Budget(max_num_trials=4)), MemoryJournal(), backend=Never([Cause.BAD_REQUEST], Scope.JOB))
    run.run()
    assert statuses(run) == {"failed": 1, "completed": 3}
    assert (run.state.trials[0].starts, run.state.trials[0].message) == (0, "rate exceeded")


def test_spot_interruptions_are_retried_from_the_checkpoint_under_their_own_cap(tmp_path):
    class Spot(SimulatedBackend):
        """Interrupts each attempt after one report, twice."""

        def wait(self, timeout_s):
            events = super().wait(timeout_s)
            for event in events:
                if isinstance(event, Reported) and event.job[-1] in "12":
                    self.stop(event.job, Cause.SPOT)
            return [replace(e, outcome=Outcome.FAILED) if isinstance(e, Closed) and e.cause is Cause.SPOT else e for e in events]

    journal = MemoryJournal()
    benchmark = definition(budget=Budget(max_num_trials=1, max_failures=0))
    run = tuner(benchmark, journal, backend=Spot(FakeTable(), checkpoints=tmp_path), n_workers=1)
    assert run.run().exit_code == 0
    (trial,) = run.state.trials.values()
    assert (trial.starts, trial.status, trial.causes[Cause.SPOT]) == (3, TrialStatus.COMPLETED, 2)
    epochs = [record.body["metrics"]["epoch"] for record in journal.records() if record.kind == "reported"]
    assert epochs == [1, 2, 3]
    assert trial.cost_usd == pytest.approx(trial.billable_s / 3600 * 3.6)


def test_first_trial_on_a_paid_back_end_runs_alone():
    class Paid(SimulatedBackend):
        capabilities = replace(SimulatedBackend.capabilities, real_money=True)

    running = []
    run = tuner(
        definition(budget=Budget(max_num_trials=6)),
        MemoryJournal(),
        backend=Paid(FakeTable()),
        n_workers=3,
        observers=(lambda record, state: running.append((state.succeeded, state.busy)),),
    )
    run.run()
    assert max(busy for succeeded, busy in running if succeeded == 0) == 1
    assert max(busy for _, busy in running) == 3


def test_what_ran_when_the_loop_broke_is_taken_up_again_on_resume():
    class Breaking(SimulatedBackend):
        waits = 0

        def wait(self, timeout_s):
            self.waits += 1
            if self.waits == 6:
                raise OSError("the network is gone")
            return super().wait(timeout_s)

    journal = MemoryJournal()
    benchmark = definition(budget=Budget(max_num_trials=4))
    broken = tuner(benchmark, journal, backend=Breaking(FakeTable(), seed=0), n_workers=2)
    with pytest.raises(OSError, match="network"):
        broken.run()
    running = [job.name for job in broken.state.jobs.values()]
    assert running
    assert [job.stop_reason for job in broken.state.jobs.values()] == [Cause.INTERRUPTED] * len(running)
    again = tuner(benchmark, MemoryJournal(journal.rows), n_workers=2)
    again.run()
    assert statuses(again) == {"completed": 4}


def test_a_full_disk_ends_the_run_in_order_counts_no_failure_and_is_made_good_at_a_resume():
    class Full(SimulatedBackend):
        """The disk is full when the second trial writes its model."""

        def wait(self, timeout_s):
            return [
                replace(event, outcome=Outcome.FAILED, cause=Cause.DISK_FULL, message="No space left on device (0 B are free)")
                if isinstance(event, Closed) and "-t1-" in event.job
                else event
                for event in super().wait(timeout_s)
            ]

    journal = MemoryJournal()
    benchmark = definition(budget=Budget(max_num_trials=6, max_failures=0))
    run = tuner(benchmark, journal, backend=Full(FakeTable(), seed=0), n_workers=2)
    ended = run.run()
    assert (ended.reason, ended.exit_code) == (Reason.DISK_FULL, 4)
    assert ended.message == "the disk is full after 2 trials: No space left on device (0 B are free)"
    assert statuses(run) == {"completed": 1, "interrupted": 1}
    assert {trial.cause for trial in run.state.trials.values()} == {None, Cause.DISK_FULL}
    again = tuner(benchmark, MemoryJournal(journal.rows), n_workers=2)
    assert again.run().exit_code == 0
    assert statuses(again) == {"completed": 6}


def test_a_journal_that_took_its_reserve_ends_the_run_in_order():
    class Tight(MemoryJournal):
        def commit(self):
            super().commit()
            self.is_tight = self.is_tight or self.commits > 2

    run = tuner(definition(budget=Budget(max_num_trials=600)), Tight(), n_workers=2, backend=Slow(FakeTable(), seed=0))
    ended = run.run()
    assert (ended.reason, ended.exit_code) == (Reason.DISK_FULL, 4)
    assert len(run.state.trials) < 600
    assert not run.state.jobs


def test_what_an_earlier_controller_stopped_for_its_full_disk_says_nothing_of_the_disk_now():
    class Killed(Slow):
        """The controller dies right after it asked for the first stop."""

        def stop(self, job, cause):
            raise KeyboardInterrupt

    class Tight(MemoryJournal):
        def commit(self):
            super().commit()
            self.is_tight = self.is_tight or self.commits > 2

    class Losing(SimulatedBackend):
        """What an earlier controller started ended with it."""

        lost = ()

        def adopt(self, jobs, last_seen_at):
            self.lost = [Closed(job.spec.name, self.now(), Outcome.FAILED, Cause.CONTROLLER, "its controller ended") for job in jobs]

        def wait(self, timeout_s):
            lost, self.lost = self.lost, ()
            return lost or super().wait(timeout_s)

    journal = Tight()
    benchmark = definition(budget=Budget(max_num_trials=6, max_failures=0))
    run = tuner(benchmark, journal, backend=Killed(FakeTable(), seed=0), n_workers=2)
    with pytest.raises(KeyboardInterrupt):
        run.run()
    assert Cause.DISK_FULL in {job.stop_reason for job in run.state.jobs.values()}
    # As it ends it stops what runs, but what was stopped already keeps its cause.
    stops = [(record.body["job"], record.body["reason"]) for record in MemoryJournal(journal.rows).records() if record.kind == "stop"]
    assert {job for job, _ in stops} >= {*run.state.jobs}
    assert len(stops) == len({job for job, _ in stops})
    again = tuner(benchmark, MemoryJournal(journal.rows), backend=Losing(FakeTable(), seed=0), n_workers=2)
    assert again.run().exit_code == 0
    assert statuses(again) == {"completed": 6}


@pytest.mark.parametrize(("fails", "reason", "code"), [((0, 1, 2), Reason.NONE_SUCCEEDED, 3), ((0, 2), Reason.EXHAUSTED, 0)])
def test_a_list_of_which_nothing_succeeded_is_no_success(fails, reason, code):
    # Fewer than the workers, and not alike: neither the failure budget nor the common cause ends it.
    causes = {x: (Cause.SCRIPT_ERROR, Cause.NO_METRICS, Cause.TIME_OUT)[x] for x in fails}
    benchmark = definition(space={}, trials=[{"x": x} for x in range(3)], budget=Budget(max_failures=3))
    run = tuner(benchmark, MemoryJournal(), table=FakeTable(fails=causes), n_workers=4, method="LISTED")
    ending = run.run()
    assert (ending.reason, ending.exit_code) == (reason, code)
    # The last failure is the one that is told; trial 2 takes longest.
    said = run.state.failures[-1][1]
    assert said
    assert len({message for _, message, _ in run.state.failures}) == len(fails)
    assert ending.message.endswith(said) is (reason is Reason.NONE_SUCCEEDED)


def test_a_second_attempt_is_the_same_measurement():
    """The method counts from 5; what is recorded of a trial is its place among the evaluation's own measurements."""

    class Counting(Method):
        finite = True

        def __init__(self):
            self.left = [Suggestion({"x": 1}, 0.1, 5)]

        def suggest(self):
            return self.left.pop() if self.left else None

    journal = MemoryJournal()
    backend = Rejecting([Cause.THROTTLED] * 2, Scope.JOB)
    run = tuner(definition(repeats=2), journal, backend=backend, make_method=Counting, n_workers=1)
    run.run()
    starts = [(body["trial"], body["repeat"], body["attempt"]) for body in (r.body for r in journal.records() if r.kind == "start")]
    assert [(trial, repeat) for trial, repeat, _ in starts if trial == 0] == [(0, 0)] * sum(trial == 0 for trial, _, _ in starts)
    assert {(trial, repeat) for trial, repeat, _ in starts} == {(0, 0), (1, 1)}
    assert max(attempt for _, _, attempt in starts) > 1
    assert [trial.repeat for trial in run.state.trials.values()] == [5, 6]


def test_while_nothing_runs_a_methods_worker_is_waited_for_a_minute_at_most():
    class Thinking(Method):
        """Has its one suggestion when the loop has waited for it."""

        is_computing, left = True, 1

        def ready(self):
            return not self.is_computing

        def suggest(self):
            self.left -= 1
            return Suggestion({"x": 1}) if self.left >= 0 else None

    method, waits = Thinking(), []

    class Waiting(SimulatedBackend):
        def wait(self, timeout_s):
            waits.append(timeout_s)
            method.is_computing = method.is_computing and timeout_s == 0.0
            return super().wait(timeout_s)

    run = tuner(definition(), MemoryJournal(), backend=Waiting(FakeTable()), make_method=lambda: method)
    assert run.run().reason is Reason.EXHAUSTED
    assert next(seconds for seconds in waits if seconds) == 60.0
    assert statuses(run) == {"completed": 1}
    assert run.state.trials[0].started_at == 60.0


def test_what_a_budget_cuts_off_says_which_budget():
    run = tuner(definition(budget=Budget(max_wallclock_time=2.5)), MemoryJournal(), n_workers=2)
    run.run()
    cut = [trial for trial in run.state.trials.values() if trial.status is TrialStatus.INTERRUPTED]
    assert {(trial.cause, trial.message) for trial in cut} == {(Cause.BUDGET, "max_wallclock_time = 2.5 s, 2.5 s used")}


def test_what_is_stopped_when_the_first_fail_alike_says_so():
    slow = FakeTable(fails={0: Cause.SCRIPT_ERROR, 1: Cause.SCRIPT_ERROR})
    benchmark = definition(space={}, trials=[{"x": x} for x in (0, 1, 2, 3, 4)])
    run = tuner(benchmark, MemoryJournal(), table=slow, n_workers=2, method="LISTED")
    assert run.run().reason is Reason.ALIKE
    cut = [trial for trial in run.state.trials.values() if trial.status is TrialStatus.INTERRUPTED]
    assert [trial.cause for trial in cut] == [Cause.ALIKE] * len(cut)
    assert cut
    assert cut[0].message == run.state.failures[0][1]


@pytest.mark.parametrize(("interrupted", "expected"), [(False, {"stopped": 4}), (True, {"interrupted": 1})])
def test_a_kill_by_hand_is_no_failure_and_one_together_with_the_controller_is_its_interruption(interrupted, expected):
    class Killed(Slow):
        """Its jobs are killed by somebody, in one case together with the controller."""

        def wait(self, timeout_s):
            events = super().wait(timeout_s)
            if interrupted and any(isinstance(event, Closed) for event in events):
                run.interrupt()
            return [replace(e, outcome=Outcome.STOPPED, cause=Cause.OUTSIDE) if isinstance(e, Closed) else e for e in events]

    run = tuner(definition(budget=Budget(max_num_trials=2, max_failures=0)), MemoryJournal(), backend=Killed(FakeTable()), n_workers=1)
    run.run()
    assert statuses(run) == expected
    assert run.state.counted_failures == 0


def test_a_trial_that_was_killed_by_hand_is_none_of_those_that_were_asked_for():
    class KilledOnce(Slow):
        """Its first job is killed by somebody."""

        def wait(self, timeout_s):
            ended = {"outcome": Outcome.STOPPED, "cause": Cause.OUTSIDE}
            return [replace(e, **ended) if isinstance(e, Closed) and "-t0-" in e.job else e for e in super().wait(timeout_s)]

    run = tuner(definition(budget=Budget(max_num_trials=2)), MemoryJournal(), backend=KilledOnce(FakeTable()), n_workers=1)
    assert run.run().exit_code == 0
    assert statuses(run) == {"stopped": 1, "completed": 2}


def test_what_waits_for_a_quota_starts_when_a_job_of_that_type_has_made_room():
    class Quota(Rejecting):
        """Sends the second job back, to come again after a thousand seconds."""

        def submit(self, job):
            self.submitted.append((self.now(), job.name))
            if len(self.submitted) == 2:
                self.rejected.append(Rejected(job.name, self.now(), Cause.QUOTA, "one", Scope.INSTANCE_TYPE, self.now() + 1000.0))
            else:
                SimulatedBackend.submit(self, job)

    backend = Quota([], Scope.INSTANCE_TYPE)
    run = tuner(definition(budget=Budget(max_num_trials=3)), MemoryJournal(), backend=backend, n_workers=3)
    assert run.run().exit_code == 0
    assert statuses(run) == {"completed": 3}
    first = run.state.trials[0]
    began = backend.submitted[0][0]
    submitted = [at - began for at, name in backend.submitted if name.startswith("job-t1")]
    # Sent back at once, and started as the first one ends, long before the thousand seconds are over.
    assert submitted == [0.0, pytest.approx(first.ended_at - began)]
    assert first.ended_at - began < 10.0
