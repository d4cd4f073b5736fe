"""What libraries printed (`recorded/README.md`) gives the figures that it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.reports import ReportParser
from definitions.metrics import MetricSources

RECORDED = Path(__file__).parent / "recorded"


def reports(name: str, *objectives: str) -> list[dict[str, Any]]:
    parser = ReportParser(sources=MetricSources((), (name.partition("_")[0],), None, objectives))
    return [dict(report.metrics) for report in parser.feed((RECORDED / f"{name}.log").read_bytes()) + parser.finish()]


def test_xgboost() -> None:
    found = reports("xgboost", "val-auc")
    assert found[1] == {"round": 2, "train-logloss": 0.30816, "train-auc": 1.0, "val-logloss": 0.30699, "val-auc": 1.0}
    assert [one["round"] for one in found[:3]] == [1, 2, 3]
    assert reports("xgboost")[-1] == {"round": 2, "train-logloss": 0.31415, "test-logloss": 0.3287}  # without what follows the +


def test_lightgbm() -> None:
    found = reports("lightgbm")
    assert found[2] == {"round": 3, "training-l2": 0.535424, "training-l1": 0.585057, "valid_1-l2": 0.555422, "valid_1-l1": 0.588131}
    assert found[-1] == {"round": 2, "valid-l2": 0.671616}


def test_the_round_that_lightgbm_shows_again_at_its_end_is_no_further_report() -> None:
    assert [one["round"] for one in reports("lightgbm_early")] == [1, 2, 3, 4]


def test_keras() -> None:
    assert reports("keras", "val_loss") == [
        {"epoch": 1, "accuracy": 0.5208, "loss": 0.907, "val_accuracy": 0.4375, "val_loss": 1.213},
        {"epoch": 2, "accuracy": 0.5208, "loss": 0.8924, "val_accuracy": 0.5, "val_loss": 1.1912},
    ]


def test_lightning_tells_an_epoch_once_and_never_by_the_figures_of_the_one_before() -> None:
    assert reports("lightning_tqdm", "val_loss") == [
        {"epoch": 1, "train_loss": 0.0328, "val_loss": 0.0281},
        {"epoch": 2, "train_loss": 0.0037, "val_loss": 0.00442},
    ]


def test_lightning_s_rich_bar_shows_only_its_end_and_wraps_it() -> None:
    assert reports("lightning_rich", "val_loss") == [{"epoch": 2, "train_loss": 0.006, "val_loss": 0.009}]


def test_huggingface() -> None:
    found = reports("huggingface", "eval_loss")
    evaluated = [one for one in found if one["epoch"] in (1, 2)]
    assert [(one["epoch"], one["loss"], one["eval_loss"]) for one in evaluated[:2]] == [(1, 0.6931, 0.6927), (2, 0.6914, 0.6927)]
    assert evaluated[-1]["train_runtime"] == 1.31
    assert reports("huggingface", "loss")[0] == {"loss": 0.6925, "grad_norm": 0.3623, "learning_rate": 4.375e-05, "epoch": 0.5}


def test_a_program_s_own_bar_that_counts_from_1_is_not_lightning_s() -> None:
    bar = b"\rEpoch 1/3:  50%|##  | 5/10 [00:00<00:01, 9.1it/s, loss=0.5]\rEpoch 1/3: 100%|####| 10/10 [00:01<00:00, 9.1it/s, loss=0.4]\n"
    parser = ReportParser(sources=MetricSources((), ("lightning",), None, ("loss",)))
    assert parser.feed(bar) + parser.finish() == []
