"""Jobs that outlive their controller: the next one takes them over, with all that they said, and what is left is stopped by name."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarking.controller.sqlite_journal import SqliteJournal
from definitions.errors import EXIT_DETACHED
from tests.backends.ray.test_kills import IS_SOAK, KILLS, all_trials_once, jobs_left, start, until_said, wait_until_gone
from tests.launch.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(600)]

SCRIPT = """\
import argparse, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--epochs", type=int)
parser.add_argument("--starts")
parser.add_argument("--gate")
given = parser.parse_args()
from outrider_report import report
with open(given.starts, "a") as file:
    file.write(f"{os.environ['OUTRIDER_TRIAL']}\\n")
for epoch in range(1, given.epochs + 1):
    print("epoch", epoch, flush=True)
    report(epoch=epoch, loss=given.x + 1 / epoch)
    while epoch == given.epochs // 2 and not os.path.exists(given.gate + os.environ["OUTRIDER_TRIAL"]):
        time.sleep(0.05)
"""
EPOCHS = 40


def until(holds):
    """Wait until something holds."""
    deadline = time.monotonic() + 150
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def outside(toy) -> Path:
    """Return a folder that is no part of the source, of which nodes have copies."""
    folder = toy.folder.with_name(f"{toy.folder.name}-outside")
    folder.mkdir(exist_ok=True)
    return folder


def starts(toy) -> list[str]:
    path = outside(toy) / "starts"
    return sorted(path.read_text().split()) if path.exists() else []


def named_actors(address: str) -> list[str]:
    """Return the actors of experiments that are on the cluster; asked by a program that this one stays apart from."""
    code = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); "
    code += "print(*[one['name'] for one in ray.util.list_named_actors(all_namespaces=True)], sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code, address], capture_output=True, text=True, check=True, timeout=60)
    return [name for name in done.stdout.split() if name.startswith("outrider:")]


def outrider(toy, *words):
    """Run a verb, and return its exit code and what it said."""
    command = [sys.executable, "-m", "launch", *words, "--results_dir", str(toy.results)]
    done = subprocess.run(command, cwd=toy.folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def left(cluster, toy):
    """An experiment of three trials, two at a time, whose controller was killed while both waited for their gates."""
    (toy.folder / "toy.py").write_text(SCRIPT)
    toy.define(
        arguments=f"{{starts: {outside(toy)}/starts, gate: {outside(toy)}/gate}}",
        fidelity=f"{{kind: progressive, argument: epochs, reported_as: epoch, full: {EPOCHS}}}",
        n_workers="2",
        exclusive="false",
        ray=f"{{address: '{cluster.address}', grace_s: 1, detach: true}}",
    )
    with start(toy, "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", "d", "--max_num_trials", "3") as controller:
        until(lambda: starts(toy) == ["0", "1"])
        controller.kill()
    yield toy
    outrider(toy, "stop", "d")


def open_gates(toy, *trials: int) -> None:
    for trial in trials:
        (outside(toy) / f"gate{trial}").touch()


def reports_of(toy):
    journal = SqliteJournal(toy.results / "d" / "toy" / "RS-ray-0" / "journal.sqlite", read_only=True)
    try:
        return [(record.body["job"], record.body["metrics"]["epoch"]) for record in journal.records() if record.kind == "reported"]
    finally:
        journal.close()


def test_killed_jobs_go_on_and_the_next_controller_takes_them_over_with_all_that_they_said(left, cluster):
    toy = left
    open_gates(toy, 1)
    until(lambda: len(jobs_left(toy)) == 1)
    code, said = outrider(toy, "status", "d")
    assert code == 0
    assert "2 jobs go on without a controller: " in said
    assert f"--resume d --results_dir {toy.results}` takes over, " in said
    assert f"stop d --results_dir {toy.results}` ends" in said
    (running,) = jobs_left(toy)
    with start(toy, "--resume", "d") as controller:
        until(lambda: starts(toy) == ["0", "1", "2"])  # of the third trial, as the second was read as ended
        assert running in jobs_left(toy)
        open_gates(toy, 0, 2)
        said = controller.stderr.read()
    assert controller.returncode == 0, said
    assert "2 of 2 jobs of the controller before went on, or ended, without it, and are taken over" in said
    found = all_trials_once(toy, "d", 3)
    assert [row["attempts"] for row in found] == ["1"] * 3
    assert starts(toy) == ["0", "1", "2"]
    counts = Counter(reports_of(toy))
    assert set(counts.values()) == {1}
    assert len(counts) == 3 * EPOCHS
    for log in (toy.results / "d" / "toy" / "RS-ray-0" / "logs").glob("*.log"):
        lines = [line for line in log.read_text().splitlines() if line.startswith("epoch ")]
        assert lines == [f"epoch {number}" for number in range(1, EPOCHS + 1)]
    assert named_actors(cluster.address) == []


def test_what_a_killed_controller_left_is_stopped_by_its_tag_and_can_be_resumed(left, cluster):
    toy = left
    code, said = outrider(toy, "clean", "--tag", "d", "--yes")
    assert code == 2
    assert "stop d" in said
    code, said = outrider(toy, "stop", "d")
    assert (code, said.rstrip().endswith("RS-ray-0: stopped")) == (0, True), said
    wait_until_gone(toy)
    assert named_actors(cluster.address) == []
    assert "interrupted" in outrider(toy, "status", "d")[1]
    open_gates(toy, 0, 1, 2)
    with start(toy, "--resume", "d") as controller:
        said = controller.stderr.read()
    assert controller.returncode == 0, said
    all_trials_once(toy, "d", 3)


def test_one_that_is_told_to_leave_its_jobs_leaves_them_and_the_next_goes_on(left, cluster):
    toy = left
    for number in (signal.SIGUSR1, None):
        with start(toy, "--resume", "d") as controller:
            until_said(controller, "d/toy")
            if number is None:
                open_gates(toy, 0, 1, 2)
            else:
                controller.send_signal(number)
            said = controller.stderr.read()
        if number is not None:
            assert controller.returncode == EXIT_DETACHED, said
            assert len(jobs_left(toy)) == 2
    assert controller.returncode == 0, said
    assert starts(toy) == ["0", "1", "2"]
    assert set(Counter(reports_of(toy)).values()) == {1}
    assert named_actors(cluster.address) == []


def test_killed_at_random_moments_no_trial_starts_twice_and_each_report_is_there_once(left, cluster):
    toy = left
    rng = random.Random(11)
    trials = 40 if IS_SOAK else 9
    open_gates(toy, *range(trials))
    words = ["--resume", "d", "--max_num_trials", str(trials)]
    for _ in range(KILLS):
        with start(toy, *words) as controller:
            until_said(controller, "d/toy")
            time.sleep(rng.uniform(0.0, 3.0))
            controller.kill()
        words = ["--resume", "d"]
    with start(toy, *words) as controller:
        said = controller.stderr.read()
    assert controller.returncode == 0, said
    found = all_trials_once(toy, "d", trials)
    assert [row["attempts"] for row in found] == ["1"] * trials
    assert sorted(map(int, starts(toy))) == [*range(trials)]
    counts = Counter(reports_of(toy))
    assert set(counts.values()) == {1}
    assert len(counts) == trials * EPOCHS
    assert named_actors(cluster.address) == []
