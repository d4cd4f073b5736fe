"""Whose words the metrics of a trial run are in, and which one is worth optimising."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarking.scripts.metric_names import best_objective, mode_of
from benchmarking.scripts.trial_log import TrialLog, read_trial_log

RECORDED = Path(__file__).parents[2] / "backends" / "metrics" / "recorded"


def test_report_lines_win_over_words():
    lines = [f"[tune-metric]: {json.dumps({'epoch': epoch, 'loss': 1 / epoch, 'st_worker_iter': epoch - 1})}" for epoch in (1, 2)]
    log = read_trial_log("\n".join([*lines, "accuracy: 0.3", ""]).encode())
    assert (log.source, log.level, log.objective, dict(log.metrics)) == ("reports", "epoch", "loss", {"epoch": [1, 2], "loss": [1.0, 0.5]})


@pytest.mark.parametrize("library", ["huggingface", "keras", "lightgbm", "lightning", "xgboost"])
def test_what_libraries_print_is_known(library):
    files = sorted(path for path in RECORDED.iterdir() if library in path.name)
    assert files
    for file in files:
        log = read_trial_log(file.read_bytes())
        assert log.source == library, file.name


def bars_and(*said: str) -> bytes:
    """Return the output of a program with a bar of tqdm for each of two epochs, and what it says after each."""
    bar = "\rEpoch {0}:   0%|          | 0/8 [00:00<?, ?it/s]\rEpoch {0}: 100%|####| 8/8 [00:00<00:00, 92.1it/s, loss=0.{1}]\n"
    return "".join(bar.format(epoch, 9 - epoch) + (said[epoch - 1] if epoch <= len(said) else "") for epoch in (1, 2)).encode()


def test_what_is_said_beside_bars_that_look_like_lightning_s_counts_where_it_is_the_better_metric():
    log = read_trial_log(bars_and("\nTest set: Average loss: 0.31, Accuracy: 45/50\n", "\nTest set: Average loss: 0.25, Accuracy: 47/50\n"))
    assert (log.source, log.level, log.objective) == ("expressions", "epoch", "test_accuracy")
    assert log.metrics["test_accuracy"] == (45.0, 47.0)
    assert replace(log, asked_level=2, is_whole=True).counts_from == 1


def test_bars_stay_lightning_s_where_nothing_better_is_said_beside_them_at_each_level():
    for said in ((), ("train loss: 0.5\n", "train loss: 0.4\n"), ("\n", "test accuracy: 0.9\n")):
        log = read_trial_log(bars_and(*said))
        assert (log.source, log.objective) == ("lightning", "loss")


def test_own_words_are_expressions():
    log = read_trial_log(b"epoch 0 val_acc: 0.5 loss: 2.0\nepoch 1 val_acc: 0.6 loss: 1.0\n")
    assert (log.source, log.level, log.objective, log.others) == ("expressions", "epoch", "val_acc", ("loss",))
    assert log.counts_from is None


@pytest.mark.parametrize(
    ("course", "asked", "is_whole", "first"),
    [((1, 2), 2, True, 1), ((1, 2, 3), None, False, 1), ((1, 2), 3, True, None), ((0, 1), 2, True, 0), ((0, 1, 2), 2, True, None),
     ((0, 1, 2), None, True, 0), ((0, 1, 2), None, False, None), ((0, 0.5), 2, True, None), ((2, 1), None, True, None)],
)  # fmt: skip
def test_what_the_first_level_is_called(course, asked, is_whole, first):
    log = TrialLog("expressions", {"epoch": course}, {}, "epoch", "loss", asked, is_whole)
    assert log.counts_from == first
    # What a library prints is counted from 1 by who reads it.
    assert replace(log, source="keras").counts_from == (None if first == 0 else first)


def test_what_a_script_repeats_of_its_arguments_is_no_metric():
    output = b"lr=0.1 l2=0.01 cost=3 epochs: 2\nepoch 1 loss: 2.0 l2=0.01\nepoch 2 loss: 1.0 l2=0.01\n"
    log = read_trial_log(output)
    assert {"l2", "cost"} <= set(log.metrics)
    told = log.without_echoes({"optim.l2": 0.01, "cost": 4, "epochs": 2, "loss": 1.0})
    assert (set(told.metrics), set(told.expressions)) == ({"epoch", "loss", "cost"}, {"epoch", "loss", "cost"})
    assert told.level == "epoch"
    assert read_trial_log(b"cost: 3\n").without_echoes({"cost": 3}).source == ""


def test_nothing_is_nothing():
    assert read_trial_log(b"hello\n").source == ""


@pytest.mark.parametrize(
    ("names", "best"),
    [
        (["train_loss", "val_loss"], "val_loss"),
        (["val_loss", "val_acc", "train_acc"], "val_acc"),
        (["loss", "eval_f1"], "eval_f1"),
        (["test_rmse", "train_rmse"], "test_rmse"),
        (["epoch", "lr"], ""),
        (["quux"], "quux"),
    ],
)
def test_validation_before_training_and_scores_before_losses(names, best):
    assert best_objective(dict.fromkeys(names, (1.0,))) == best


@pytest.mark.parametrize(
    ("name", "values", "mode"),
    [
        ("val_loss", (), "min"), ("rmse", (), "min"), ("perplexity", (), "min"), ("val_acc", (), "max"), ("test_auc", (), "max"),
        ("mAP50", (), "max"),
        ("r2", (), "max"), ("quux", (1.0, 2.0), "max"), ("quux", (2.0, 1.0), "min"), ("quux", (), "min"),
    ],
)  # fmt: skip
def test_the_name_says_what_is_better_else_the_course(name, values, mode):
    assert mode_of(name, values)[0] == mode
