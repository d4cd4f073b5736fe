"""Syne Tune's Tuner with jobs that really run on this machine."""

import time
from pathlib import Path

import pytest
from syne_tune.config_space import randint
from syne_tune.optimizer.baselines import ASHA, RandomSearch
from syne_tune.optimizer.scheduler import SchedulerDecision, TrialSuggestion

from backends.local.backend import LocalBackend
from benchmarking.syne_tune_adapter import OutriderBackend
from tests.benchmarking.syne_tune_adapter.tuning import EPOCHS, Scripted, definition, fresh, rows, tune

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
    # A pause may come at any moment, and a checkpoint that is half written is none.
    (kept.parent / "new").write_text(str(epoch))
    os.replace(kept.parent / "new", kept)
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
    begun_at = [int(line.split()[1]) for line in "".join(local.stdout(0)).splitlines() if line.startswith("from ")]
    assert begun_at[0] == 0
    assert begun_at[1] >= 2
    heard = [epoch for trial, epoch in scheduler.heard if trial == 0]
    # Each comes once; one alone may never have been said: whose checkpoint was there when the pause came, and whose report was not.
    assert heard == [epoch for epoch in range(1, EPOCHS + 1) if epoch in heard]
    assert {*range(1, EPOCHS + 1)} - {*heard} <= {begun_at[1]} - {2}


@pytest.mark.slow
def test_a_failing_script_shows_its_log(tmp_path, local):
    (tmp_path / "train.py").write_text("raise ValueError('no such luck')\n")
    with pytest.raises(ValueError, match="Trial - 0 failed"):
        tune(local, Scripted([fresh(1), fresh(2), fresh(3)]), trials=9, n_workers=1, max_failures=0)
    assert "ValueError: no such luck" in "".join(local.stdout(0))


@pytest.mark.slow
def test_the_loop_hears_of_an_end_at_once(local, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: slept.append(seconds))
    slept = []
    space = {"x": randint(0, 9), "epochs": 1}
    tuner = tune(local, RandomSearch(space, metrics=["loss"], do_minimize=True), trials=3, n_workers=1)
    assert tuner.tuning_status.num_trials_completed >= 3
    # An event ends the wait for it: nobody looks again after a while.
    assert sum(slept) == 0
