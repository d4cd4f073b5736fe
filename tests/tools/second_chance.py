"""Runs pytest, and what failed among many tests once more alone: `python tests/tools/second_chance.py [OPTION...] [-- PATH...]`.

Tests that start processes go side by side on a machine that may do other things, where one of thousands may fail for want of a turn. A
fault of the code fails alone too. So few that failed get a second run, without anything beside them and with the same options; what fails
there fails, and what passes is named at the end as unsteady, its first failure printed above. Where more than a few fail, the first run
decides.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

MOST = 10
"""Tests that may fail in the first run for them to be run once more."""


@dataclass(eq=False)
class Outcomes:
    """What became of the tests of one run, as a plug-in of pytest in the process that prints.

    Args:
        failed: tests that failed in any phase, or whose process died, each with the first line of its error.
        passed: tests whose own phase passed; one may be in both, where what it cleans up failed.
    """

    failed: dict[str, str] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = crash.message if crash is not None else report.longreprtext
            self.failed.setdefault(report.nodeid, said.strip().partition("\n")[0])
        elif report.passed and report.when == "call":
            self.passed.append(report.nodeid)


def wants_second(code: int, outcomes: Outcomes | None) -> bool:
    """Return whether a run failed by nothing but a few of its tests; outcomes are None where its process died."""
    return code == pytest.ExitCode.TESTS_FAILED and outcomes is not None and 0 < len(outcomes.failed) <= MOST


def verdict(first: Outcomes, code: int, alone: Outcomes | None) -> tuple[list[str], list[str]]:
    """Return which tests that failed in the first run are unsteady, and which have failed, in the order of the first run.

    Args:
        first: the first run.
        code: exit code of the second.
        alone: the second run; None where its process died. A test that it skipped has not passed.
    """
    if alone is None or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return [], list(first.failed)
    unsteady = [test for test in first.failed if test in alone.passed and test not in alone.failed]
    return unsteady, [test for test in first.failed if test not in unsteady]


def run(arguments: Sequence[str], notes: Path) -> tuple[int, Outcomes | None]:
    """Run pytest in a process of its own, and return its exit code and what it noted; None where it died before it could."""
    notes.unlink(missing_ok=True)
    with subprocess.Popen([sys.executable, __file__, f"--record={notes}", *arguments]) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        # A key that interrupts reaches pytest too, which says what it had found by then.
        signal.signal(signal.SIGINT, lambda *_: None)
        code = process.wait()
    return code, Outcomes(**json.loads(notes.read_text(encoding="utf-8"))) if notes.exists() else None


def record(notes: Path, arguments: Sequence[str]) -> int:
    """Run pytest here, as `python -m pytest` does, and note what became of the tests."""
    sys.path[0] = str(Path.cwd())
    outcomes = Outcomes()
    code = int(pytest.main([*arguments], plugins=[outcomes]))
    notes.write_text(json.dumps(asdict(outcomes)), encoding="utf-8")
    return code


def main(arguments: Sequence[str]) -> int:
    """Run pytest once or twice, and return its exit code, which is 0 where all that failed passed alone."""
    if arguments and arguments[0].startswith("--record="):
        return record(Path(arguments[0].partition("=")[2]), arguments[1:])
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, paths = arguments[:end], arguments[end + 1 :]
    with tempfile.TemporaryDirectory() as scratch:
        notes = Path(scratch) / "outcomes.json"
        code, first = run([*options, *paths], notes)
        if first is None or not wants_second(code, first):
            return code or int(first is None)
        print(f"\n{len(first.failed)} failed; once more, alone:\n", flush=True)
        code, alone = run([*options, "-n", "0", *first.failed], notes)
    unsteady, failed = verdict(first, code, alone)
    if unsteady:
        print(f"\nunsteady: failed beside others, passed alone: {len(unsteady)} (the first failure is printed above)")
        print("".join(f"  {test}\n    {first.failed[test]}\n" for test in unsteady), end="")
    if failed:
        print(f"\nfailed, and alone too: {len(failed)}\n" + "".join(f"  {test}\n" for test in failed), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
