"""What a job of this machine starts."""

import json
import sys

import pytest

from backends.common.command_line import StartCommand, command_of, data_places, filled, found_program, program_of, shebang, staged
from backends.job_input import JobInput
from backends.job_spec import JobSpec


def channel(name):
    return JobInput(name, "d", "files", "local", "files", f"/data/{name}")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.py").write_text("print(1)\n")
    return tmp_path


def file(folder, name, text="", mode=0o644):
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def test_places_are_filled_in_and_a_doubled_dollar_is_one():
    places = {"data": "/d", "level": "0.1"}
    assert filled("--in=${data}/x-${level}", places) == "--in=/d/x-0.1"
    assert filled("$${data} $HOME $$", places) == "${data} $HOME $$"
    with pytest.raises(KeyError, match="nowhere"):
        filled("${nowhere}", places)


def test_the_usual_channel_is_train_else_the_first_else_none():
    assert data_places([channel("a"), channel("train")]) == {"data": "/data/train", "data.a": "/data/a", "data.train": "/data/train"}
    assert data_places([channel("a"), channel("b")])["data"] == "/data/a"
    assert data_places([]) == {"data": ""}


def start(folder, *command, script="", arguments=("1",), working_dir=""):
    job = JobSpec("j", 0, 1, script, tuple(arguments), command=command, working_dir=working_dir)
    return program_of(job, {"python": "/py/python", "x": "7"}, "/py/python")


def test_a_script_of_python_is_run_by_the_interpreter_and_may_be_forked(folder):
    path = folder / "train.py"
    assert start(folder, script=str(path)) == StartCommand(("/py/python", str(path), "1"), path, "", ("1",))


def test_another_script_runs_by_itself_and_cannot_be_forked(folder):
    path = file(folder, "run", "#!/bin/sh\n", 0o755)
    assert start(folder, script=str(path)) == StartCommand((str(path), "1"), None, "", ("1",))


def test_a_command_that_is_the_interpreter_with_a_script_or_module_may_be_forked(folder):
    path = folder / "train.py"
    assert start(folder, "${python}", str(path), "--x=${x}") == StartCommand(("/py/python", str(path), "--x=7"), path, "", ("--x=7",))
    assert start(folder, "${python}", "-m", "pkg.train", "3") == StartCommand(
        ("/py/python", "-m", "pkg.train", "3"), None, "pkg.train", ("3",)
    )
    assert start(folder, "${python}", "train.py", working_dir=str(folder)).script == path


@pytest.mark.parametrize("words", [("${python}",), ("${python}", "-m"), ("${python}", "none.py"), ("${python}", "-c", "1"), ("bash", "-c")])
def test_other_commands_are_started_as_they_are(folder, words):
    found = start(folder, *words)
    assert found == StartCommand(tuple(word.replace("${python}", "/py/python") for word in words))


def test_an_option_that_looks_like_a_script_is_none(folder):
    assert start(folder, "${python}", "-train.py", working_dir=str(file(folder, "-train.py").parent)).script is None


def test_a_launcher_beside_the_interpreter_is_found(folder):
    launcher, python = file(folder, "torchrun", "#!/bin/sh\n", 0o755), str(folder / "python")
    file(folder, "notes", "")
    assert found_program("torchrun", python) == str(launcher)
    assert found_program("notes", python) == "notes"
    assert found_program("torchrun", "python") == "torchrun"
    assert found_program("./torchrun", python) == "./torchrun"


@pytest.mark.parametrize(
    ("name", "text", "mode", "expected"),
    [
        ("a.py", "", 0o755, ["python", "{}", "x"]),
        ("a.sh", "echo", 0o644, ["/bin/sh", "{}", "x"]),
        ("a.sh", "#!/bin/cat -n\n", 0o644, ["/bin/cat", "-n", "{}", "x"]),
        ("a", "#!/bin/sh\n", 0o644, ["/bin/sh", "{}", "x"]),
        ("a", "", 0o755, ["{}", "x"]),
    ],
)
def test_how_a_script_is_run(folder, name, text, mode, expected):
    path = file(folder, name, text, mode)
    assert command_of(path, ["x"], "python") == [word.replace("{}", str(path)) for word in expected]


def test_what_cannot_be_run_is_said(folder):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        command_of(folder / "none.py", [], "python")
    with pytest.raises(FileNotFoundError, match="is no file"):
        command_of(folder, [], "python")
    with pytest.raises(PermissionError, match=r"is not executable; chmod \+x it"):
        command_of(file(folder, "a", "no first line"), [], "python")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#!/bin/sh\n", ["/bin/sh"]),
        ("#! /usr/bin/env sh\nx", ["/usr/bin/env", "sh"]),
        ("#!/no/such/program\n", []),
        ("#!\n", []),
        ("echo\n#!/bin/sh\n", []),
        ("", []),
    ],
)
def test_the_interpreter_that_a_first_line_names(folder, text, expected):
    assert shebang(file(folder, "a", text)) == expected


def test_what_runs_before_and_after_is_written_down_as_a_plan(folder):
    launcher = file(folder, "tool", "", 0o755)
    job = JobSpec("j", 0, 1, "s.py", prepare=("tool", "${x}"), warmup_runs=2)
    found = staged(job, StartCommand(("python", "s.py")), {"x": "7"}, folder, str(folder / "python"))
    assert json.loads((folder / "stages.json").read_text()) == {
        "prepare": [str(launcher), "7"],
        "warmup_runs": 2,
        "command": ["python", "s.py"],
        "cleanup": [],
        "folder": str(folder),
        "measured": str(folder / "measured.json"),
    }
    assert (found.command[0], found.command[2], found.script) == (sys.executable, str(folder / "stages.json"), None)
    assert found.command[1].endswith("backends/common/staged_run.py")
