from __future__ import annotations

import json

import pytest

from backends.emulator.container.program import program_of
from backends.emulator.container.trtexec import MARK, main
from backends.emulator.core.settings import Settings

SHAPES = [f"--{name}=x:{rows}x3x8x8" for name, rows in (("minShapes", 1), ("optShapes", 4), ("maxShapes", 8))]


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"onnx" * 10)
    return [f"--onnx={tmp_path / 'model.onnx'}", f"--saveEngine={tmp_path / 'model.plan'}"]


def test_what_it_writes_says_that_it_is_no_engine(paths, tmp_path, capsys):
    assert main([*paths, *SHAPES, "--fp16", "--skipInference"]) == 0
    written = json.loads((tmp_path / "model.plan").read_text())
    assert written["engine"] == MARK
    assert written["maxShapes"] == "x:8x3x8x8"
    assert "nothing can serve it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--fp61"], "Unknown option: --fp61"),
        (["fp16"], "Unknown option: fp16"),
        (["--fp16=yes"], "Unknown option: --fp16=yes"),
        (["--minShapes=x:1x3x8x8"], "minShapes, optShapes and maxShapes go together"),
        (["--minShapes=1x3"], "needs name:1x3x224x224"),
    ],
)
def test_it_refuses_what_the_real_one_refuses(paths, more, words, capsys):
    assert main([*paths, *more]) == 1
    assert words in capsys.readouterr().err


def test_a_file_that_is_missing_or_empty_makes_no_engine(tmp_path, capsys):
    assert main([f"--onnx={tmp_path / 'missing'}", f"--saveEngine={tmp_path / 'plan'}"]) == 1
    (tmp_path / "empty").write_bytes(b"")
    assert main([f"--onnx={tmp_path / 'empty'}", f"--saveEngine={tmp_path / 'plan'}"]) == 1
    assert main(["--fp16"]) == 1
    assert not (tmp_path / "plan").exists()
    assert "Failed to parse ONNX model" in capsys.readouterr().err


def test_a_job_that_starts_trtexec_is_given_the_stand_in():
    asked = {"ContainerEntrypoint": ["/usr/src/tensorrt/bin/trtexec"], "ContainerArguments": ["--fp16"]}
    command = program_of({"AlgorithmSpecification": asked}, Settings()).command
    assert (command[0], command[1].rpartition("/")[2], command[2:]) == ("python", "trtexec.py", ("--fp16",))
    other = {"ContainerEntrypoint": ["/usr/bin/other", "trtexec"]}
    assert program_of({"AlgorithmSpecification": other}, Settings()).command == ("/usr/bin/other", "trtexec")
