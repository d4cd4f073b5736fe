"""How people call scripts: what starts one, itself, and what it is given."""

from __future__ import annotations

import pytest

from backends.scripts.interface import ScriptArgument
from benchmarking.scripts.call import ScriptCall, call_of, parse_call, read_given
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
    assert [call_of(name).words for name in ("a.py", "b.sh", "./c")] == [("python", "a.py"), ("bash", "b.sh"), ("./c",)]
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
