"""Progress: a panel that is redrawn on a terminal, one plain line per change elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tests.launch.conftest import ROOT

pytestmark = pytest.mark.slow


def test_lines_elsewhere_are_plain_and_one_per_change(toy, run):
    _, out, err = run("--benchmark", "toy.yaml", "--n_workers", "1")
    assert "\r" not in err
    assert "\x1b" not in err + out
    changes = [line.partition("] ")[2].split()[:3] for line in err.splitlines() if line.startswith("[")]
    assert changes == [words for k in range(4) for words in (["trial", str(k), "starts:"], ["trial", str(k), "completed"])]


def test_a_panel_on_a_terminal_shows_trials_workers_best_spent_and_what_is_left(toy):
    controller, terminal = pty.openpty()
    words = ["--benchmark", "toy.yaml", "--max_wallclock_time", "600", "--set", "arguments.seconds=0.2"]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "hpo_main.py"), *words],
        cwd=toy.folder,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "140", "OUTRIDER_LEASES": str(toy.folder / "leases")},
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    drawn = b""
    while True:
        try:
            chunk = os.read(controller, 65536)
        except OSError:
            break
        if not chunk:
            break
        drawn += chunk
    os.close(controller)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.read().startswith("Best seen: ")
    assert process.wait() == 0
    text = drawn.decode()
    assert "s left | 0/4 trials done | 1/" in text or "s left | 0/4 trials done | 2/" in text
    assert "best loss = " in text
    assert "spent $" in text
    assert "trial 0 running: x=" in text
