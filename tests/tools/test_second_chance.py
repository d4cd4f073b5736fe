import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.second_chance import MOST, Outcomes, verdict, wants_second

SCRIPT = Path(__file__).with_name("second_chance.py")


def failed(*tests: str) -> Outcomes:
    return Outcomes(failed=dict.fromkeys(tests, "AssertionError"))


@pytest.mark.parametrize(
    ("code", "outcomes", "expected"),
    [
        (0, failed(), False),
        (1, failed("a"), True),
        (1, failed(*map(str, range(MOST))), True),
        (1, failed(*map(str, range(MOST + 1))), False),
        (1, failed(), False),
        (2, failed("a"), False),
        (3, failed("a"), False),
        (1, None, False),
    ],
)
def test_few_failures_alone_are_worth_a_second_run(code, outcomes, expected):
    """Interrupted, broken inside, or dead: nothing that a second run could mend."""
    assert wants_second(code, outcomes) is expected


@pytest.mark.parametrize(
    ("code", "alone", "unsteady"),
    [
        (0, Outcomes(passed=["a", "b"]), ["a", "b"]),
        (1, Outcomes(failed={"b": ""}, passed=["a"]), ["a"]),
        (0, Outcomes(passed=["b"]), ["b"]),
        (1, Outcomes(failed={"a": ""}, passed=["a", "b"]), ["b"]),
        (4, Outcomes(passed=["a", "b"]), []),
        (0, None, []),
    ],
    ids=["both passed", "one failed", "one was skipped", "one failed after it had passed", "not all were found", "the process died"],
)
def test_what_did_not_pass_alone_has_failed(code, alone, unsteady):
    assert verdict(failed("a", "b"), code, alone) == (unsteady, [test for test in ("a", "b") if test not in unsteady])


TESTS = """
import os, pathlib, pytest

def test_steady():
    pass

@pytest.mark.parametrize("text", ["a::b [c]"])
def test_unsteady(text):
    seen = pathlib.Path("seen")
    before, _ = seen.exists(), seen.touch()
    assert before, "for want of a turn"

@pytest.mark.wrong
def test_wrong():
    assert 1 == 2

@pytest.mark.dies
def test_dies_once():
    if not os.path.exists("died"):
        open("died", "w").close()
        os._exit(3)

@pytest.mark.many
@pytest.mark.parametrize("number", range(11))
def test_many(number):
    seen = pathlib.Path(f"many{number}")
    before, _ = seen.exists(), seen.touch()
    assert before
"""


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  wrong\n  dies\n  many\naddopts = -q --color=no\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    words = [sys.executable, str(SCRIPT), *arguments]
    done = subprocess.run(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout


@pytest.mark.slow
def test_what_passes_alone_is_named_at_the_end_and_fails_nothing(tmp_path):
    code, told = run(tmp_path, "-n", "2", "-m", "not wrong and not dies and not many", "--", "tests")
    assert code == 0
    first, alone, end = told.partition("1 failed; once more, alone:")[0], told.partition("alone:")[2], told.splitlines()[-3:]
    assert "1 failed, 1 passed" in first
    assert "1 passed" in alone
    assert end == [
        "unsteady: failed beside others, passed alone: 1 (the first failure is printed above)",
        "  tests/test_it.py::test_unsteady[a::b [c]]",
        "    AssertionError: for want of a turn",
    ]


@pytest.mark.slow
def test_what_fails_alone_too_fails_beside_what_is_unsteady(tmp_path):
    code, told = run(tmp_path, "-n", "2", "-m", "not many", "--", "tests")
    assert code == 1
    assert "passed alone: 2" in told
    assert told.splitlines()[-2:] == ["failed, and alone too: 1", "  tests/test_it.py::test_wrong"]


@pytest.mark.slow
def test_many_failures_have_no_second_run(tmp_path):
    code, told = run(tmp_path, "-m", "many")
    assert (code, "once more" in told) == (1, False)
    assert "11 failed" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"), [(["-m", "not many and not dies and not wrong", "-k", "steady and not un"], 0), (["-k", "nothing"], 5)]
)
def test_without_a_failure_pytest_has_the_last_word(tmp_path, arguments, code):
    assert run(tmp_path, *arguments)[0] == code


@pytest.mark.slow
def test_a_run_that_dies_is_no_success(tmp_path):
    code, told = run(tmp_path, "-m", "dies")
    assert (code, "once more" in told) == (3, False)


@pytest.mark.slow
def test_a_folder_may_have_a_conftest_that_others_lack(tmp_path):
    """Only then pytest leaves plug-ins out by looking them up, for which they have to be hashable."""
    for name in ("with", "without"):
        folder = tmp_path / "folders" / name
        folder.mkdir(parents=True)
        (folder / f"test_{name}.py").write_text("def test_it(): pass\n")
    (tmp_path / "folders" / "with" / "conftest.py").write_text("def pytest_runtest_logreport(report): pass\n")
    code, told = run(tmp_path, "-n", "0", "--", "folders")
    assert (code, "2 passed" in told) == (0, True), told
