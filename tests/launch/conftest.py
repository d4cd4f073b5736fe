"""A toy benchmark in a folder of its own, and the command line in process and as a process."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from launch.__main__ import main

ROOT = Path(__file__).parent.parent.parent

SCRIPT = """\
import argparse, os, pathlib, time
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--seconds", type=float, default=0.0)
parser.add_argument("--fail_above", type=float, default=9.0)
given = parser.parse_args()
from outrider_report import report
if given.x > given.fail_above:
    raise RuntimeError(f"x = {given.x} is too much")
for epoch in range(1, given.epochs + 1):
    time.sleep(given.seconds)
    report(epoch=epoch, loss=(given.x - 0.3) ** 2 + 1 / epoch)
"""

DEFINITION = """\
name: toy
description: Finds x = 0.3.
script: toy.py
space:
  x: {uniform: [0, 1]}
arguments: {seconds: 0.0, fail_above: 9.0}
objectives: {loss: min}
fidelity: {kind: progressive, argument: epochs, reported_as: epoch, full: 2}
budget: {max_num_trials: 4}
"""


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass
class Toy:
    """The toy benchmark's folder, in which commands run."""

    folder: Path

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def experiment(self, tag: str, method: str = "RS", seed: int = 0) -> Path:
        return self.results / tag / "toy" / f"{method}-local-{seed}"

    def define(self, **lines: str) -> None:
        """Replace top-level entries of the definition; an empty text removes one."""
        kept = [block for block in DEFINITION.replace("\n  ", "\0").splitlines() if block.partition(":")[0] not in lines]
        kept += [f"{key}: {value}" for key, value in lines.items() if value]
        (self.folder / "toy.yaml").write_text("\n".join(kept).replace("\0", "\n  ") + "\n", encoding="utf-8")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    (tmp_path / "toy.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTRIDER_RESULTS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    return Toy(tmp_path)


class Gate:
    """A file for which the toy's jobs wait before they report, so that a test decides what is over when, and not the machine."""

    def __init__(self, toy: Toy) -> None:
        self._path = toy.folder / "go"
        self._began = toy.folder / "began"
        self._toy = toy
        self.opens_for(0)

    def opens_for(self, jobs: int) -> None:
        """Let jobs go on by themselves once so many have begun; 0 for never."""
        self._began.mkdir(exist_ok=True)
        wait = (
            f"began = pathlib.Path({str(self._began)!r})\n"
            "(began / str(os.getpid())).touch()\n"
            "end = time.monotonic() + 300\n"  # nothing hangs for ever where what is waited for does not come
            f"while not pathlib.Path({str(self._path)!r}).exists() and time.monotonic() < end:\n"
            f"    if 0 < {jobs} <= len(os.listdir(began)):\n"
            "        break\n"
            "    time.sleep(0.02)\n"
        )
        (self._toy.folder / "toy.py").write_text(SCRIPT.replace("for epoch", f"{wait}for epoch", 1), encoding="utf-8")

    def open(self) -> None:
        """Let all go on."""
        self._path.touch()


@pytest.fixture
def gate(toy: Toy) -> Gate:
    return Gate(toy)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run `hpo_main.py` in process: exit code, stdout, stderr."""

    def call(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main(["run", *words])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return call


def with_signals(ignored: Sequence[signal.Signals]) -> list[str]:
    """Return a command that runs a script of Python with these signals ignored and no others, whatever the tests' own caller ignores."""
    code = (
        "import signal, sys\n"
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
        f"    signal.signal(number, signal.SIG_IGN if number in {[int(number) for number in ignored]} else signal.SIG_DFL)\n"
        "import os; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
    )
    return [sys.executable, "-c", code]


class Controller:
    """`hpo_main.py` as a process that can be signalled."""

    def __init__(self, folder: Path, *words: str, ignoring: Sequence[signal.Signals] = ()) -> None:
        self.process = subprocess.Popen(
            [*with_signals(ignoring), str(ROOT / "hpo_main.py"), *words],
            cwd=folder,
            env={**os.environ, "OUTRIDER_LEASES": str(folder / "leases")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []

    def until(self, text: str, count: int = 1) -> None:
        """Read stderr until a line with this text was seen so often."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if sum(text in seen for seen in self.lines) >= count:
                return
        raise AssertionError(f"{text!r} did not come {count} times:\n{''.join(self.lines)}")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self) -> tuple[int, str, str]:
        """Return exit code and outputs; the time is what a machine with much other work needs."""
        out, err = self.process.communicate(timeout=80)
        return self.process.returncode, out, "".join(self.lines) + err


@pytest.fixture
def controller(toy: Toy) -> Iterator[Callable[..., Controller]]:
    started: list[Controller] = []

    def start(*words: str, ignoring: Sequence[signal.Signals] = ()) -> Controller:
        started.append(Controller(toy.folder, *words, ignoring=ignoring))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


@pytest.fixture
def alive(toy: Toy) -> Callable[[float], list[str]]:
    """Return the command lines of processes of the toy's script that are still alive after at most so many seconds."""

    def look(within_s: float) -> list[str]:
        deadline = time.monotonic() + within_s
        while (found := _processes(str(toy.folder / "toy.py"))) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    return look


def _processes(script: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if script.encode() in words:
                found.append(b" ".join(words).decode())
    return found
