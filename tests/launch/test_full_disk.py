"""A disk that fills up: it is said before, it ends the run in order, nothing measured is lost, and with room it goes on."""

import re
import subprocess
import sys

import pytest

from tests.launch.conftest import ROOT

pytestmark = pytest.mark.slow

SCRIPT = """\
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
given = parser.parse_args()
from outrider_report import report
report(loss=given.x, epoch=1)
with open(os.path.join(os.environ["SM_MODEL_DIR"], "weights"), "wb") as file:
    for _ in range(8):
        file.write(os.urandom(1 << 20))
report(loss=given.x, epoch=2)
"""

DEFINITION = """\
name: toy
script: toy.py
space: {x: {uniform: [0, 1]}}
objectives: {loss: min}
keep: all
budget: {max_num_trials: 6, max_failures: 0}
"""

INSIDE = """\
mount -t tmpfs -o size=40m none "$1" || exit 99
export OUTRIDER_RESULTS="$1/results"
shift
"$@" --benchmark toy.yaml --experiment_tag t; echo "CODE $?"
rm -f "$OUTRIDER_RESULTS"/t/toy/RS-local-0/jobs/*/model/weights
echo AGAIN; echo AGAIN >&2
"$@" --resume t --set n_workers=1; echo "CODE $?"
cat "$OUTRIDER_RESULTS"/t/toy/RS-local-0/trials.csv
"""


def test_a_small_disk(toy):
    (toy.folder / "toy.py").write_text(SCRIPT, encoding="utf-8")
    (toy.folder / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    small = toy.folder / "small"
    small.mkdir()
    command = [sys.executable, str(ROOT / "hpo_main.py")]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", INSIDE, "sh", str(small), *command], cwd=toy.folder, capture_output=True, text=True, check=False
    )
    if done.returncode == 99 or "unshare:" in done.stderr:
        pytest.skip("no small file system can be mounted here")
    out, err = done.stdout, done.stderr

    first, again = out.split("AGAIN\n")
    warned = r"disk: [345] trials to come need about \d+\.\d MiB at once, \d+\.\d MiB are free in .*; make room, or keep less"
    assert re.search(warned, err)
    # Who notices first, a script or the journal, is chance; where the scripts took even the reserve, the run ends with an error.
    assert "CODE 4" in first
    assert "Ended early: the disk is full after " in first or "error: the disk of the journal " in err
    measured = err.partition("AGAIN\n")[0].count(" completed after ")
    assert measured >= 3
    # 8 MiB each: with all models of the first session gone the rest fits.
    assert "CODE 0" in again
    rows = [line.split(",") for line in again.partition("\ntrial,")[2].splitlines()[1:]]
    assert [row[5] for row in rows] == ["completed"] * 6
    assert sum(row[4] == "1" for row in rows) >= measured  # nothing that was measured was measured again
