"""Controllers of a Ray cluster that are killed without warning, or interrupted twice: every trial once, and nothing left running."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backends.common import process_tree
from tests.launch.conftest import ROOT, rows

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(600)]
IS_SOAK = "OUTRIDER_SOAK" in os.environ
KILLS, TRIALS = (10, 40) if IS_SOAK else (2, 12)
WORKERS = 3
SECONDS = "{seconds: 0.3, fail_above: 9.0}"


def define(toy, cluster=None, **more):
    block = {} if cluster is None else {"ray": f"{{address: '{cluster.address}', grace_s: 1}}"}
    toy.define(arguments=SECONDS, n_workers=str(WORKERS), exclusive="false", **block, **more)


def start(toy, *words):
    command = [sys.executable, str(ROOT / "hpo_main.py"), *words]
    environ = {**os.environ, "OUTRIDER_LEASES": str(toy.folder / "leases")}
    return subprocess.Popen(command, cwd=toy.folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def until_said(controller, word):
    said = []
    for line in controller.stderr:
        said.append(line)
        if word in line:
            return said
    raise AssertionError("".join(said))


def jobs_left(toy):
    """Return the processes that run the toy's script."""
    found = []
    for process in process_tree.all_processes().values():
        try:
            words = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if process.alive and any(word.endswith(b"/toy.py") for word in words) and process_tree.carries(process.pid, b"OUTRIDER_TRIAL="):
            found.append(process.pid)
    return found


def wait_until_gone(toy):
    deadline = time.monotonic() + 60
    while left := jobs_left(toy):
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.1)


def all_trials_once(toy, tag, trials):
    found = rows(toy.results / tag / "toy" / "RS-ray-0" / "trials.csv")
    assert [row["status"] for row in found] == ["completed"] * trials
    assert len({row["x"] for row in found}) == trials
    return found


def test_killed_at_random_moments_every_trial_is_there_once_and_nothing_runs_on(cluster, toy):
    rng = random.Random(7)
    define(toy, cluster)
    words = ["--benchmark", "toy.yaml", "--backend", "ray", "--max_num_trials", str(TRIALS), "--experiment_tag", "k"]
    for _ in range(KILLS):
        with start(toy, *words) as controller:
            until_said(controller, " starts")
            time.sleep(rng.uniform(0.0, 1.0))  # three trials of 0.3 s: each of them may lose its controller more than once
            controller.kill()
        wait_until_gone(toy)
        words = ["--resume", "k"]
    with start(toy, *words) as controller:
        said = controller.stderr.read()
    assert controller.returncode == 0, said
    all_trials_once(toy, "k", TRIALS)
    wait_until_gone(toy)


def test_a_cluster_of_this_machine_ends_with_a_controller_that_is_killed(toy):
    define(toy)
    with start(toy, "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", "own", "--max_num_trials", "4") as controller:
        assert not [line for line in until_said(controller, " starts") if "oken" in line]
        whole = process_tree.descendants(controller.pid)[1:]
        assert len(whole) > 4, "Ray's processes"
        controller.kill()
    deadline = time.monotonic() + 60
    while left := [one for one in whole if (now := process_tree.read_process(one.pid)) and (now.alive, now[5:]) == (True, one[5:])]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.1)
    wait_until_gone(toy)
    with start(toy, "--resume", "own") as controller:
        said = controller.stderr.read()
    assert controller.returncode == 0, said
    all_trials_once(toy, "own", 4)


def test_two_interrupts_end_it_at_once_and_leave_nothing(cluster, toy):
    define(toy, cluster)
    (toy.folder / "toy.py").write_text(
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + (toy.folder / "toy.py").read_text()
    )
    toy.define(arguments="{seconds: 600, fail_above: 9.0}", ray=f"{{address: '{cluster.address}', grace_s: 300}}", exclusive="false")
    with start(toy, "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", "c", "--max_num_trials", "4") as controller:
        until_said(controller, " starts")
        controller.send_signal(signal.SIGINT)
        until_said(controller, "nterrupt")
        controller.send_signal(signal.SIGINT)
        controller.stderr.read()
    assert controller.returncode not in (0, -9)
    wait_until_gone(toy)


def test_two_experiments_share_a_cluster(cluster, toy):
    define(toy, cluster)
    both = [start(toy, "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", tag, "--max_num_trials", "8") for tag in "ab"]
    for controller, tag in zip(both, "ab", strict=True):
        said = controller.communicate()[1]
        assert controller.returncode == 0, said
        assert all_trials_once(toy, tag, 8)


def test_a_thousand_trials_are_queued(cluster, toy):
    define(toy, cluster, script="noop.py", fidelity="")
    (toy.folder / "noop.py").write_text("from outrider_report import report\nreport(epoch=1, loss=1.0)\n")
    toy.define(arguments="", n_workers="1000", script="noop.py", fidelity="", exclusive="false", ray=f"{{address: '{cluster.address}'}}")
    trials = 1000 if IS_SOAK else 100
    with start(toy, "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", "q", "--max_num_trials", str(trials)) as controller:
        said = controller.stderr.read()
        _, status, used = os.wait4(controller.pid, 0)
        controller.returncode = os.waitstatus_to_exitcode(status)
    assert controller.returncode == 0, said[-3000:]
    all_trials_once(toy, "q", trials)
    cpu_s, peak_mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    print(
        f"{trials} trials queued: the controller took {1000 * cpu_s / trials:.1f} ms of processor time a trial, {peak_mib:.0f} MiB at most"
    )
    assert peak_mib < 400


def test_trials_on_nodes_are_forked_where_modules_are_preloaded_and_how_many_is_said(cluster, toy):
    define(toy, cluster, preload="[decimal]")
    words = ["--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", "p", "--max_num_trials", "6"]
    done = subprocess.run([sys.executable, str(ROOT / "hpo_main.py"), *words], cwd=toy.folder, capture_output=True, text=True, check=True)
    all_trials_once(toy, "p", 6)
    assert "Preloaded: 6 of 6 trials (100 %) were forked" in done.stdout
