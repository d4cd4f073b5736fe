"""How a script is called: what is refused, with the nearest name."""

import re
from pathlib import Path

import pytest

from definitions.command import Calling, split_command
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml


def problems(command=None, keys=("lr", "batch_size"), **how):
    return [
        f"{'.'.join(map(str, path))}: {text}" for path, text in Calling(command, keys=keys, own_keys=("instance_type",), **how).problems()
    ]


def test_text_is_split_as_a_shell_would():
    assert split_command("python -m 'my pkg' --x \"${lr}\"") == ("python", "-m", "my pkg", "--x", "${lr}")
    assert split_command(["torchrun", 2, True]) == ("torchrun", "2", "true")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("python 'train.py", "no closing quotation"),
        ("a && b", "'&&' means something to a shell only, and none is started; write [sh, -c, 'a && b']"),
        ([], "at least one word"),
        ("", "at least one word"),
        ([["a"]], "is no word"),
        (5, "needs a list of words, or text"),
    ],
)
def test_what_is_no_command(given, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        split_command(given)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("p", "${arguments}", "${lrr}"), "there is no ${lrr}; did you mean 'lr'?"),
        (("p", "${a${lr}}"), "a placeholder within another"),
        (("p", "${lr"), "a placeholder has no end"),
        (("p", "${}"), "a placeholder has no name"),
        (("p", "${lr}"), "'batch_size' would not reach the script; it names none of ${arguments}, ${batch_size} (or"),
        (("p", "${arguments}", "${data}"), "there is no ${data}"),
        (("p", "${arguments}", "${arguments_file}"), "there is no ${arguments_file}; did you mean 'arguments'?"),
    ],
)  # fmt: skip
def test_wrong_placeholders(command, said):
    assert said in problems(command)[0]


def test_what_is_right():
    assert problems(("p", "${arguments}", "${seed}", "${outrider.trial}", "${instance_type}", "$${x")) == []
    assert problems(("p", "${lr}"), environment={"B": "${batch_size}"}) == []
    assert problems(("p", "${data.train}", "${arguments_file}"), style="json", channels=("train",)) == []
    assert problems(("p",), style="none") == []


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rename": {"lr": "x", "batch_size": "x"}}, "rename.batch_size: 'lr' and 'batch_size' would both reach the script as --x"),
        ({"rename": {"lr": "batch_size"}}, "rename.lr: 'lr' and 'batch_size' would both reach the script as --batch_size"),
        ({"rename": {"lrr": "x"}}, "rename.lrr: the script is told no 'lrr'; did you mean 'lr'?"),
        ({"keys": ("a_b", "a-b"), "style": "hyphens"}, ": 'a_b' and 'a-b' would both reach the script as --a-b"),
        ({"environment": {"X": "${output}"}}, "environment.X: '${output}': there is no ${output}"),
        ({"others": {"prepare": ("p", "${arguments}")}}, "prepare: '${arguments}': there is no ${arguments}"),
    ],
)
def test_names_that_do_not_fit(how, said):
    assert problems(**how)[0].startswith(said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "working_dir: source",
            "working_dir: back-end local runs scripts alone, in folders of its own; leave it out, or use another back-end",
        ),
        ('command: [t, "${x}"]', "command: back-end local runs scripts alone; leave it out, or use another back-end"),
    ],
)
def test_a_back_end_that_runs_scripts_alone_refuses_what_it_would_not_do(monkeypatch, line, said):
    monkeypatch.setattr("backends.local.description.LocalDescription.runs_commands", False)
    text = f"name: d\nscript: t.py\nspace: {{x: 1}}\nobjectives: {{loss: min}}\n{line}\n"
    with pytest.raises(UserError) as error:
        resolve(parse_yaml(text, Path("d.yaml")), "local", check_files=False)
    assert said in str(error.value)


@pytest.mark.parametrize("key", ["script: train.ipynb", "command: [python, -u, train.ipynb]", "command: python3 train.ipynb"])
def test_a_notebook_is_no_script(key):
    text = f"name: d\n{key}\nspace: {{lr: {{choice: [1, 2]}}}}\nobjectives: {{duration_s: min}}\n"
    with pytest.raises(UserError) as caught:
        resolve(parse_yaml(text, Path("d.yaml")), "local", check_files=False)
    said = str(caught.value)
    assert "train.ipynb is a notebook, which Python does not run; `jupyter nbconvert --to script train.ipynb`" in said
    assert "[papermill, train.ipynb," in said


def test_what_runs_notebooks_is_given_one():
    words = '[papermill, train.ipynb, "${output}/out.ipynb", -p, lr, "${lr}"]'
    text = f"name: d\ncommand: {words}\nspace: {{lr: {{choice: [1, 2]}}}}\nobjectives: {{duration_s: min}}\n"
    assert resolve(parse_yaml(text, Path("d.yaml")), "local", check_files=False).definition.command[1] == "train.ipynb"


@pytest.mark.parametrize("name", ["", "a b", "a=b"])
def test_a_name_that_no_script_could_be_told_is_refused(name):
    assert "is no name that a script could be told" in problems(rename={"lr": name})[0]
    assert bool(problems(rename={"lr": name}, style="json")) == (name == "")
