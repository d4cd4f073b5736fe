"""What the locale, the terminal and the reader are like ends nothing, loses no file, and changes no exit code."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from launch.streams import LenientStream
from tests.launch.conftest import ROOT, Toy

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0"}
SAYING = """\
import argparse, json, os
parser = argparse.ArgumentParser()
parser.add_argument("--word")
word = parser.parse_args().word
from outrider_report import report
print(os.fsencode(word))
report(loss=float(len(os.fsencode(word))))
"""
WORDS = """\
name: toy
script: "q é.py"
space: {word: {choice: ["größe", "日本"]}}
objectives: {loss: min}
method: GRID
"""


def started(toy: Toy, redirection: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = f"{sys.executable} {ROOT / 'hpo_main.py'} --benchmark toy.yaml --experiment_tag t {redirection}"
    return subprocess.run(["bash", "-c", command], cwd=toy.folder, env={**os.environ, **environment}, capture_output=True, timeout=60)


def rows(toy: Toy, method: str = "RS") -> list[dict[str, str]]:
    with (toy.experiment("t", method) / "trials.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
@pytest.mark.parametrize("environment", [C_LOCALE, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii:strict"}])
@pytest.mark.parametrize("preload", ["[]", "[json]"])
def test_words_of_any_language_reach_script_tables_and_people(toy: Toy, environment: dict[str, str], preload: str) -> None:
    (toy.folder / "q é.py").write_text(SAYING, encoding="utf-8")
    (toy.folder / "toy.yaml").write_text(f"{WORDS}preload: {preload}\n", encoding="utf-8")
    done = started(toy, "", **environment)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    assert b"Traceback" not in done.stderr
    # Bytes of UTF-8: g r ö(2) ß(2) e is 7 of them, and two characters of three.
    assert {(row["word"], float(row["last_loss"])) for row in rows(toy, "GRID")} == {("größe", 7.0), ("日本", 6.0)}


@pytest.mark.slow
def test_our_own_signs_are_escaped_where_the_terminal_has_none(toy: Toy) -> None:
    toy.define(repeats="2")
    done = started(toy, "", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"\\xb1" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["> /dev/full", "2> /dev/full", "> /dev/full 2>&1", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_output_that_goes_nowhere_ends_nothing(toy: Toy, redirection: str) -> None:
    done = started(toy, redirection)
    assert done.returncode == 0
    assert [row["status"] for row in rows(toy)] == ["completed"] * 4
    assert (b"stdout cannot be written: [Errno 28]" in done.stderr) == (redirection == "> /dev/full")


@pytest.mark.slow
@pytest.mark.parametrize(("fail_above", "code"), [("9.0", 0), ("-1.0", 3)])
def test_a_reader_of_both_streams_that_goes_away_changes_no_exit_code(toy: Toy, fail_above: str, code: int) -> None:
    toy.define(arguments=f"{{seconds: 0.0, fail_above: {fail_above}}}")
    done = started(toy, "2>&1 | true; exit ${PIPESTATUS[0]}")
    assert done.returncode == code
    assert {row["status"] for row in rows(toy)} >= {"completed" if code == 0 else "failed"}


def test_after_a_write_that_failed_the_next_ones_go_nowhere(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w", encoding="utf-8") as pipe:
        stream = LenientStream(pipe, "stdout")
        for text in ("first", "second"):
            assert stream.write(text) == len(text)
            stream.flush()
        assert stream.encoding == "utf-8"
