import subprocess
import sys
import time
from pathlib import Path

import dill
import pytest
from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend.trial_status import Status
from syne_tune.config_space import randint
from syne_tune.optimizer.baselines import ASHA, RandomSearch
from syne_tune.optimizer.scheduler import SchedulerDecision, TrialScheduler, TrialSuggestion
from syne_tune.results_callback import StoreResultsCallback

from backends.failures import Cause
from backends.local.backend import LocalBackend
from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.syne_tune_adapter import OutriderBackend
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

EPOCHS = 9


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNETUNE_FOLDER", str(tmp_path / "syne-tune"))
    monkeypatch.setenv("OUTRIDER_CACHE", str(tmp_path / "cache"))


class Curves:
    """Loss falls along the epochs towards x; one epoch takes a second."""

    def __init__(self, fails=(), start_s=0.0):
        self.fails, self.start_s = fails, start_s

    def run(self, configuration, level, repeat):
        x = configuration["x"]
        reports = [(self.start_s + k, {"epoch": k, "loss": x + 1.0 / k}) for k in range(1, EPOCHS + 1)]
        return Run(reports, self.start_s + EPOCHS + 0.5, Cause.SCRIPT_ERROR if x in self.fails else None)


def definition(**changes):
    given = {
        "name": "fake",
        "script": "fake.py",
        "space": {"x": {"randint": [0, 99]}},
        "objectives": {"loss": "min"},
        "fidelity": {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": EPOCHS},
    }
    return BenchmarkDefinition(**(given | changes))


def simulated(tmp_path, table=None, benchmark=None, **options):
    table = table or Curves()
    backend_options = {key: options.pop(key) for key in ("seed", "failure_rate", "stop_delay_s", "slots") if key in options}

    def make(context):
        return SimulatedBackend(table, checkpoints=context.folder / "checkpoints", **backend_options)

    return OutriderBackend(benchmark or definition(), "simulated", make_backend=make, folder=tmp_path / "jobs", **options)


SPACE = {"x": randint(0, 99), "epochs": EPOCHS}


def tune(backend, scheduler, *, trials, n_workers=4, **options):
    tuner = Tuner(
        trial_backend=backend,
        scheduler=scheduler,
        stop_criterion=StoppingCriterion(max_num_trials_finished=trials - 1, max_wallclock_time=60),
        n_workers=n_workers,
        sleep_time=0,
        suffix_tuner_name=False,
        save_tuner=options.pop("save_tuner", False),
        **options,
    )
    tuner.run()
    return tuner


def rows(tuner):
    callback = next(one for one in tuner.callbacks if isinstance(one, StoreResultsCallback))
    return callback.results


class Scripted(TrialScheduler):
    """Suggests what it is told to, and pauses and stops as it is told to."""

    def __init__(self, suggestions, decisions=None):
        super().__init__(random_seed=0)
        self.left = list(suggestions)
        self.decisions = dict(decisions or {})
        self.heard, self.errors, self.completed = [], [], []

    def suggest(self):
        if not self.left:
            return None
        one = self.left.pop(0)
        return one() if callable(one) else one

    def on_trial_result(self, trial, result):
        self.heard.append((trial.trial_id, result["epoch"]))
        return self.decisions.pop((trial.trial_id, result["epoch"]), SchedulerDecision.CONTINUE)

    def on_trial_error(self, trial):
        self.errors.append(trial.trial_id)

    def on_trial_complete(self, trial, result):
        self.completed.append(trial.trial_id)

    def metric_names(self):
        return ["loss"]

    def metric_mode(self):
        return "min"

    def metadata(self):
        return {"metric_names": ["loss"], "metric_mode": "min"}


def fresh(x, checkpoint=None):
    config = {"x": x, "epochs": EPOCHS}
    return TrialSuggestion.start_suggestion(config, checkpoint_trial_id=checkpoint)


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
    assert all(not record.is_open for record in tuner.trial_backend._manager.records.values())


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
    assert backend._manager.records[0].submissions == 2
    assert backend._manager.records[0].repeated == 0


def test_paused_at_its_last_report_is_not_run_again(tmp_path):
    resume = TrialSuggestion.resume_suggestion(0)
    backend = simulated(tmp_path, stop_delay_s=2.5)
    scheduler = Scripted([fresh(5), fresh(6), resume], {(0, EPOCHS): SchedulerDecision.PAUSE})
    tune(backend, scheduler, trials=9, n_workers=1)
    assert [epoch for trial, epoch in scheduler.heard if trial == 0] == list(range(1, EPOCHS + 1))
    assert backend._manager.records[0].submissions == 1
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
    assert sum(record.submissions for record in backend._manager.records.values()) > 12
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
        most.append(sum(record.holds_slot for record in backend._manager.records.values()))
        return found

    backend.fetch_status_results = watched
    scheduler = ASHA(SPACE, metric="loss", do_minimize=True, time_attr="epoch", max_t=EPOCHS, random_seed=1)
    tuner = tune(backend, scheduler, trials=30, start_jobs_without_delay=False)
    assert max(most) == 4
    polled = {row["trial_id"] for row in rows(tuner)}
    assert polled == set(range(len(backend.trial_ids))) - {t for t in backend.trial_ids if not backend._manager.records[t].results}


def test_a_saved_tuner_goes_on_and_names_no_job_twice(tmp_path):
    backend = OutriderBackend(definition(), "simulated", make_backend=MakeCurves(), folder=tmp_path / "jobs")
    scheduler = RandomSearch(SPACE, metrics=["loss"], do_minimize=True, random_seed=1)
    tuner = tune(backend, scheduler, trials=6, save_tuner=True)
    first = len(backend.trial_ids)
    loaded = Tuner.load(tuner.tuner_path)
    loaded.stop_criterion = StoppingCriterion(max_num_trials_finished=first + 5, max_wallclock_time=60)
    loaded.run()
    records = loaded.trial_backend._manager.records
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
    assert [record.status for record in copy._manager.records.values()] == ["Stopped", "Completed"]


SCRIPT = """
import argparse, os, pathlib, sys, time
from outrider_report import report, checkpoint_dir
parser = argparse.ArgumentParser()
for name in ("x", "epochs"):
    parser.add_argument("--" + name, type=int)
asked = parser.parse_args()
kept = checkpoint_dir() / "epoch"
done = int(kept.read_text()) if kept.exists() else 0
print("from", done, file=sys.stderr)
for epoch in range(done + 1, asked.epochs + 1):
    time.sleep(0.03)
    kept.write_text(str(epoch))
    report(epoch=epoch, loss=asked.x + 1 / epoch)
"""


@pytest.fixture
def local(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)

    def make(context):
        return LocalBackend(context.folder, leases_dir=tmp_path / "leases", environment=context.environ, grace_s=0.5)

    benchmark = definition(script="train.py", source_dir=str(tmp_path))
    backend = OutriderBackend(benchmark, make_backend=make, delete_checkpoints=True)
    yield backend
    backend.close()


@pytest.mark.slow
def test_random_search_on_this_machine(local):
    space = {"x": randint(0, 99), "epochs": 3}
    tuner = tune(local, RandomSearch(space, metrics=["loss"], do_minimize=True, random_seed=1), trials=4, n_workers=2)
    assert tuner.tuning_status.num_trials_completed >= 4
    assert [row["epoch"] for row in rows(tuner) if row["trial_id"] == 0] == [1, 2, 3]
    assert any("from 0" in line for line in local.stdout(0))
    folder = Path(tuner.trial_backend_path)
    assert (folder / "logs").is_dir()
    assert not any(path.is_dir() and any(path.iterdir()) for path in (folder / "checkpoints").glob("*"))


@pytest.mark.slow
def test_asha_and_a_pause_on_this_machine(local):
    scheduler = ASHA(
        {"x": randint(0, 99), "epochs": EPOCHS}, metric="loss", do_minimize=True, time_attr="epoch", max_t=EPOCHS, random_seed=1
    )
    tuner = tune(local, scheduler, trials=6, n_workers=2)
    epochs = {}
    for row in rows(tuner):
        epochs.setdefault(row["trial_id"], []).append(row["epoch"])
    assert all(seen == list(range(1, len(seen) + 1)) for seen in epochs.values())
    assert any(len(seen) < EPOCHS for seen in epochs.values())


@pytest.mark.slow
def test_pause_and_resume_on_this_machine_goes_on_from_the_checkpoint(local):
    resume = TrialSuggestion.resume_suggestion(0)
    scheduler = Scripted([fresh(5), fresh(6), resume], {(0, 2): SchedulerDecision.PAUSE})
    tune(local, scheduler, trials=9, n_workers=1)
    assert [epoch for trial, epoch in scheduler.heard if trial == 0] == list(range(1, EPOCHS + 1))
    log = "".join(local.stdout(0))
    assert "from 0" in log
    resumed_from = next((int(line.split()[1]) for line in log.splitlines() if line.startswith("from") and line != "from 0"), None)
    assert resumed_from is None or resumed_from >= 2


@pytest.mark.slow
def test_a_failing_script_shows_its_log(tmp_path, local):
    (tmp_path / "train.py").write_text("raise ValueError('no such luck')\n")
    with pytest.raises(ValueError, match="Trial - 0 failed"):
        tune(local, Scripted([fresh(1), fresh(2), fresh(3)]), trials=9, n_workers=1, max_failures=0)
    assert "ValueError: no such luck" in "".join(local.stdout(0))


@pytest.mark.slow
def test_the_loop_hears_of_an_end_at_once(local):
    space = {"x": randint(0, 9), "epochs": 1}
    started = time.monotonic()
    tune(local, RandomSearch(space, metrics=["loss"], do_minimize=True), trials=3, n_workers=1)
    assert time.monotonic() - started < 10


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
