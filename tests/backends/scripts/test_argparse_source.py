"""Parsers of argparse, read in the source of scripts."""

from __future__ import annotations

import ast

import pytest

from backends.scripts.argparse_source import read_argparse
from backends.scripts.interface import Interface, ScriptArgument
from backends.scripts.literals import make_source


def read(*texts: str) -> Interface:
    found = read_argparse(make_source([ast.parse(text) for text in texts]))
    assert found is not None
    return found


def one(call: str) -> ScriptArgument:
    """Return the argument that a call on a parser adds."""
    (found,) = read(f"import argparse\nSIZE = 4 * 8\np = argparse.ArgumentParser()\np.add_argument({call})\np.parse_args()").arguments
    return found


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('"--lr", type=float, default=1e-3', ScriptArgument("lr", ("--lr",), "number", 1e-3)),
        ('"-b", "--batch-size", type=int, default=SIZE', ScriptArgument("batch_size", ("--batch-size", "-b"), "whole", 32)),
        ('"--opt", choices=["sgd", "adam"], required=True', ScriptArgument("opt", ("--opt",), "text", None, ("sgd", "adam"), True)),
        ('"--amp", action="store_true"', ScriptArgument("amp", ("--amp",), "switch", False)),
        # The flag is what can be told, whatever variable it goes into.
        ('"--no-shuffle", dest="shuffle", action="store_false"', ScriptArgument("no_shuffle", ("--no-shuffle",), "switch", False)),
        (
            '"--amp", action=argparse.BooleanOptionalAction, default=True',
            ScriptArgument("amp", ("--amp",), "switch", True, negative="--no-amp"),
        ),
        ('"--bool-like", type=str2bool, default=False', ScriptArgument("bool_like", ("--bool-like",), "boolean", False)),
        # bool("false") is true: nothing can be told it that is not, so it is text.
        ('"--flag", type=bool, default=False', ScriptArgument("flag", ("--flag",), "text", False)),
        ('"--hidden", nargs="+", type=int, default=[64, 32]', ScriptArgument("hidden", ("--hidden",), "whole", [64, 32], lists="words")),
        ('"--tag", action="append"', ScriptArgument("tag", ("--tag",), "text", lists="repeated")),
        ('"data_dir", type=Path', ScriptArgument("data_dir", (), "path", is_required=True)),
        ('"extra", nargs="?"', ScriptArgument("extra", (), "text")),
        ('"--gamma", default=0.7', ScriptArgument("gamma", ("--gamma",), "number", 0.7)),
    ],
)
def test_arguments(call, expected):
    assert one(call) == expected


def test_groups_parents_functions_and_sub_commands_belong_to_their_parsers():
    found = read(
        """
import argparse
common = argparse.ArgumentParser(add_help=False)
common.add_argument("--seed", type=int, default=0)
def add_optim(given):
    group = given.add_argument_group("optim")
    group.add_argument("--lr", type=float, default=0.1)
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--verbose", action="store_true")
    sub = parser.add_subparsers(dest="command")
    train = sub.add_parser("train", parents=[common])
    train.add_mutually_exclusive_group().add_argument("--epochs", type=int, default=3)
    add_optim(train)
    sub.add_parser("eval").add_argument("checkpoint")
    parser.parse_args()
"""
    )
    assert [argument.name for argument in found.arguments] == ["verbose"]
    assert {name: sorted(argument.name for argument in inner) for name, inner in found.commands.items()} == {
        "train": ["epochs", "lr", "seed"],
        "eval": ["checkpoint"],
    }
    assert found.is_complete


def test_what_only_running_could_tell_is_said_to_be_missing():
    found = read("import argparse\np = argparse.ArgumentParser()\nfor n in names():\n    p.add_argument('--' + n)\np.parse_known_args()")
    assert (found.arguments, found.is_complete, found.takes_anything) == ((), False, True)


def test_defaults_that_are_set_later_count():
    found = read(
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float)\np.set_defaults(lr=0.5)\np.parse_args()"
    )
    assert found.arguments[0].default == 0.5


def test_a_script_without_a_parser_is_none():
    assert read_argparse(make_source([ast.parse("import sys\nprint(sys.argv[1])")])) is None
