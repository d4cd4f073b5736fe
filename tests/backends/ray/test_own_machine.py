"""A cluster of this machine's own takes no cores that others have; and none that it is to share with them."""

from __future__ import annotations

import contextlib

import pytest

from backends.common.cpu_quota import usable_cores
from backends.common.leases import LeaseBook
from backends.ray.backend import RayBackend
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


@pytest.mark.slow
@pytest.mark.needs_ray
def test_a_cluster_of_this_machine_holds_the_cores_of_its_workers_and_gives_them_back(tmp_path):
    book = LeaseBook(tmp_path / "leases", usable_cores(), "experiment a")
    backend = RayBackend(tmp_path / "experiment", environment={"OUTRIDER_LEASES": str(tmp_path / "leases")}, tag="b")
    with contextlib.closing(backend):
        backend.reserve(WorkerNeeds(["ray.1cpu"], len(usable_cores())), lambda text: None, lambda: False)
        assert book.acquire(1, 0, (), exclusive=False) is None
        assert "leased by experiment b" in book.held_by_others()
    assert book.acquire(len(usable_cores()), 0, (), exclusive=False) is not None
