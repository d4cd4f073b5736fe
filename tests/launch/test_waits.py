"""Two runs on one machine: who waits says for what and whose, and does not spend its time on it."""

import json
import signal
import subprocess
import time

import pytest

from tests.launch.conftest import rows

pytestmark = pytest.mark.slow


def test_a_run_that_waits_for_anothers_cores_says_so_and_begins_when_they_are_free(toy, controller):
    toy.define(arguments="{seconds: 30.0, fail_above: 9.0}")
    holder = controller("--benchmark", "toy.yaml", "--experiment_tag", "A")
    holder.until(" starts: ")
    toy.define(arguments="{seconds: 0.0, fail_above: 9.0}")
    exclusive = controller("--benchmark", "toy.yaml", "--experiment_tag", "B", "--exclusive", "--max_wallclock_time", "20")
    exclusive.until("waiting for cores: ")
    assert f"leased by experiment A, process {holder.process.pid}" in exclusive.lines[-1]
    with pytest.raises(subprocess.TimeoutExpired):
        holder.process.wait(2.0)  # it holds them for two seconds more, which are none of the other's
    released = time.monotonic()
    holder.send(signal.SIGINT)
    assert holder.finish()[0] == 130
    code, out, err = exclusive.finish()
    assert code == 0, err
    assert out.count("completed") == 4
    elapsed_s = json.loads((toy.experiment("B") / "result.json").read_text(encoding="utf-8"))["elapsed_s"]
    assert 0.0 < elapsed_s < time.monotonic() - released


def test_the_cores_of_all_workers_are_leased_between_the_trials_too(toy, controller):
    # One of them has all cores as its two workers have; trials are over at once, so that the other would get in between any two.
    toy.define(arguments="{seconds: 0.2, fail_above: 9.0}", budget="{max_num_trials: 400}")
    first = controller("--benchmark", "toy.yaml", "--experiment_tag", "A")
    first.until(" starts: ")
    second = controller("--benchmark", "toy.yaml", "--experiment_tag", "B", "--max_num_trials", "1")
    second.until("waiting for cores: ")
    for _ in range(6):
        first.until(" completed after ")
    first.send(signal.SIGINT)
    assert first.finish()[0] == 130
    assert second.finish()[0] == 0
    ends = max(row["ended_at"] for row in rows(toy.experiment("A") / "trials.csv") if row["status"] == "completed")
    assert min(row["started_at"] for row in rows(toy.experiment("B") / "trials.csv")) >= ends


def test_who_waits_for_cores_can_be_interrupted(toy, controller):
    toy.define(arguments="{seconds: 30.0, fail_above: 9.0}")
    holder = controller("--benchmark", "toy.yaml", "--experiment_tag", "A")
    holder.until(" starts: ")
    waits = controller("--benchmark", "toy.yaml", "--experiment_tag", "B")
    waits.until("waiting for cores: ")
    waits.send(signal.SIGINT)
    code, _, err = waits.finish()
    assert code == 130
    assert "resume with: " in err
    holder.send(signal.SIGINT)
    assert holder.finish()[0] == 130
