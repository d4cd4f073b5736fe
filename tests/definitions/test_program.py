"""The line that a message tells to type: as the program was called, so that the shell finds it."""

import pytest

from definitions.program import command, install_extra


@pytest.fixture
def bin_folder(tmp_path, monkeypatch):
    """A folder of programs below the current one."""
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "outrider"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("is_on_path", [True, False])
def test_it_is_named_as_it_was_called(bin_folder, monkeypatch, is_on_path):
    monkeypatch.setenv("PATH", str(bin_folder) if is_on_path else "/nowhere")
    before = "" if is_on_path else ".venv/bin/"
    python = str(bin_folder / "python")
    assert command("run", "--resume", "t", called=".venv/bin/outrider") == f"{before}outrider run --resume t"
    assert command("run", "--resume", "t", called="hpo_main.py", python=python) == f"{before}python hpo_main.py --resume t"
    assert command("export", "t", called="hpo_main.py", python=python) == f"{before}python hpo_main.py export t"
    assert command("run", called="/there/launch/__main__.py", python=python) == f"{before}python -m launch run"


def test_another_program_of_that_name_is_not_meant(bin_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(bin_folder))
    assert command("stop", called="/elsewhere/bin/outrider") == "/elsewhere/bin/outrider stop"


def test_from_another_program_it_is_the_installed_name():
    assert command("stop", "--tag", "a b", called="notebook.py") == "outrider stop --tag 'a b'"


def test_an_extra_is_advised_in_one_form():
    assert install_extra("sagemaker") == "in Outrider's folder: pip install '.[sagemaker]'"
