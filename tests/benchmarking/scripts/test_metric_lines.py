"""Metrics in what scripts print in their own words, and the expressions that find them again."""

from __future__ import annotations

import math
import re

import pytest

from benchmarking.scripts.metric_lines import NUMBER, find_metrics, lines_of
from definitions.metrics import check_expression


def found_in(text):
    return {one.name: one for one in find_metrics(lines_of(text.encode()))}


@pytest.mark.parametrize(
    ("text", "level", "metrics"),
    [
        (
            "Loading 1000 samples\nEpoch 1/2 | train loss: 0.532, val_acc = 81.2%\nEpoch 2/2 | train loss: 0.432, val_acc = 82.2%\n",
            ("epoch", "Epoch "),
            {"train_loss": ("train loss: ", (0.532, 0.432)), "val_acc": (r"\bval_acc = ", (81.2, 82.2))},
        ),
        # Lines alike in their words are told apart by which part of the data they are about.
        (
            "Train Epoch: 1 [0/60 (0%)]\tLoss: 2.3\nTest set: Average loss: 0.05, Accuracy: 98/100 (98%)\n"
            "Train Epoch: 2 [0/60 (0%)]\tLoss: 0.3\nTest set: Average loss: 0.04, Accuracy: 99/100 (99%)\n",
            ("epoch", "Epoch: "),
            {
                "train_loss": (r"Train.*?\bLoss: ", (2.3, 0.3)),
                "test_average_loss": (r"Test.*?\bAverage loss: ", (0.05, 0.04)),
                "test_accuracy": (r"Test.*?\bAccuracy: ", (98.0, 99.0)),
            },
        ),
        ("epoch 1 loss 0.53\nepoch 2 loss 0.43\n", ("epoch", "epoch "), {"loss": (r"\bloss ", (0.53, 0.43))}),
        # The words before the level are those of the number behind it.
        (
            "Validation accuracy after epoch 1: 0.53\nValidation accuracy after epoch 2: 0.63\n",
            ("epoch", "epoch "),
            {"validation_accuracy": (r"Validation accuracy after.*: ", (0.53, 0.63))},
        ),
        (
            '{"epoch": 1, "val_loss": 0.5}\n{"epoch": 2, "val_loss": 0.4}\n',
            ("epoch", 'epoch": '),
            {"val_loss": (r'\bval_loss": ', (0.5, 0.4))},
        ),
        (
            "Epoch 1\n  loss: 0.5\n  val loss: 0.7\nEpoch 2\n  loss: 0.4\n  val loss: 0.6\n",
            ("epoch", "Epoch "),
            {"loss": (r"(?:^ *|[^\w ] *)loss: ", (0.5, 0.4)), "val_loss": ("val loss: ", (0.7, 0.6))},
        ),
        (
            "train loss 0.5 acc 0.4 val loss 0.6 acc 0.3\ntrain loss 0.4 acc 0.5 val loss 0.5 acc 0.4\n",
            ("", ""),
            {
                "train_loss": ("train loss ", (0.5, 0.4)),
                "train_acc": (r"train.*?\bacc ", (0.4, 0.5)),
                "val_loss": ("val loss ", (0.6, 0.5)),
                "val_acc": (r"val.*?\bacc ", (0.3, 0.4)),
            },
        ),
        # Numbers that are aligned have blanks before them.
        ("step     9 | loss 3.21e-01\nstep   100 | loss 2.21e-01\n", ("step", "step *"), {"loss": (r"\bloss ", (0.321, 0.221))}),
        # Times, rates and dates are no metrics.
        (
            "2024-01-02 10:11:12,123 INFO fit: epoch=1 loss=0.5 lr=0.001 time=12.3s\n"
            "2024-01-02 10:12:13,456 INFO fit: epoch=2 loss=0.4 lr=0.002 time=12.4s\n",
            ("epoch", "epoch="),
            {"loss": (r"\bloss=", (0.5, 0.4))},
        ),
    ],
)
def test_metrics_have_names_expressions_and_values(text, level, metrics):
    found = found_in(text)
    name, before = level
    assert {key: one.expression for key, one in found.items() if one.is_level} == ({name: before + NUMBER} if name else {})
    others = {key: (one.expression, one.course) for key, one in found.items() if not one.is_level}
    assert others == {key: (before + NUMBER, course) for key, (before, course) in metrics.items()}


def test_states_of_a_progress_bar_are_lines():
    found = found_in(
        "Epoch 1:  50%|# | 5/10 [00:01<00:01, 4.5it/s, loss=0.53]\rEpoch 1: 100%|##| 10/10 [00:02<00:00, 4.5it/s, loss=0.43]\n"
    )
    assert found["loss"].course == (0.53, 0.43)
    assert found["epoch"].course == (1.0, 1.0)


def test_blanks_that_pad_a_number_to_a_width_may_be_fewer_later():
    lines = "".join(f"epoch: {epoch:3d} | loss {5.1234 / epoch:8.3f}\n" for epoch in range(1, 6))
    found = found_in(lines)
    later = f"epoch: {100:3d} | loss {12345.5:8.3f}"
    assert [float(re.search(found[name].expression, later)[1]) for name in ("epoch", "loss")] == [100, 12345.5]
    assert float(re.search(found["loss"].expression, f"loss{123456.5:8.3f}")[1]) == 123456.5


def test_what_never_changes_comes_after_what_does():
    text = "".join(f"step {step} loss: {1 / step:.3f}\nAccuracy of the model on 10000 test images: {10 * step} %\n" for step in (1, 2, 3))
    found = find_metrics(lines_of(f"got {{'steps': 3}}\n{text}".encode()))
    assert [(one.name, one.is_constant) for one in found[:2]] == [("step", False), ("loss", False)]
    assert all(one.is_constant for one in found[2:])


def test_a_metric_that_is_said_once_counts_by_its_name_alone():
    assert [*found_in("model has 1234.5 units\nFinal test accuracy: 0.91\n")] == ["final_test_accuracy"]


def test_not_a_number_is_one():
    assert math.isnan(found_in("rmse: 0.5\nrmse: nan\n")["rmse"].course[1])


def test_an_expression_finds_its_own_numbers_and_no_others():
    text = "loss: 0.5 val_loss: 0.6\nloss: 0.4 val_loss: 0.5\nno loss: here\nbest val_loss: 0.5\n"
    for one in found_in(text).values():
        check_expression(one.expression)
        hits = {number: float(match[1]) for number, line in enumerate(text.splitlines()) if (match := re.search(one.expression, line))}
        assert hits == one.values


def test_output_without_metrics_has_none():
    assert found_in("Namespace(lr=0.1)\nloaded 12 files in 0.3 s\n") == {}
