"""Whose words the metrics of a trial run are in, and which one is worth optimising."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarking.scripts.metric_names import best_objective, mode_of
from benchmarking.scripts.trial_log import read_trial_log

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


def test_own_words_are_expressions():
    log = read_trial_log(b"epoch 0 val_acc: 0.5 loss: 2.0\nepoch 1 val_acc: 0.6 loss: 1.0\n")
    assert (log.source, log.level, log.objective, log.others) == ("expressions", "epoch", "val_acc", ("loss",))
    assert not log.counts_from_one


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
