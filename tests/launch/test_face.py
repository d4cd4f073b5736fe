"""`import outrider`: functions, mappings and tags from Python, beside a user's own files that are called as our packages are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

import outrider
from definitions.errors import UserError
from launch.functions import definition_of
from tests.launch.conftest import ROOT, with_signals

TUNE = """\
import json, sys
import outrider

def returned(x):
    return (x - 0.5) ** 2

def reported(x):
    import launch
    outrider.report(loss=x, mine=launch.MINE)

if __name__ == "__main__":
    first = outrider.run(returned, space={"x": {"choice": [0.5, 1.5]}}, method="GRID", results_dir=sys.argv[1], experiment_tag="a")
    again = outrider.load("a", sys.argv[1])
    second = outrider.run(reported, space={"x": {"choice": [2, 3]}}, method="GRID", max_num_trials=1,
                          results_dir=sys.argv[1], experiment_tag="b")
    print(json.dumps([first.best_config, first.best_value, again.best_value, repr(first), len(second.trials), second.best_value]))
"""


@pytest.mark.slow
def test_functions_are_tuned_beside_a_users_own_launch_and_benchmarking(tmp_path):
    folder = tmp_path / "mine"
    (folder / "benchmarking").mkdir(parents=True)
    (folder / "benchmarking" / "__init__.py").write_text("raise RuntimeError('not ours')\n")
    (folder / "backends.py").write_text("raise RuntimeError('not ours')\n")
    (folder / "launch.py").write_text("MINE = 7\n")
    (folder / "tune.py").write_text(TUNE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "tune.py", str(tmp_path / "results")]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    configuration, value, read_again, text, trials, other = json.loads(done.stdout)
    assert configuration == {"x": 0.5}
    assert value == read_again == 0.0
    assert text == "<returned x GRID x seed 0 on local: 2 trials, best 0.0 at {'x': 0.5}>"
    assert (trials, other) == (1, 2.0)


@pytest.mark.slow
def test_a_file_is_run_as_the_command_line_does(toy):
    result = outrider.run("toy.yaml", results_dir="elsewhere", experiment_tag="p", settings=["max_num_trials=2"])
    assert [row["status"] for row in result.trials] == ["completed"] * 2
    assert result.ended == "max_num_trials is reached after 2 trials (max_num_trials = 2, 2 started)"
    assert (toy.folder / "elsewhere" / "p" / "toy" / "RS-local-0" / "trials.csv").is_file()
    assert repr(outrider.load("p", "elsewhere")) == repr(result)
    with pytest.raises(UserError, match="no such option"):
        outrider.run("toy.yaml", methodd="RS")


SLOW = """\
import sys, time
import outrider

def slow(x):
    outrider.report(loss=x)
    time.sleep(60)

if __name__ == "__main__":
    try:
        outrider.run(slow, space={"x": {"choice": [1.5, 2.5]}}, method="GRID", n_workers=1, experiment_tag="i", verbose=True)
    except KeyboardInterrupt as caught:
        again = outrider.load("i")
        print(type(caught) is outrider.Interrupted, caught, len(caught.result.trials), sep="|", end="|")
        print(again.trials[0]["last_loss"], again.trials[0]["status"], sep="|")
"""


@pytest.mark.slow
def test_ctrl_c_ends_the_jobs_keeps_what_was_measured_and_is_heard_by_the_script(toy):
    (toy.folder / "slow.py").write_text(SLOW)
    words = [*with_signals([]), "slow.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, cwd=toy.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert next(line for line in process.stderr if "loss=1.5" in line)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    is_ours, message, trials, loss, status = out.strip().split("|")
    assert (is_ours, trials, loss, status) == ("True", "1", "1.5", "interrupted")
    assert message == "interrupted after 1 trials; outrider.load('i') reads what was measured, and this goes on: outrider run --resume i"


def test_a_function_that_no_process_can_be_given_is_refused(tmp_path):
    with pytest.raises(UserError, match="needs a function with a name"):
        definition_of(lambda x: x, {}, tmp_path)


def test_an_unknown_option_gets_the_nearest_one():
    with pytest.raises(UserError, match=r"(?s)max_num_trial=.*max_num_trials"):
        outrider.run("first", max_num_trial=3)


def test_a_mapping_that_is_no_definition_is_told_what_is_wrong():
    with pytest.raises(UserError, match="objectives"):
        outrider.run({"name": "mine", "script": "x.py"})
