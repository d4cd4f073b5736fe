"""The loop: what it starts, stops, retries and ends with; and that a run killed anywhere goes on as if it had not been."""

from __future__ import annotations

import math
import shutil

import pytest

from backends.failures import Cause
from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.controller.ending import Reason
from benchmarking.controller.method import Decision, Method, Suggestion
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.sqlite_journal import SqliteJournal
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeJobs, FakeTable, Killed, MemoryJournal, definition, statuses, tuner

PROGRESSIVE = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 3}


def kinds(journal):
    return [kind for _, _, kind, _ in journal.rows]


class StopLate(Method):
    """Stops every evaluation with an odd x at its first level; suggests 0, 1, 2, ..."""

    def __init__(self):
        self.next, self.told = 0, []

    def suggest(self):
        self.next += 1
        return Suggestion({"x": self.next - 1}) if self.next <= 6 else None

    def on_trial_result(self, evaluation, result):
        self.told.append((evaluation.id, result["epoch"]))
        return Decision.STOP if evaluation.configuration["x"] % 2 else Decision.CONTINUE


class PauseOnce(StopLate):
    """Pauses each evaluation after its first level, and resumes it when nothing new is left."""

    def __init__(self):
        super().__init__()
        self.paused, self.completed = [], []

    def suggest(self):
        if self.next < 3:
            return super().suggest()
        return Suggestion({}, resume=self.paused.pop(0)) if self.paused else None

    def on_trial_result(self, evaluation, result):
        self.told.append((evaluation.id, result["epoch"]))
        if result["epoch"] == 1:
            self.paused.append(evaluation.id)
            return Decision.PAUSE
        return Decision.CONTINUE

    def on_trial_complete(self, evaluation, result):
        self.completed.append(evaluation.id)


CASES = {
    "retries": {
        **{"failure_rate": 0.3, "start_delay_s": 0.5, "seed": 3},
        **{"benchmark": {"repeats": 2, "order": "interleave"}, "checkpoints": "folder"},
    },
    "failures": {"table": FakeTable(fails={k: Cause.SCRIPT_ERROR for k in range(0, 100, 3)}), "benchmark": {"budget": {"max_failures": 2}}},
    "time": {"benchmark": {"budget": {"max_wallclock_time": 9.0}}, "n_workers": 3, "stop_delay_s": 0.75},
    "stops": {"make_method": StopLate, "stop_delay_s": 0.5, "benchmark": {"fidelity": PROGRESSIVE}},
    "pauses": {"make_method": PauseOnce, "n_workers": 1, "benchmark": {"fidelity": PROGRESSIVE}, "checkpoints": "folder"},
    "queued": {"slots": 2, "n_workers": 4, "benchmark": {"budget": {"max_num_trials": 7}}},
    "money": {"n_workers": 4, "benchmark": {"budget": {"max_cost": 0.35}}, "jobs": FakeJobs(usd_per_hour=36.0, max_run_s=20.0)},
    "grid": {"method": "GRID", "benchmark": {"space": {"x": {"choice": [1, 2, 3]}}, "repeats": 2, "order": "random"}},
}


def case(name, journal, folder):
    options = dict(CASES[name])
    changes = {"budget": {"max_num_trials": 8}} | options.pop("benchmark")
    if options.get("checkpoints"):
        options["checkpoints"] = folder
    changes["budget"] = Budget(**changes["budget"])
    return tuner(definition(**changes), journal, **options)


@pytest.mark.parametrize("name", CASES)
def test_resume_after_a_kill_at_every_record_ends_in_the_same_journal(name, tmp_path):
    whole = MemoryJournal()
    ended = case(name, whole, tmp_path / "whole").run()
    assert len(whole.rows) > 20
    for kill_at in range(len(whole.rows)):
        folder = tmp_path / str(kill_at)
        killed = MemoryJournal(limit=kill_at)
        with pytest.raises(Killed):
            case(name, killed, folder).run()
        again = MemoryJournal(killed.rows)
        assert case(name, again, folder).run() == ended
        assert again.rows == whole.rows, f"killed before record {kill_at + 1}"
        shutil.rmtree(folder, ignore_errors=True)


def test_resume_from_a_torn_file_ends_in_the_same_journal(tmp_path):
    def run(path):
        with_journal = SqliteJournal(path)
        ended = case("retries", with_journal, tmp_path).run()
        rows = [(r.sequence, r.at, r.kind, r.body) for r in with_journal.records()]
        return with_journal, ended, rows

    class Frequent(SqliteJournal):
        def append(self, at, kind, body):
            record = super().append(at, kind, body)
            self.commit()
            return record

    _, ended, whole = run(tmp_path / "whole.sqlite")
    torn = Frequent(tmp_path / "torn.sqlite")
    case("retries", torn, tmp_path).run()
    wal = (tmp_path / "torn.sqlite-wal").read_bytes()
    assert len(wal) > 20_000
    for cut in range(100, len(wal), len(wal) // 40):
        folder = tmp_path / f"cut{cut}"
        folder.mkdir()
        shutil.copy(tmp_path / "torn.sqlite", folder / "journal.sqlite")
        (folder / "journal.sqlite-wal").write_bytes(wal[:cut])
        _, again, rows = run(folder / "journal.sqlite")
        assert again == ended
        assert rows == whole


def test_finished_run_starts_nothing_again():
    journal = MemoryJournal()
    case("grid", journal, None).run()
    before = list(journal.rows)
    ending = case("grid", journal, None).run()
    assert (ending.reason, ending.exit_code) == (Reason.EXHAUSTED, 0)
    assert journal.rows == before


def test_larger_budget_goes_on_where_the_smaller_ended():
    journal = MemoryJournal()
    tuner(definition(budget=Budget(max_num_trials=3)), journal).run()
    run = tuner(definition(budget=Budget(max_num_trials=5)), journal)
    run.run()
    whole = MemoryJournal()
    reference = tuner(definition(budget=Budget(max_num_trials=5)), whole)
    reference.run()
    assert [t.configuration for t in run.state.trials.values()] == [t.configuration for t in reference.state.trials.values()]
    assert kinds(journal).count("end") == 2


def test_one_bad_and_one_silent_job_cost_two_failures_and_nothing_else():
    class Table(FakeTable):
        def run(self, configuration, level, repeat):
            if configuration["x"] == 5:
                return Run((), 1.0, Cause.NO_METRICS)
            return super().run(configuration, level, repeat)

    benchmark = definition(space={"x": {"choice": list(range(10))}}, budget=Budget(max_failures=3))
    run = tuner(benchmark, MemoryJournal(), method="GRID", table=Table(fails={3: Cause.SCRIPT_ERROR}))
    assert run.run().exit_code == 0
    assert statuses(run) == {"completed": 8, "failed": 2}
    assert run.state.trials[5].cause is Cause.NO_METRICS


def test_identical_first_failures_end_it_after_n_workers():
    journal = MemoryJournal()
    run = tuner(definition(), journal, n_workers=3, table=FakeTable(fails=dict.fromkeys(range(100), Cause.SCRIPT_ERROR)))
    ending = run.run()
    assert (ending.reason, ending.exit_code) == (Reason.ALIKE, 3)
    assert 3 <= len(run.state.trials) <= 5  # the first two to fail make room for one more each


def test_failure_budget_tolerates_its_number_and_stops_what_still_runs():
    fails = {0: Cause.SCRIPT_ERROR, 2: Cause.TIME_OUT, 4: Cause.NO_METRICS}

    class Table(FakeTable):
        def run(self, configuration, level, repeat):
            long = configuration["x"] % 2 == 1
            return Run(((1.0, {"loss": 1.0}),), 500.0 if long else 2.0, fails.get(configuration["x"]))

    benchmark = definition(space={"x": {"choice": list(range(10))}}, budget=Budget(max_failures=2))
    run = tuner(benchmark, MemoryJournal(), method="GRID", table=Table(), n_workers=8, jobs=FakeJobs(max_run_s=1000.0))
    ending = run.run()
    assert (ending.reason, ending.exit_code) == (Reason.FAILURES, 3)
    assert run.state.counted_failures == 3
    assert run.state.jobs == {}
    assert statuses(run)["interrupted"] == len(run.state.trials) - 3 - statuses(run)["completed"]


def test_money_counts_what_is_in_flight():
    most = 0

    def watch(record, state):
        nonlocal most
        most = max(most, len(state.jobs))

    # 300 s at $3.60 an hour: each may cost $0.30, so that four at once could pass $1.
    run = tuner(
        definition(budget=Budget(max_cost=1.0)),
        MemoryJournal(),
        n_workers=4,
        table=FakeTable(reports=100),
        jobs=FakeJobs(3.6, max_run_s=300.0),
        observers=(watch,),
    )
    ending = run.run()
    assert most == 3
    assert ending.reason is Reason.COST
    assert run.state.money.spent_usd <= 1.0
    assert run.state.money.spent_usd + 0.3 > 1.0


def test_unknown_price_is_unknown_not_zero():
    run = tuner(definition(budget=Budget(max_num_trials=2)), MemoryJournal(), jobs=FakeJobs(usd_per_hour=None))
    run.run()
    assert [trial.cost_usd for trial in run.state.trials.values()] == [None, None]


def test_nan_objective_is_kept_but_told_to_nobody():
    told = []

    class Watching(StopLate):
        def on_trial_result(self, evaluation, result):
            told.append(result["loss"])
            return Decision.CONTINUE

        def on_trial_error(self, evaluation):
            told.append("error")

    class Table(FakeTable):
        def run(self, configuration, level, repeat):
            values = [1.0, math.nan, math.inf, "1e-05", 12.34, None] if configuration["x"] == 0 else [0.5, math.nan]
            return Run([(float(k), {"epoch": k, "loss": v}) for k, v in enumerate(values, 1)], 10.0)

    journal = MemoryJournal()
    fidelity = PROGRESSIVE | {"full": 9}
    run = tuner(definition(fidelity=fidelity, budget=Budget(max_num_trials=2)), journal, make_method=Watching, table=Table(), n_workers=1)
    run.run()
    assert told == [1.0, 1e-05, 12.34, "error", 0.5, "error"]
    assert statuses(run) == {"failed": 1, "diverged": 1}  # the first ends on null: its objective is missing
    assert run.state.counted_failures == 1
    assert run.state.trials[0].best["loss"] == 1e-05
    reported = [record.body["metrics"]["loss"] for record in journal.records() if record.kind == "reported"][:6]
    assert [reported[0], *reported[2:]] == [1.0, math.inf, "1e-05", 12.34, None]
    assert math.isnan(reported[1])
    assert not any("NaN" in body or "Infinity" in body for *_, body in journal.rows)


def test_time_budget_is_a_normal_end_of_an_open_search_and_an_early_one_of_a_list():
    assert tuner(definition(budget=Budget(max_wallclock_time=5.0)), MemoryJournal()).run().exit_code == 0
    benchmark = definition(space={"x": {"choice": list(range(50))}}, budget=Budget(max_wallclock_time=5.0))
    assert tuner(benchmark, MemoryJournal(), method="GRID").run().exit_code == 4


def test_list_as_long_as_the_limit_is_finished():
    benchmark = definition(space={"x": {"choice": [1, 2, 3]}}, budget=Budget(max_num_trials=3))
    ending = tuner(benchmark, MemoryJournal(), method="GRID").run()
    assert (ending.reason, ending.exit_code) == (Reason.EXHAUSTED, 0)
    ending = tuner(benchmark.model_copy(update={"budget": Budget(max_num_trials=2)}), MemoryJournal(), method="GRID").run()
    assert (ending.reason, ending.exit_code) == (Reason.TRIALS, 4)


def test_space_smaller_than_the_trial_count_is_exhausted():
    benchmark = definition(space={"x": {"choice": [1, 2, 3]}}, budget=Budget(max_num_trials=10))
    run = tuner(benchmark, MemoryJournal())
    assert run.run().reason is Reason.EXHAUSTED
    assert sorted(trial.configuration["x"] for trial in run.state.trials.values()) == [1, 2, 3]


def test_no_valid_configuration_says_why():
    run = tuner(definition(space={"x": {"choice": [1, 2]}}), MemoryJournal(), refuse=lambda trial: "ruled out by valid: x > 2")
    ending = run.run()
    assert (ending.reason, ending.exit_code) == (Reason.NOTHING_VALID, 2)
    assert "ruled out by valid: x > 2" in ending.message


def test_interrupted_trials_run_again_on_resume():
    journal = MemoryJournal()
    first = tuner(definition(budget=Budget(max_num_trials=4)), journal, observers=(lambda r, s: s.reports == 2 and first.interrupt(),))
    ending = first.run()
    assert (ending.reason, ending.exit_code) == (Reason.INTERRUPTED, 130)
    assert statuses(first)["interrupted"] == 2
    second = tuner(definition(budget=Budget(max_num_trials=4)), journal)
    assert second.run().exit_code == 0
    assert statuses(second) == {"completed": 4}
    assert max(trial.submissions for trial in second.state.trials.values()) == 2


def test_an_interrupt_wakes_the_back_end_that_waits():
    class Sleeping(SimulatedBackend):
        woken = 0

        def wake(self):
            self.woken += 1
            super().wake()

    backend = Sleeping(FakeTable())
    run = tuner(definition(), MemoryJournal(), backend=backend)
    run.interrupt()
    assert backend.woken == 1
    assert run.run().reason is Reason.INTERRUPTED
    assert not run.state.trials


def test_stop_at_the_last_level_lets_the_script_finish():
    class StopAlways(StopLate):
        def on_trial_result(self, evaluation, result):
            self.told.append(result["epoch"])
            return Decision.STOP if result["epoch"] == 3 else Decision.CONTINUE

    run = tuner(definition(fidelity=PROGRESSIVE), MemoryJournal(), make_method=StopAlways)
    run.run()
    assert statuses(run) == {"completed": 6}


def test_retry_is_no_new_evaluation_and_tells_only_higher_levels():
    method = StopLate()
    run = tuner(
        definition(fidelity=PROGRESSIVE, budget=Budget(max_num_trials=4)),
        MemoryJournal(),
        make_method=lambda: method,
        failure_rate=0.6,
        seed=2,
        n_workers=1,
        stop_delay_s=9.0,
    )
    run.run()
    assert max(trial.starts for trial in run.state.trials.values()) > 1
    for evaluation in (0, 2):
        levels = [level for told, level in method.told if told == evaluation]
        assert levels == sorted(set(levels))


def test_stopping_jobs_hold_their_slot():
    most = 0

    def watch(record, state):
        nonlocal most
        most = max(most, state.busy)

    run = tuner(definition(fidelity=PROGRESSIVE), MemoryJournal(), make_method=StopLate, n_workers=3, stop_delay_s=60.0, observers=(watch,))
    run.run()
    assert most == 3
    assert statuses(run)["failed"] == 0


def test_reports_after_a_stop_are_kept():
    journal = MemoryJournal()
    run = tuner(definition(fidelity=PROGRESSIVE), journal, make_method=StopLate, n_workers=1, stop_delay_s=1.5)
    run.run()
    assert run.state.trials[1].status is TrialStatus.STOPPED
    assert run.state.trials[1].reports == 2


def test_every_intent_is_recorded_before_its_effect():
    journal = MemoryJournal()
    submitted = []

    class Watched(SimulatedBackend):
        def submit(self, job):
            submitted.append((job.name, kinds(journal).count("start")))
            super().submit(job)

    tuner(definition(budget=Budget(max_num_trials=5)), journal, backend=Watched(FakeTable())).run()
    assert submitted == [(f"job-t{trial}-a1", trial + 1) for trial in range(5)]
