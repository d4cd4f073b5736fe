"""Help texts, as real libraries print them."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.scripts.help_text import read_help, spelt_in

RECORDED = Path(__file__).parent / "recorded"


def read(name):
    found = read_help((RECORDED / f"help_{name}.txt").read_text(encoding="utf-8"))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("argparse", {"optimizer": ("text", None), "amp": ("switch", False), "hidden": ("text", None), "learning_rate": ("text", None)}),
        ("argparse_sub", {"epochs": ("text", None)}),
        (
            "click",
            {"learning_rate": ("number", 0.1), "optimizer": ("text", None), "nesterov": ("switch", False), "epochs": ("whole", None)},
        ),
        ("typer_sub", {"lr": ("number", 0.1), "batch_size": ("whole", 16), "opt": ("text", "sgd"), "shuffle": ("switch", True)}),
        (
            "absl",
            {"learning_rate": ("number", 0.1), "hidden_size": ("whole", 64), "optimizer": ("text", "sgd"), "use_bn": ("boolean", False)},
        ),
        ("hf", {"hidden_size": ("whole", 32), "activation": ("text", None)}),
        ("jsonargparse", {"lr": ("number", 0.1), "layers": ("whole", 2), "bias": ("boolean", True)}),
        (
            "hydra",
            {"optimizer.lr": ("number", 0.1), "train.epochs": ("whole", 3), "seed": ("whole", 1), "model.layers": ("whole", [64, 32])},
        ),
    ],
)
def test_kinds_and_defaults(name, arguments):
    found = {one.name: (one.kind, one.default) for one in read(name).arguments}
    assert {key: found.get(key) for key in arguments} == arguments


def test_flags_choices_negatives_and_lists():
    found = {one.name: one for one in (*read("argparse").arguments, *read("click").arguments)}
    assert found["amp"].negative == "--no-amp"
    assert found["nesterov"].negative == "--no-nesterov"
    assert found["learning_rate"].flags == ("--learning-rate", "-l")
    assert found["optimizer"].choices == ("sgd", "adam")
    assert {one.name: one for one in read("argparse").arguments}["hidden"].lists == "words"
    assert {one.name: one for one in read("typer_sub").arguments}["opt"].choices == ("sgd", "adam")
    assert {one.name: one for one in read("absl").arguments}["optimizer"].choices == ("sgd", "adam")


@pytest.mark.parametrize(("name", "commands"), [("argparse", ["train", "eval"]), ("typer", ["train", "evaluate"]), ("click", [])])
def test_sub_commands(name, commands):
    assert [*read(name).commands] == commands


def test_groups_of_hydra_are_choices_told_as_key_value():
    found = read("hydra")
    assert (found.style, found.arguments[0].name, found.arguments[0].choices) == ("key=value", "optimizer", ("adam", "sgd"))


def test_what_is_no_help_says_nothing():
    assert read_help("Epoch 1: loss 0.3\n") is None


def test_flags_in_a_usage():
    assert spelt_in("usage: x [-h] [--lr LR] [--[no]amp]") == ("-h", "--lr", "--amp", "--noamp")
