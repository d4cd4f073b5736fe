"""What programs say of arguments that they do not know, as real parsers print it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.scripts.complaints import find_complaint
from backends.scripts.interface import nearest_spelling

RECORDED = Path(__file__).parent / "recorded"


@pytest.mark.parametrize(
    ("name", "unknown", "nearest"),
    [
        ("argparse", ("--learning_rate", "--lr", "--probe"), "--learning-rate"),
        ("click", ("--learning_rate",), "--learning-rate"),
        ("typer", ("--lrate",), "--lr"),
        ("absl", ("--learning_rat",), "--learning_rate"),
        ("absl_far", ("--qqq",), ""),
        ("jsonargparse", ("--learning_rate", "--probe"), "--lr"),
        ("lightning", ("--model.learning_rate", "--probe"), "--model.lr"),
        ("hf", ("--learning_rate", "--probe"), ""),
        ("hydra", ("learning_rate",), ""),
        ("hydra_nested", ("optimizer.learning_rate",), ""),
    ],
)
def test_the_flag_and_the_nearest_that_is_known(name, unknown, nearest):
    found = find_complaint((RECORDED / f"unknown_{name}.txt").read_text(encoding="utf-8").splitlines())
    assert found is not None
    assert found.unknown == unknown
    assert found.nearest(unknown[0]) == nearest


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        ("prog: unrecognized option '--lr=0.1'", "--lr"),
        ("error: unexpected argument '--lr' found", "--lr"),
        ("flag provided but not defined: -lr", "-lr"),
        ("prog.py: error: no such option: --lr", "--lr"),
        ("ERROR: Could not consume arg: --lr=0.1", "--lr"),
        ("TypeError: train() got an unexpected keyword argument 'lr'", "--lr"),
        ("Unrecognized options: --lr", "--lr"),
        ("getopt.GetoptError: option --lr not recognized", "--lr"),
    ],
)
def test_words_of_other_parsers(line, flag):
    found = find_complaint([line])
    assert found is not None
    assert found.unknown == (flag,)


def test_only_what_was_told_counts():
    line = "TypeError: build() got an unexpected keyword argument 'padding'"
    assert find_complaint([line], ["--lr=0.1"]) is None
    assert find_complaint([line], ["--padding=1"]) is not None


def test_letters_of_a_shell_mean_long_flags_that_it_does_not_know():
    of_bash = (RECORDED / "unknown_bash_getopts.txt").read_text(encoding="utf-8").splitlines()
    for lines in (of_bash, ["Illegal option --"]):
        found = find_complaint(lines, ["--lr=0.1", "-v"])
        assert found is not None
        assert found.unknown == ("--lr",)


def test_an_ordinary_failure_is_no_complaint():
    assert find_complaint(["Traceback (most recent call last):", "ValueError: lr must be positive"], ["--lr=0.1"]) is None


@pytest.mark.parametrize(
    ("word", "known", "nearest"),
    [
        ("--learning_rate", ("--learning-rate", "--learn"), "--learning-rate"),
        ("--lr", ("--model.lr", "--data.path"), "--model.lr"),
        ("--lr", ("--learning_rate", "--batch"), "--learning_rate"),
        ("--epochs", ("--num_train_epochs",), "--num_train_epochs"),
        ("optimizer.learning_rate", ("optimizer.lr", "optimizer.name"), "optimizer.lr"),
        ("--quux", ("--lr",), ""),
    ],
)
def test_the_nearest_spelling(word, known, nearest):
    assert nearest_spelling(word, known) == nearest
