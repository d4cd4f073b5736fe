"""A program in a container's stead is over when the call that ends it returns."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backends.common import process_tree
from backends.emulator.container.namespaces import MARK, Isolation, best_isolation, spawn

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("asked", ["auto", "never"])
def test_nothing_of_a_killed_program_lives_once_it_is_reaped(tmp_path: Path, asked: str) -> None:
    isolation = best_isolation(asked)
    if asked == "auto" and isolation is Isolation.NONE:
        pytest.skip("no namespaces on this machine")
    left = []
    for number in range(12):
        folder = tmp_path / f"{number}"
        for name in ("ml", "stage"):
            (folder / name).mkdir(parents=True)
        mark = f"killed-{os.getpid()}-{asked}.{number}"
        command = ["sh", "-c", "trap '' TERM; sleep 300 & sleep 300 & wait"]
        process = spawn(command, {**os.environ, MARK: mark}, folder / "ml", folder / "stage", None, "/", isolation)
        # Killed wherever it has got to by then: with its launcher alone, amid its mounts, or with all its children.
        while len(process_tree.find(f"{MARK}={mark}\0".encode())) < 1 + number % 3:
            pass
        process.kill()
        process.reap()
        os.close(process.output)
        left += [one for one in process_tree.find(f"{MARK}={mark}\0".encode()) if one.alive]
    assert left == []
