"""Syne Tune's Tuner on the adapter, on a virtual clock: what its schedulers hear, and what comes of their decisions."""

import subprocess
import sys
from pathlib import Path

import dill
import pytest
from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend.trial_status import Status
from syne_tune.optimizer.baselines import ASHA, RandomSearch
from syne_tune.optimizer.scheduler import SchedulerDecision, TrialSuggestion

from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.syne_tune_adapter import OutriderBackend
from definitions.errors import UserError
from tests.benchmarking.syne_tune_adapter.tuning import EPOCHS, SPACE, Curves, Scripted, definition, fresh, rows, simulated, tune


def test_random_search_completes_every_trial_on_a_virtual_clock(tmp_path):
    tuner = tune(simulated(tmp_path), RandomSearch(SPACE, metrics=["loss"], do_minimize=True, random_seed=1), trials=40)
    assert tuner.tuning_status.num_trials_completed >= 40
    assert tuner.tuning_status.num_trials_failed == 0
    finished = [trial for trial, status in tuner.tuning_status.last_trial_status_seen.items() if status == Status.completed]
    by_trial = {}
    for row in rows(tuner):
        by_trial.setdefault(row["trial_id"], []).append(row["epoch"])
    assert all(by_trial[trial] == list(range(1, EPOCHS + 1)) for trial in finished)


def test_results_carry_time_and_nominal_cost(tmp_path):
    tuner = tune(simulated(tmp_path), RandomSearch(SPACE, metrics=["loss"], do_minimize=True), trials=4)
    last = [row for row in rows(tuner) if row["trial_id"] == 0][-1]
    assert last["st_worker_time"] == pytest.approx(EPOCHS)
    assert last["st_worker_iter"] == EPOCHS - 1
    per_hour = last["st_worker_cost"] / last["st_worker_time"] * 3600
    assert per_hour == pytest.approx(0.05, rel=1e-6)
    assert tuner.trial_backend.cost_usd(0) == pytest.approx(last["st_worker_cost"] * (EPOCHS + 0.5) / EPOCHS)
    assert tuner.tuning_status.cost > 0


def test_max_cost_of_syne_tune_works_again(tmp_path):
    backend = simulated(tmp_path)
    scheduler = RandomSearch(SPACE, metrics=["loss"], do_minimize=True)
    criterion = StoppingCriterion(max_cost=1e-3, max_wallclock_time=60)
    tuner = Tuner(backend, scheduler, criterion, n_workers=2, sleep_time=0, save_tuner=False)
    tuner.run()
    assert 1e-3 < tuner.tuning_status.cost < 1.1e-3


def test_asha_stops_trials_early(tmp_path):
    scheduler = ASHA(SPACE, metric="loss", do_minimize=True, time_attr="epoch", max_t=EPOCHS, random_seed=1)
    tuner = tune(simulated(tmp_path), scheduler, trials=40)
    lengths = {}
    for row in rows(tuner):
        lengths[row["trial_id"]] = row["epoch"]
    assert min(lengths.values()) == 1
    assert max(lengths.values()) == EPOCHS
    assert sum(lengths.values()) < 0.6 * EPOCHS * len(lengths)
    assert all(not record.is_open for record in tuner.trial_backend.manager.records.values())


def test_a_paused_trial_loses_and_doubles_no_report(tmp_path):
    """Reports 3 and 4 arrive together with the pause on 2 (as the loop was slow), and 5 after it."""
    resume = TrialSuggestion.resume_suggestion(0)
    scheduler = Scripted([fresh(5), fresh(6), resume], {(0, 2): SchedulerDecision.PAUSE})
    tune(simulated(tmp_path, stop_delay_s=2.5), scheduler, trials=9, n_workers=1)
    assert [epoch for trial, epoch in scheduler.heard if trial == 0] == list(range(1, EPOCHS + 1))
    assert sorted(scheduler.completed) == [0, 1]


def test_resuming_while_the_paused_job_still_ends_waits_for_it(tmp_path):
    resume = TrialSuggestion.resume_suggestion(0)
    scheduler = Scripted([fresh(5), resume], {(0, 3): SchedulerDecision.PAUSE})
    backend = simulated(tmp_path, stop_delay_s=2.5)
    tune(backend, scheduler, trials=9, n_workers=1)
    assert [epoch for _, epoch in scheduler.heard] == list(range(1, EPOCHS + 1))
    assert backend.manager.records[0].submissions == 2
    assert backend.manager.records[0].repeated == 0


def test_paused_at_its_last_report_is_not_run_again(tmp_path):
    resume = TrialSuggestion.resume_suggestion(0)
    backend = simulated(tmp_path, stop_delay_s=2.5)
    scheduler = Scripted([fresh(5), fresh(6), resume], {(0, EPOCHS): SchedulerDecision.PAUSE})
    tune(backend, scheduler, trials=9, n_workers=1)
    assert [epoch for trial, epoch in scheduler.heard if trial == 0] == list(range(1, EPOCHS + 1))
    assert backend.manager.records[0].submissions == 1
    assert 0 in scheduler.completed


def test_a_copied_checkpoint_is_where_the_copy_starts(tmp_path):
    scheduler = Scripted([fresh(5), fresh(6, checkpoint=0)], {(0, 4): SchedulerDecision.PAUSE})
    tune(simulated(tmp_path), scheduler, trials=9, n_workers=1)
    assert [epoch for trial, epoch in scheduler.heard if trial == 1] == list(range(5, EPOCHS + 1))


def test_script_errors_are_told_and_counted(tmp_path):
    scheduler = Scripted([fresh(5), fresh(7), fresh(6)])
    backend = simulated(tmp_path, Curves(fails={7}))
    tuner = tune(backend, scheduler, trials=9, n_workers=1)
    assert scheduler.errors == [1]
    assert scheduler.completed == [0, 2]
    assert tuner.tuning_status.num_trials_failed == 1
    assert "script_error" in backend.stderr(1)[0]


def test_service_errors_are_retried_without_the_loop_hearing_of_them(tmp_path):
    scheduler = Scripted([fresh(x) for x in range(12)])
    backend = simulated(tmp_path, failure_rate=0.3, seed=3)
    tune(backend, scheduler, trials=99, n_workers=3)
    assert sum(record.submissions for record in backend.manager.records.values()) > 12
    assert scheduler.errors == []
    for trial in range(12):
        assert [epoch for one, epoch in scheduler.heard if one == trial] == list(range(1, EPOCHS + 1))


class Odd:
    """x says what is odd: 0 reports nothing, 1 NaN, 2 lacks the objective at first, 3 is as it should be."""

    def run(self, configuration, level, repeat):
        x = configuration["x"]
        losses = {0: [], 1: [1.0, float("nan"), 0.5], 2: [None, 0.7], 3: [0.9, 0.8]}[x]
        reports = [(k, {"epoch": k, **({} if loss is None else {"loss": loss})}) for k, loss in enumerate(losses, 1)]
        return Run(reports, 4.0)


def test_odd_reports_end_no_experiment(tmp_path):
    scheduler = Scripted([fresh(x) for x in (0, 1, 2, 3)])
    backend = simulated(tmp_path, Odd())
    tuner = tune(backend, scheduler, trials=9, n_workers=1, max_failures=5)
    assert scheduler.errors == [0, 1]
    assert scheduler.completed == [2, 3]
    assert scheduler.heard == [(1, 1), (2, 2), (3, 1), (3, 2)]
    assert "no_metrics" in backend.stderr(0)[0]
    assert "diverged" in backend.stderr(1)[0]
    assert tuner.tuning_status.num_trials_failed == 2


def test_a_configuration_that_valid_rules_out_fails_alone(tmp_path):
    scheduler = Scripted([fresh(5), fresh(99)])
    backend = simulated(tmp_path, benchmark=definition(valid=["x < 50"]))
    tune(backend, scheduler, trials=9, n_workers=1)
    assert (scheduler.errors, scheduler.completed) == ([1], [0])
    assert "ruled out by valid: x < 50" in backend.stderr(1)[0]


def test_never_more_trials_than_workers_although_stopping_takes_time(tmp_path):
    backend = simulated(tmp_path, stop_delay_s=3.0)
    most = []
    fetch = backend.fetch_status_results

    def watched(trial_ids):
        found = fetch(trial_ids)
        most.append(sum(record.holds_slot for record in backend.manager.records.values()))
        return found

    backend.fetch_status_results = watched
    scheduler = ASHA(SPACE, metric="loss", do_minimize=True, time_attr="epoch", max_t=EPOCHS, random_seed=1)
    tuner = tune(backend, scheduler, trials=30, start_jobs_without_delay=False)
    assert max(most) == 4
    polled = {row["trial_id"] for row in rows(tuner)}
    assert polled == set(range(len(backend.trial_ids))) - {t for t in backend.trial_ids if not backend.manager.records[t].results}


def test_a_saved_tuner_goes_on_and_names_no_job_twice(tmp_path):
    backend = OutriderBackend(definition(), "simulated", make_backend=MakeCurves(), folder=tmp_path / "jobs")
    scheduler = RandomSearch(SPACE, metrics=["loss"], do_minimize=True, random_seed=1)
    tuner = tune(backend, scheduler, trials=6, save_tuner=True)
    first = len(backend.trial_ids)
    loaded = Tuner.load(tuner.tuner_path)
    loaded.stop_criterion = StoppingCriterion(max_num_trials_finished=first + 5, max_wallclock_time=60)
    loaded.run()
    records = loaded.trial_backend.manager.records
    assert sorted(records) == list(range(len(records)))
    assert len(records) > first
    jobs = [job for record in records.values() for job in record.jobs]
    assert len(set(jobs)) == len(jobs)


class MakeCurves:
    def __call__(self, context):
        return SimulatedBackend(Curves(), checkpoints=context.folder / "checkpoints")


def test_running_trials_of_a_snapshot_are_given_up_when_it_is_loaded(tmp_path):
    backend = OutriderBackend(definition(), "simulated", make_backend=MakeCurves(), folder=tmp_path / "jobs")
    backend.start_trial({"x": 5, "epochs": EPOCHS})
    backend.fetch_status_results([0])
    copy = dill.loads(dill.dumps(backend))
    backend.close()
    copy.start_trial({"x": 6, "epochs": EPOCHS})
    for _ in range(50):
        copy.fetch_status_results([1])
    assert [record.status for record in copy.manager.records.values()] == ["Stopped", "Completed"]


def test_unknown_names_are_told():
    with pytest.raises(UserError, match="there is no benchmark 'dmeo'"):
        OutriderBackend("dmeo")
    backend = OutriderBackend(definition(script="f.py"), "simulated", make_backend=MakeCurves())
    with pytest.raises(UserError, match="there is no folder for logs"):
        backend.start_trial({"x": 1})
    with pytest.raises(UserError, match="there is no back-end 'sagemkaer'"):
        OutriderBackend(definition(), "sagemkaer")


@pytest.mark.slow
def test_the_package_is_imported_without_syne_tune():
    code = "import sys, benchmarking.syne_tune_adapter, benchmarking.syne_tune_adapter.trial_record; print('syne_tune' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).resolve().parents[3], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
