"""Failures that come of how a script was called, and who runs a script whose first line names another."""

import dataclasses

import pytest

from backends.common.hints import calling_hint, interpreter_remark, says_called_wrongly, unknown_text, without_hint
from backends.job_spec import JobSpec


def test_a_file_of_the_source_and_a_relative_import_are_told_by_what_mends_them(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "scale.txt").touch()
    job = JobSpec("j", 0, 1, str(tmp_path / "pkg" / "train.py"), source_dir=str(tmp_path))
    missing = "FileNotFoundError: [Errno 2] No such file or directory: '{}'"
    assert "`working_dir: source`" in calling_hint(missing.format("data/scale.txt"), job)
    assert calling_hint(missing.format("data/other.txt"), job) == ""
    assert "`working_dir: source`" in calling_hint("sh: 1: cannot open data/scale.txt: No such file", job)
    no_rule = "make: *** No rule to make target 'train'.  Stop."
    assert calling_hint(no_rule, job) == ""
    (tmp_path / "Makefile").touch()
    assert (
        calling_hint(no_rule, job)
        == "Makefile is in source_dir, and jobs start in folders of their own; `working_dir: source` starts them there"
    )
    assert "`working_dir: source`" in calling_hint("make: *** No targets specified and no makefile found.  Stop.", job)
    assert calling_hint(no_rule, dataclasses.replace(job, working_dir=str(tmp_path))) == ""
    assert calling_hint(missing.format(tmp_path / "data" / "scale.txt"), job) == ""
    assert calling_hint(missing.format("data/scale.txt"), dataclasses.replace(job, working_dir=str(tmp_path))) == ""
    said = calling_hint("ImportError: attempted relative import with no known parent package", job)
    assert said == 'a package\'s module is started by `command: [python, -m, pkg.train, "${arguments}"]`'


def test_what_reports_to_ray_tune_is_told_how_it_is_run():
    job = JobSpec("j", 0, 1, "/source/tuned.py", source_dir="/source")
    warning = (
        "session.py:683: UserWarning: `report` is meant to only be called inside a function that is executed by a Tuner or Trainer. "
        "Returning `None`."
    )
    said = calling_hint("ended with success but reported nothing", job, [warning, "  warnings.warn("])
    assert 'command: [python, -m, outrider_ray, tuned.py, FUNCTION, "${arguments_file}"]' in said


def test_a_first_line_that_names_a_particular_interpreter_is_told_of(tmp_path):
    def remark(line, name="t.py"):
        (tmp_path / name).write_text(line + "\nprint(1)\n")
        return interpreter_remark(tmp_path / name, "/v/python")

    assert remark("#!/opt/env/bin/python3.9") == (
        "t.py is run by /v/python, not by its first line (#!/opt/env/bin/python3.9); `python` or `command` says otherwise"
    )
    # Another python by its path is another one, and so are options; whichever is first on the path is none in particular.
    for line in ("#!/usr/bin/python3", "#! /opt/conda/envs/a/bin/python", "#!/usr/bin/env -S python3 -O", "#!/usr/bin/env python3.12"):
        assert f"not by its first line ({line})" in remark(line)
    assert [remark(line) for line in ("#!/usr/bin/env python3", "#!/usr/bin/env -S python", "#!/v/python", "import x", "")] == [""] * 5
    assert remark("#!/bin/sh", "t.sh") == ""
    assert interpreter_remark(tmp_path / "none.py", "p") == ""


@pytest.mark.parametrize(
    ("script", "style", "tail", "said"),
    [
        (
            "import argparse\n",
            "flags",
            ["usage: train.py [-h] [--learning-rate LR]", "train.py: error: unrecognized arguments: --learning_rate=0.1"],
            "the script does not know --learning_rate; the nearest that it knows is --learning-rate, told by `arguments_style: hyphens`",
        ),
        # No usage is printed: the source says what it knows.
        (
            "from transformers import HfArgumentParser\nclass Args:\n    lr: float = 0.1\nHfArgumentParser(Args)\n",
            "flags",
            ["ValueError: Some specified arguments are not used by the HfArgumentParser: ['--learning_rate=0.1']"],
            "the nearest that it knows is --lr, told by `rename: {learning_rate: lr}`",
        ),
        ("print()\n", "flags", ["Error: No such option '--learning_rate'."], "the script does not know --learning_rate"),
    ],
)
def test_an_argument_that_the_script_does_not_know_is_named_with_the_nearest(tmp_path, script, style, tail, said):
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    job = JobSpec(
        "a", 0, 1, str(tmp_path / "train.py"), ("--learning_rate=0.1",), parameters={"learning_rate": 0.1}, source_dir=str(tmp_path)
    )
    assert said in calling_hint(tail[-1], job, tail)
    assert calling_hint("ValueError: lr is too large", job, ["ValueError: lr is too large"]) == ""


def test_a_key_with_hyphens_of_its_own_needs_another_name_and_no_style():
    # `flags` is how it was told already, and no style turns hyphens to underscores.
    assert unknown_text("--learning-rate", "--learning_rate", ["learning-rate"]).endswith(
        "told by `rename: {learning-rate: learning_rate}`"
    )
    assert unknown_text("--learning-rate", "--learning_rate", ["learning_rate"]).endswith("told by `arguments_style: flags`")
    assert unknown_text("--learning_rate", "--learning-rate", ["learning_rate"]).endswith("told by `arguments_style: hyphens`")


def test_a_script_that_a_shell_looks_for_in_the_job_s_folder_is_found_too(tmp_path):
    (tmp_path / "inner.py").touch()
    job = JobSpec("a", 0, 1, str(tmp_path / "run.sh"), source_dir=str(tmp_path))
    gone = "No such file or directory"
    for words in (f"python: can't open file '/tmp/x/jobs/a/inner.py': [Errno 2] {gone}", f"cat: inner.py: {gone}"):
        assert "`working_dir: source`" in calling_hint(words, job)


STORE_TRUE = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--amp', action='store_true')\n"
EITHER = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--amp', action=argparse.BooleanOptionalAction)\n"
ALONE = "--amp takes no value; `booleans: switch` tells it where it is true, and leaves it out else"


@pytest.mark.parametrize(
    ("script", "told", "line", "said"),
    [
        (STORE_TRUE, ("--amp=true",), "t.py: error: argument --amp: ignored explicit argument 'true'", ALONE),
        (STORE_TRUE, ("--amp=true",), "t.py: error: argument -a/--amp: ignored explicit argument 'true'", ALONE),
        (STORE_TRUE, ("--amp", "false", "--lr", "1"), "t.py: error: unrecognized arguments: false", ALONE),
        (
            EITHER,
            ("--amp=true",),
            "t.py: error: argument --amp/--no-amp: ignored explicit argument 'true'",
            "--amp takes no value; `booleans: no_switch` tells it --flag or --no-flag",
        ),
        ("import click\n", ("--amp=false",), "Error: Option '--amp' does not take a value.", ALONE),
        ("import getopt\n", ("--amp=true",), "getopt.GetoptError: option --amp must not have an argument", ALONE),
        ("import optparse\n", ("--amp=true",), "t.py: error: --amp option does not take a value", ALONE),
        # What was no truth value is no switch that was told one.
        (STORE_TRUE, ("--amp=3",), "t.py: error: argument --amp: ignored explicit argument '3'", ""),
        (STORE_TRUE, ("--lr", "1", "--amp", "true"), "t.py: error: unrecognized arguments: extra true", ""),
    ],
)
def test_a_switch_that_was_told_a_value_is_named_with_the_key_for_switches(tmp_path, script, told, line, said):
    (tmp_path / "t.py").write_text(script, encoding="utf-8")
    job = JobSpec("a", 0, 1, str(tmp_path / "t.py"), told, source_dir=str(tmp_path))
    assert calling_hint(line, job, [line]) == said


def test_beside_a_truth_that_is_told_as_a_value_a_switch_is_named_by_its_key(tmp_path):
    script = STORE_TRUE + "p.add_argument('--pretrained', type=lambda text: text == 'true')\n"
    (tmp_path / "t.py").write_text(script, encoding="utf-8")
    line = "t.py: error: argument --amp: ignored explicit argument 'true'"
    told = {"amp": True, "pretrained": True}
    job = JobSpec("a", 0, 1, str(tmp_path / "t.py"), ("--amp=true", "--pretrained=true"), source_dir=str(tmp_path), parameters=told)
    assert (
        calling_hint(line, job, [line])
        == "--amp takes no value; `booleans: {amp: switch}` tells it where it is true, and leaves it out else"
    )


def test_beside_other_switches_one_word_is_for_all(tmp_path):
    (tmp_path / "t.py").write_text(STORE_TRUE + "p.add_argument('--shuffle', action='store_true')\n", encoding="utf-8")
    line = "t.py: error: argument --amp: ignored explicit argument 'true'"
    told = {"amp": True, "shuffle": False, "lr": 0.1}
    job = JobSpec("a", 0, 1, str(tmp_path / "t.py"), ("--amp=true", "--shuffle=false"), source_dir=str(tmp_path), parameters=told)
    assert calling_hint(line, job, [line]) == ALONE


@pytest.mark.parametrize(
    ("told", "line", "said"),
    [
        (("--w", "-x", "y"), "t.py: error: argument --w: expected at least one argument", "as --w=-x"),
        (("--shift", "-1e-5"), "t.py: error: argument -s/--shift: expected one argument", "as --shift=-1e-5"),
        (("--pair", "-a", "b"), "t.py: error: argument --pair: expected 2 arguments", "as --pair=-a"),
        (("--w", "x", "y"), "t.py: error: argument --w: expected at least one argument", ""),
        (("--v", "-x"), "t.py: error: argument --w: expected at least one argument", ""),
    ],
)
def test_a_value_that_argparse_took_for_an_option_is_named(tmp_path, told, line, said):
    job = JobSpec("a", 0, 1, str(tmp_path / "t.py"), told, source_dir=str(tmp_path))
    found = calling_hint(line, job, [line])
    assert (said in found) if said else found == ""
    assert says_called_wrongly(f"{line} ({found})") == bool(said)


def test_the_script_s_own_words_without_the_hint():
    hint = unknown_text("--learning_rate", "--learning-rate", ["learning_rate"])
    said = "t.py: error: unrecognized arguments: --learning_rate=1 (or more)"
    assert without_hint(f"{said} ({hint})") == said
    assert without_hint(f"{said} (--amp takes no value; `booleans: switch` tells it)") == said
    assert without_hint(said) == said


def test_a_script_that_was_a_notebook_is_told_what_runs_it(tmp_path):
    line = "NameError: name 'get_ipython' is not defined"
    told = '`command: [python, -m, IPython, nb.py, --, "${arguments}"]`'
    assert told in calling_hint(line, JobSpec("a", 0, 1, str(tmp_path / "nb.py"), source_dir=str(tmp_path)))
    assert told in calling_hint(line, JobSpec("a", 0, 1, "", command=("python", "nb.py"), source_dir=str(tmp_path)))
