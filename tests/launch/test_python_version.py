"""An older Python gets a sentence, not a traceback; the version is told from one place."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from definitions import __version__
from launch.__main__ import main
from launch.python_version import too_old

ROOT = Path(__file__).resolve().parents[2]
BEFORE_THE_CHECK = ("hpo_main.py", "launch/__init__.py", "launch/__main__.py", "launch/python_version.py")
OLD = [path for minor in range(6, 11) if (path := shutil.which(f"python3.{minor}"))]


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ((3, 10, 13), "Outrider needs Python 3.11 or newer; this is Python 3.10.13"),
        ((2, 7, 18), "Outrider needs Python 3.11 or newer; this is Python 2.7.18"),
        ((3, 11, 0), None),
        ((4, 0, 0), None),
    ],
)
def test_the_sentence_names_both_versions(version, sentence):
    assert too_old(version) == sentence


@pytest.mark.parametrize("name", BEFORE_THE_CHECK)
def test_what_runs_before_the_check_parses_on_python_3_6(name):
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 6))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "__future__" not in imported  # `annotations` came with 3.7
    at_once = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    ours = {f"{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}" for path in BEFORE_THE_CHECK}
    assert at_once <= ours | {"collections.abc", "typing"}


def test_the_command_stops_at_the_check(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18, "final", 0))
    assert main(["run", "--list"]) == 2
    assert capsys.readouterr().err == "error: Outrider needs Python 3.11 or newer; this is Python 3.9.18\n"


@pytest.mark.slow
@pytest.mark.skipif(not OLD, reason="no older Python here")
@pytest.mark.parametrize("command", [["hpo_main.py", "--list"], ["-m", "launch", "list"]], ids=["hpo_main", "launch"])
def test_a_real_older_python_gets_the_sentence(command):
    for python in OLD:
        done = subprocess.run([python, *command], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 127:  # a shim of a version manager that has not chosen this one
            continue
        assert done.returncode == 2, python
        assert done.stderr.startswith("error: Outrider needs Python 3.11 or newer; this is Python 3.")
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "entrance", [["hpo_main.py"], ["hpo_main.py", "run"], ["-m", "launch"], ["-m", "launch", "run"], ["-m", "outrider"]], ids=" ".join
)
def test_every_entrance_tells_the_version(entrance):
    done = subprocess.run([sys.executable, *entrance, "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"outrider {__version__}\n"


@pytest.mark.slow
def test_the_main_program_knows_every_verb_and_runs_where_none_is_given():
    def said(*words):
        done = subprocess.run([sys.executable, "hpo_main.py", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    assert said("run", "--list") == said("--list") == said("list")
    code, _, err = said("rnu", "--list")
    assert (code, "unrecognized arguments: rnu" in err) == (2, True)
