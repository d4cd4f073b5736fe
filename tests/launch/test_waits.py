"""Two runs on one machine: who waits says for what and whose, and does not spend its time on it."""

import re
import signal

import pytest

pytestmark = pytest.mark.slow


def test_a_run_that_waits_for_anothers_cores_says_so_and_begins_when_they_are_free(toy, controller):
    toy.define(arguments="{seconds: 30.0, fail_above: 9.0}")
    holder = controller("--benchmark", "toy.yaml", "--experiment_tag", "A")
    holder.until(" starts: ")
    toy.define(arguments="{seconds: 0.0, fail_above: 9.0}")
    exclusive = controller("--benchmark", "toy.yaml", "--experiment_tag", "B", "--exclusive", "--max_wallclock_time", "20")
    exclusive.until("waiting: ")
    said = re.search(r"\[ *([\d.]+) s\] waiting: (.*)", exclusive.lines[-1])
    assert float(said[1]) == 0.0
    assert f"leased by experiment A, process {holder.process.pid}" in said[2]
    holder.send(signal.SIGINT)
    assert holder.finish()[0] == 130
    code, out, err = exclusive.finish()
    assert code == 0, err
    assert out.count("completed") == 4
