"""Garbage is looked for seldom in a command, and not among what is there when it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

COUNTED = """
import atexit, gc, sys
sys.argv = ["outrider", "--version"]
@atexit.register
def end():
    print(len(gc.get_objects()), gc.get_freeze_count())
from launch.__main__ import program
code = program()
assert gc.get_threshold() == (50_000, 20, 20)
sys.exit(code)
"""


def test_at_its_end_next_to_nothing_is_left_to_be_looked_at():
    done = subprocess.run([sys.executable, "-c", COUNTED], cwd=Path(__file__).parents[2], capture_output=True, encoding="utf-8", check=True)
    left, frozen = map(int, done.stdout.splitlines()[-1].split())
    assert frozen > 5_000
    assert left < frozen / 20
