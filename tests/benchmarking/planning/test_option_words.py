"""Values that begin with a hyphen: what argparse takes for an option is told before anything starts."""

import argparse
import sys

import pytest

from benchmarking.planning.job_builder import JobBuilder
from benchmarking.planning.option_words import check_option_words, taken_for_option
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.trial import TrialSpec
from definitions.yaml_source import read_yaml

ARGPARSE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--w", nargs="+")
parser.add_argument("-s", "--shift", type=float)
parser.parse_args()
"""
CLICK = """
import click

@click.command()
@click.option("--w", nargs=2)
@click.option("--shift", type=float)
def main(w, shift): ...

main()
"""


@pytest.fixture
def check(tmp_path):
    """Check a definition of a script; return what is wrong with it, empty for nothing."""

    def call(*lines: str, script: str = ARGPARSE) -> str:
        (tmp_path / "train.py").write_text(script, encoding="utf-8")
        called = "" if any(line.startswith("command:") for line in lines) else "script: train.py\n"
        text = f"name: one\n{called}objectives: {{duration_s: min}}\n" + "\n".join(lines) + "\n"
        (tmp_path / "one.yaml").write_text(text, encoding="utf-8")
        try:
            check_option_words(resolve(read_yaml(tmp_path / "one.yaml"), "local", environ={}).definition)
        except UserError as error:
            return str(error)
        return ""

    return call


@pytest.mark.parametrize(
    "word", ["-x", "-1e-5", "-l1", "--fast", "-1_000", "-", "-3", "-.5", "-0.5", "x-", "", "- x", "-a b", "-inf", "-1."]
)
def test_what_argparse_takes_for_an_option(word):
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--w", nargs="+")
    parser.add_argument("rest", nargs="*")
    found, unknown = parser.parse_known_args(["--w", "first", word])
    assert taken_for_option(word, sys.version_info[:2]) == (found.w != ["first", word] or bool(unknown))


def test_since_python_3_14_numbers_with_an_exponent_are_values():
    assert [taken_for_option(word, (3, 14)) for word in ("-1e-5", "-.5", "-1_000", "-x", "-inf")] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("lines", "named", "way"),
    [
        (['space: {w: {choice: [["-x", "y"], ["z"]]}}'], "'-x' of w", "`lists: repeated` or `lists: comma`"),
        (['arguments: {w: [1, "-1e-5"]}', "space: {shift: {choice: [1, 2]}}"], "'-1e-5' of w", "`lists: repeated`"),
        (['space: {shift: {choice: ["-1e-5", 1]}}', "arguments_style: two_words"], "'-1e-5' of shift", "`arguments_style: flags`"),
        (['space: {shift: {choice: ["-1e-5", 1]}}', "rename: {shift: -s}"], "'-1e-5' of shift", "the long flag"),
        (['space: {shift: {choice: ["-x", 1]}}', 'command: [python, train.py, "${shift}"]'], "'-x' of shift", '"--" before it'),
        (
            ["space: {shift: {choice: [a, -b]}}", "arguments_style: two_words", "points_to_evaluate: [{shift: -b}]"],
            "'-b' of shift",
            "`arguments_style: flags`",
        ),
        (['trials: [{w: ["-x", "-y"]}, {w: ["-z", "-a", "-b"]}]'], "'-x' of w, '-y' of w, '-z' of w and 2 more", "`lists: repeated`"),
    ],
)
def test_what_cannot_reach_the_script_is_named_with_a_way(check, lines, named, way):
    said = check(*lines)
    assert f"one: {named} would be taken for an option" in said
    assert "the script's parser (argparse)" in said
    assert way in said


@pytest.mark.parametrize(
    "lines",
    [
        ['space: {shift: {choice: [-1e-5, -0.5, "-x"]}}'],
        ['space: {w: {choice: [["-x"], ["a b", "-3", "-0.5"]]}}'],
        ['space: {w: {choice: [["-x", "y"]]}}', "lists: repeated"],
        ['space: {w: {choice: [["-x", "y"]]}}', "arguments_style: json"],
        ['space: {shift: {uniform: [-1e-5, 1e-5]}}', "arguments_style: two_words"],
        ['space: {shift: {choice: ["-x", 1]}}', 'command: [python, train.py, --, "${shift}"]'],
        ['space: {shift: {choice: ["-x", 1]}}', 'command: [python, train.py, "--shift=${shift}"]'],
        ['space: {how: {choice: ["--shift=1", "-s3"]}, w: {choice: [1]}}', 'command: [python, train.py, "${how}", --w, "${w}"]'],
    ],
)  # fmt: skip
def test_what_reaches_it_is_taken(check, lines):
    assert check(*lines) == ""


def test_other_parsers_take_any_word_for_a_value(check):
    assert check('space: {w: {choice: [["-x", "y"]]}}', script=CLICK) == ""
    assert check('space: {w: {choice: [["-x", "y"]]}}', script="import sys; print(sys.argv)") == ""


@pytest.mark.parametrize(
    ("lines", "script", "told"),
    [
        # To argparse a number in a word of its own is written out; joined to its flag, and to others, it is as somebody wrote it.
        (["space: {w: {choice: [[-1e-5, -2.5]]}}"], ARGPARSE, ["--w", "-0.00001", "-2.5"]),
        (["space: {shift: {choice: [-1e-5]}}", "arguments_style: two_words"], ARGPARSE, ["--shift", "-0.00001"]),
        (["space: {shift: {choice: [-1e-5]}}"], ARGPARSE, ["--shift=-1e-5"]),
        (["space: {w: {choice: [[-1e-5]]}}"], ARGPARSE, ["--w=-1e-5"]),
        (["space: {w: {choice: [[-1e-5, -2.5]]}}"], CLICK, ["--w", "-1e-5", "-2.5"]),
        (["space: {w: {choice: [[-1e-5, -2.5]]}}"], "import sys; print(sys.argv)", ["--w", "-1e-5", "-2.5"]),
    ],
)
def test_a_number_reaches_each_parser(check, tmp_path, lines, script, told):
    assert check(*lines, script=script) == ""
    definition = resolve(read_yaml(tmp_path / "one.yaml"), "local", environ={}).definition
    trial = TrialSpec(next(definition.search_space.grid(1)))
    assert [*JobBuilder(definition, "local", "p", region="us-east-1").build(0, 1, trial, None).arguments] == told
