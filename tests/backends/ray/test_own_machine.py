"""A cluster of this machine's own takes no cores that others have; and none that it is to share with them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from backends.common.cpu_quota import usable_cores
from backends.common.leases import LeaseBook
from backends.ray.own_machine import MachineLease, cores_and_gpus
from backends.worker_needs import WorkerNeeds


def test_all_workers_take_what_the_largest_type_that_fits_asks_for():
    assert cores_and_gpus(WorkerNeeds(["ray.1cpu", "ray.2cpu", "ray.99cpu"], 3), 16, 2) == (6, 0)
    assert cores_and_gpus(WorkerNeeds(["ray.4cpu"], 9), 16, 2) == (16, 0)
    assert cores_and_gpus(WorkerNeeds(["ray.2cpu.1gpu"], 1), 16, 2) == (2, 2)
    assert cores_and_gpus(WorkerNeeds(["ray.99cpu"], 3), 16, 2) == (0, 0)


def test_what_others_have_is_waited_for_and_said(tmp_path):
    others = LeaseBook(tmp_path, usable_cores(), "experiment a")
    theirs = others.acquire(len(usable_cores()), 0, (), exclusive=False)
    said, pauses = [], []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            theirs.release()

    ours = MachineLease({"OUTRIDER_LEASES": str(tmp_path)}, "b")
    ours.reserve(WorkerNeeds(["ray.1cpu"], len(usable_cores())), said.append, lambda: False, pause)
    assert len(pauses) == 3
    assert len(said) == 1
    assert "leased by experiment a" in said[0]
    assert others.acquire(1, 0, (), exclusive=False) is None
    ours.release()
    assert others.acquire(1, 0, (), exclusive=False) is not None


def test_who_gives_up_waits_no_more_and_keeps_nobody_waiting(tmp_path):
    others = LeaseBook(tmp_path, usable_cores(), "experiment a")
    others.acquire(1, 0, (), exclusive=True)
    ours = MachineLease({"OUTRIDER_LEASES": str(tmp_path)}, "b")
    answers = iter([False, False, True])
    ours.reserve(WorkerNeeds(["ray.1cpu"], 1), lambda text: None, lambda: next(answers), lambda seconds: None)
    assert next(answers, None) is None


HOLDS = """
import contextlib, sys
from pathlib import Path
from backends.common.cpu_quota import usable_cores
from backends.common.leases import LeaseBook
from backends.ray.backend import RayBackend
from backends.worker_needs import WorkerNeeds
folder, cores = Path(sys.argv[1]), len(usable_cores())
book = LeaseBook(folder / "leases", usable_cores(), "experiment a")
backend = RayBackend(folder / "experiment", environment={"OUTRIDER_LEASES": str(folder / "leases")}, tag="b")
with contextlib.closing(backend):
    backend.reserve(WorkerNeeds(["ray.1cpu"], cores), lambda text: None, lambda: False)
    print("one more:", book.acquire(1, 0, (), exclusive=False))
    print(book.held_by_others())
print("all:", book.acquire(cores, 0, (), exclusive=False) is not None)
"""


@pytest.mark.slow
@pytest.mark.needs_ray
def test_a_cluster_of_this_machine_holds_the_cores_of_its_workers_and_gives_them_back(tmp_path):
    # In a program of its own: that of the tests has started nodes of another cluster.
    done = subprocess.run([sys.executable, "-c", HOLDS, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    more, held, after = done.stdout.splitlines()
    assert more == "one more: None"
    assert "leased by experiment b" in held
    assert after == "all: True"
