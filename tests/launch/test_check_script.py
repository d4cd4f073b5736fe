"""`--check_script`: what a script does not know is found before trials are spent, whatever its parser does about it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from definitions.errors import EXIT_FAILURES, EXIT_USAGE
from launch.__main__ import main
from tests.launch.conftest import rows

pytestmark = pytest.mark.slow

STRICT = """
import argparse, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=2)
given = parser.parse_args()
pathlib.Path("/proc/self").exists()
print(f"loss: {given.learning_rate}")
"""


@pytest.fixture
def check(tmp_path, monkeypatch, capfd):
    """Write a script and a definition of it, run with --check_script, and return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTRIDER_RESULTS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))

    def call(script: str, *words: str, file: str = "train.py", **keys: str) -> tuple[int, str, str]:
        Path(file).write_text(textwrap.dedent(script), encoding="utf-8")
        lines = {
            "name": "one",
            "script": file,
            "space": "{learning_rate: {choice: [0.1, 0.2]}}",
            "objectives": "{loss: min}",
            "metrics": "{loss: 'loss: ([0-9.]+)'}",
            "method": "GRID",
            **keys,
        }
        Path("one.yaml").write_text("".join(f"{key}: {value}\n" for key, value in lines.items() if value), encoding="utf-8")
        code = main(["run", "--benchmark", "one.yaml", "--experiment_tag", "t", "--check_script", *words])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_flag_and_the_nearest_one_are_named_and_no_trial_is_spent(check):
    code, _, err = check(STRICT)
    assert code == EXIT_USAGE
    assert (
        "the script does not know --learning_rate; the nearest that it knows is --learning-rate, told by `arguments_style: hyphens`" in err
    )
    assert not Path("results").exists()


def test_a_script_that_knows_all_is_said_to_and_run(check):
    code, _, err = check(STRICT, arguments_style="hyphens", arguments="{epochs: 3}")
    assert code == 0
    assert "one: the script knows all of its arguments" in err
    assert len(rows(next(Path("results/t").glob("*/*/trials.csv")))) == 2


def test_with_a_dry_run_nothing_but_the_check_is_started(check):
    code, out, err = check(STRICT, "--dry_run", arguments_style="hyphens")
    assert code == 0
    assert "the script knows all of its arguments" in err
    assert "nothing was started" in out
    assert not Path("results").exists()


def test_the_strict_parser_ends_before_the_script_does_anything(check):
    script = STRICT.replace('"/proc/self").exists()', f'r"{Path.cwd() / "began"}").touch()')
    assert check(script, "--dry_run", arguments_style="hyphens")[0] == 0
    assert not Path("began").exists()


@pytest.mark.parametrize(
    ("parser", "style", "mended"),
    [
        ('action="store_true"', "flags", "`booleans: switch` tells it where it is true, and leaves it out else"),
        ('action="store_true"', "two_words", "`booleans: switch` tells it where it is true, and leaves it out else"),
        ("action=argparse.BooleanOptionalAction", "flags", "`booleans: no_switch` tells it --flag or --no-flag"),
    ],
)
def test_a_switch_that_is_told_true_or_false_is_named_with_the_key_that_mends_it(check, parser, style, mended):
    script = STRICT.replace("given =", f'parser.add_argument("--amp", {parser})\ngiven =')
    space = "{amp: {choice: [true, false]}}"
    code, _, err = check(script, space=space, arguments_style=style)
    assert code == EXIT_USAGE
    assert f"one: --amp takes no value; {mended}" in err
    assert not Path("results").exists()
    code, _, err = check(
        script, "--dry_run", space=space, arguments_style=style, booleans="no_switch" if "no_switch" in mended else "switch"
    )
    assert (code, "one: the script knows all of its arguments" in err) == (0, True)


def test_a_switch_of_optparse_that_is_told_in_two_words_is_found_by_its_source(check):
    """It takes the second word for one that has its place, and says nothing."""
    script = """
    import optparse
    parser = optparse.OptionParser()
    parser.add_option("--amp", action="store_true", default=False)
    options, _ = parser.parse_args()
    print(f"loss: {int(options.amp)}")
    """
    code, _, err = check(script, space="{amp: {choice: [true, false]}}", arguments_style="two_words")
    assert code == EXIT_USAGE
    assert "one: --amp takes no value; `booleans: switch` tells it where it is true" in err
    assert not Path("results").exists()


def test_what_is_taken_for_another_flag_by_its_first_letters_is_said_so(check):
    script = STRICT.replace("given = parser.parse_args()", "given, _ = parser.parse_known_args()")
    code, _, err = check(script, space="{learning: {choice: [0.1, 0.2]}}")
    assert (code, "it takes --learning for --learning-rate, by its first letters" in err) == (EXIT_USAGE, True)
    assert "goes on without it" not in err


def test_who_knows_only_a_part_and_says_nothing_is_noticed_by_its_source(check):
    script = STRICT.replace("given = parser.parse_args()", "given, _ = parser.parse_known_args()")
    code, _, err = check(script)
    assert code == EXIT_USAGE
    assert "the script does not know --learning_rate" in err
    assert "it says nothing when it is told so, and goes on without it" in err


def test_a_parser_that_ends_with_success_on_an_unknown_flag_is_noticed(check):
    script = """
    import sys
    known = {"--lr"}
    for word in sys.argv[1:]:
        if word.split("=")[0] not in known:
            print(f"Unknown option: {word.split('=')[0]}")
            sys.exit(0)
    print("loss: 0.1")
    """
    code, _, err = check(script, objectives="{duration_s: min}", metrics="")
    assert code == EXIT_USAGE
    assert "the script does not know --learning_rate" in err
    assert "it ends with success all the same" in err


def test_a_shell_that_knows_letters_only_is_noticed_though_it_ends_with_success(check):
    script = 'while getopts "l:" one; do :; done\necho "loss: 0.3"\n'
    code, _, err = check(script, file="train.sh")
    assert code == EXIT_USAGE
    assert "the script does not know --learning_rate" in err


def test_who_takes_any_words_starts(check):
    code, _, err = check("import sys\nprint('loss: 0.5', len(sys.argv))\n", "--dry_run")
    assert code == 0
    assert "takes without a word what it does not know" in err


def test_a_word_too_many_is_not_held_against_who_counts_words(check):
    script = "import sys\n_, value = sys.argv\nprint('loss:', value.partition('=')[2])\n"
    assert check(script, "--dry_run")[0] == 0


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("print('loss: 1')", "neither arguments nor variables"),
        ("import os; print('loss:', os.getenv('LR'))", "`environment: {LR: '${learning_rate}'}`"),
    ],
)
def test_a_script_that_takes_no_words_is_not_started(check, lines, said):
    code, _, err = check(f"{lines}\n")
    assert code == EXIT_USAGE
    assert "one: train.py takes no words, and learning_rate would change nothing" in err
    assert said in err
    assert not Path("results").exists()


def test_what_fails_otherwise_is_said(check):
    code, _, err = check("import sys\nraise RuntimeError(f'no data {sys.argv[:0]}')\n")
    assert code == EXIT_USAGE
    assert "the script fails with what a trial tells it" in err
    assert "RuntimeError: no data" in err


def test_arguments_in_a_file_are_tried_as_they_are(check):
    script = "import json, sys\nprint('loss:', json.load(open(sys.argv[1]))['learning_rate'])\n"
    code, _, err = check(script, "--dry_run", arguments_style="json")
    assert code == 0
    assert "the script starts with what a trial tells it" in err


def test_click_stops_at_the_first_and_suggests_itself(check):
    pytest.importorskip("click")
    script = """
    import click
    @click.command()
    @click.option("--learn-rate", type=float)
    @click.option("--epochs", type=int)
    def main(learn_rate, epochs):
        print("loss: 0.1")
    main()
    """
    code, _, err = check(script, arguments_style="hyphens")
    assert code == EXIT_USAGE
    assert "does not know --learning-rate; the nearest that it knows is --learn-rate, told by `rename: {learning_rate: learn-rate}`" in err
    assert check(script, "--dry_run", arguments_style="hyphens", rename="{learning_rate: learn-rate}", seed_argument="")[0] == 0


def test_a_first_trial_that_fails_so_names_both_and_offers_the_check(check, capfd):
    Path("train.py").write_text(STRICT, encoding="utf-8")
    check(STRICT)
    assert main(["run", "--benchmark", "one.yaml", "--experiment_tag", "u"]) == EXIT_FAILURES
    captured = capfd.readouterr()
    assert "does not know --learning_rate; the nearest that it knows is --learning-rate" in captured.err
    assert "--check_script finds that before trials are spent" in captured.err


def test_elsewhere_it_is_refused(check):
    code, _, err = check(STRICT, "--backend", "sagemaker", arguments="{instance_type: ml.m5.large}")
    assert code == EXIT_USAGE
    assert "check it with --backend local" in err


def test_what_only_the_check_tells_is_shown_to_nobody(check):
    for style in ("flags", "two_words", "hyphens"):
        code, _, err = check(STRICT, space="{rate: {choice: [0.1, 0.2]}}", arguments_style=style)
        assert code == EXIT_USAGE
        assert "the script does not know --rate" in err
        assert "outrider" not in err.replace("outrider_report", "").replace(str(Path.cwd()), "")
        # What the script says is said once.
        assert err.count("does not know") == 1


def test_a_switch_that_a_parser_would_come_to_last_is_named_by_its_source(check):
    pytest.importorskip("click")
    script = """
    import click
    @click.command()
    @click.option("--learning_rate", type=float)
    @click.option("--amp", is_flag=True)
    def main(learning_rate, amp):
        print("loss: 0.1")
    main()
    """
    space = "{learning_rate: {choice: [0.1]}, amp: {choice: [true, false]}}"
    code, _, err = check(script, space=space, arguments_style="two_words")
    assert code == EXIT_USAGE
    assert "one: --amp takes no value; `booleans: switch` tells it where it is true, and leaves it out else" in err


def test_a_first_trial_that_fails_of_a_switch_offers_the_check_too(check, capfd):
    script = STRICT.replace("given =", 'parser.add_argument("--amp", action="store_true")\ngiven =')
    check(script, space="{amp: {choice: [true, false]}}")
    for tag, more in (("u", []), ("v", ["--n_workers", "1", "--max_failures", "0"])):
        assert main(["run", "--benchmark", "one.yaml", "--experiment_tag", tag, *more]) == EXIT_FAILURES
        err = capfd.readouterr().err
        assert "--amp takes no value; `booleans: switch`" in err
        assert "--check_script finds that before trials are spent" in err


def test_so_does_a_run_in_which_only_some_trials_fail_so(check, capfd):
    script = "import sys\nif '--mode=b' in sys.argv:\n    sys.exit('train.py: error: unrecognized arguments: --mode=b')\nprint('loss: 1')\n"
    check(script, "--dry_run", space="{mode: {choice: [a, b, c]}}")
    assert main(["run", "--benchmark", "one.yaml", "--experiment_tag", "u"]) == 0
    err = capfd.readouterr().err
    assert "some trials failed as the definition tells the script what it does not take; --check_script finds that" in err
