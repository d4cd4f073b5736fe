"""How people call scripts: what starts one, itself, and what it is given."""

from __future__ import annotations

import shlex

import pytest

from backends.scripts.interface import ScriptArgument
from benchmarking.scripts.call import ScriptCall, call_of, parse_call, read_given, typed_interface
from definitions.errors import UserError

FILES = ("train.py", "run.sh", "./tool", "conf.yaml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python train.py data --lr 0.1", ScriptCall(("python", "train.py"), "train.py", given=("data", "--lr", "0.1"))),
        (".venv/bin/python3.11 train.py", ScriptCall(("python", "train.py"), "train.py", python=".venv/bin/python3.11")),
        ("torchrun --nproc_per_node 2 train.py x", ScriptCall(("torchrun", "--nproc_per_node", "2", "train.py"), "train.py", given=("x",))),
        ("python -m pkg.train fit", ScriptCall(("python", "-m", "pkg.train"), module="pkg.train", given=("fit",))),
        # A module of others starts the script: it is the script that is meant.
        ("python -m torch.distributed.run train.py", ScriptCall(("python", "-m", "torch.distributed.run", "train.py"), "train.py")),
        ("A=1 B='x y' bash run.sh", ScriptCall(("bash", "run.sh"), "run.sh", environment={"A": "1", "B": "x y"})),
        ("./tool conf.yaml", ScriptCall(("./tool",), "./tool", given=("conf.yaml",))),
        ("solver --tol 1", ScriptCall(("solver",), given=("--tol", "1"))),
    ],
)
def test_calls(text, expected):
    assert parse_call(text, lambda word: word in FILES, lambda name: name == "pkg.train") == expected


@pytest.mark.parametrize(("text", "said"), [("python 'train.py", "close the quote"), ("A=1", "starts nothing"), ("", "starts nothing")])
def test_what_is_no_call_is_said(text, said):
    with pytest.raises(UserError, match=said):
        parse_call(text, lambda word: False, lambda name: False)


def test_a_script_alone_is_called_by_its_ending():
    assert [call_of(name).words for name in ("a.py", "b.sh", "./c", "d.pl", "e.R")] == [
        ("python", "a.py"), ("bash", "b.sh"), ("./c",), ("perl", "d.pl"), ("Rscript", "e.R")
    ]  # fmt: skip
    assert call_of("a.py").is_plain
    assert not parse_call("torchrun train.py", lambda word: word in FILES, lambda name: False).is_plain


def test_given_words_are_flags_places_and_unknown_ones():
    arguments = [
        ScriptArgument("lr", ("--lr", "-l"), "number"),
        ScriptArgument("amp", ("--amp",), "switch", negative="--no-amp"),
        ScriptArgument("hidden", ("--hidden",), "whole", lists="words"),
    ]
    words = ["data", "-l", "-1e-3", "--no-amp", "--hidden", "64", "32", "--else", "x", "train", "--lr=2"]
    given, rest = read_given(words, arguments, stops_at=["train"])
    assert given.values == {"lr": "-1e-3", "amp": "false", "hidden": "32"}
    assert given.kept == {"lr": ("-l", "-1e-3"), "amp": ("--no-amp",), "hidden": ("--hidden", "64", "32")}
    assert (given.positionals, given.unknown, rest) == (("data",), ("--else", "x"), ("train", "--lr=2"))


@pytest.mark.parametrize(
    "text", ["python train.py < conf.yaml", "python train.py | tee log", "cd a && python train.py", "python train.py 2>&1"]
)
def test_what_only_a_shell_understands_is_said_with_the_words_that_start_one(text):
    with pytest.raises(UserError, match="means something to a shell only") as found:
        parse_call(text, lambda word: False, lambda name: False)
    said = str(found.value).rpartition("--run ")[2]
    assert parse_call(shlex.split(said)[0], lambda word: False, lambda name: False) == ScriptCall(("sh",), given=("-c", text))


@pytest.mark.parametrize(
    ("words", "style", "names"),
    [
        (("train", "--lr=0.1", "--n-layers=3", "--kind=ridge"), "flags", ["lr", "n_layers"]),
        (("--lr", "-1e-3", "--fast", "--out", "folder"), "two_words", ["lr"]),
        (("train", "LR=0.1", "optim.lr=2", "NAME=x"), "key=value", ["LR", "optim.lr"]),
        (("data", "0.1", "--fast"), "flags", []),
    ],
)
def test_numbers_that_a_person_gave_by_name_are_arguments(words, style, names):
    found = typed_interface(words)
    assert ([one.name for one in found.arguments], found.style) == (names, style)
    given, _ = read_given(words, found.arguments)
    assert set(given.values) == set(names)


def test_a_script_of_another_language_is_what_its_interpreter_is_given():
    for text in ("perl t.pl --lr=0.2", "Rscript --vanilla t.pl --lr=0.2", "ruby t.pl --lr=0.2"):
        found = parse_call(text, lambda word: word == "t.pl", lambda name: False)
        assert (found.script, found.given, found.words[-1]) == ("t.pl", ("--lr=0.2",), "t.pl")
