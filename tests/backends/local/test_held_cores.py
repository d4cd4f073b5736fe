"""What an experiment holds for its whole life goes to its jobs one after the other, and to nobody else."""

from __future__ import annotations

from pathlib import Path

from backends.common.leases import Lease, LeaseBook
from backends.local.backend import LocalBackend
from backends.local.held_cores import HeldCores
from backends.worker_needs import WorkerNeeds


def lease(cores: tuple[int, ...], gpus: tuple[str, ...] = (), back: list[str] | None = None) -> Lease:
    return Lease(cores, gpus, lambda: (back if back is not None else []).append("back"))


def test_parts_are_disjoint_and_come_back_in_order() -> None:
    held = HeldCores(lease((4, 5, 7), ("0", "3")))
    first, second = held.acquire(1, 1, exclusive=False), held.acquire(2, 0, exclusive=False)
    assert first is not None
    assert second is not None
    assert (first.cores, first.gpus, second.cores, second.gpus) == ((4,), ("0",), (5, 7), ())
    assert held.acquire(1, 0, exclusive=False) is None
    second.release()
    first.release()
    first.release()
    again = held.acquire(3, 2, exclusive=False)
    assert again is not None
    assert (again.cores, again.gpus) == ((4, 5, 7), ("0", "3"))


def test_too_few_gpus_lend_no_core_and_an_exclusive_part_is_the_only_one() -> None:
    held = HeldCores(lease((0, 1)))
    assert held.acquire(1, 1, exclusive=False) is None
    one = held.acquire(1, 0, exclusive=False)
    assert one is not None
    assert held.acquire(1, 0, exclusive=True) is None
    one.release()
    assert held.acquire(1, 0, exclusive=True) is not None


def test_all_goes_back_to_the_machine_once() -> None:
    back: list[str] = []
    held = HeldCores(lease((0,), back=back))
    held.release()
    held.release()
    assert back == ["back"]


def test_a_back_end_holds_what_its_workers_need_until_it_is_closed(tmp_path: Path) -> None:
    said: list[str] = []
    leases = tmp_path / "leases"
    first = LocalBackend(tmp_path / "a", leases_dir=leases, tag="A")
    cores = first.capacity("local.1cpu")
    first.reserve(WorkerNeeds(["local.1cpu", "local.9999cpu"], cores), said.append, lambda: False)
    assert said == []
    assert LeaseBook(leases, range(cores)).acquire(1, 0, (), exclusive=False) is None
    second = LocalBackend(tmp_path / "b", leases_dir=leases, tag="B")

    def waiting(text: str) -> None:
        said.append(text)
        first.close()

    second.reserve(WorkerNeeds(["local.1cpu"], 1, exclusive=True), waiting, lambda: False)
    assert len(said) == 1
    assert "leased by experiment A, process" in said[0]
    assert LeaseBook(leases, range(cores)).acquire(1, 0, (), exclusive=False) is None
    second.close()
    assert LeaseBook(leases, range(cores)).acquire(cores, 0, (), exclusive=True) is not None


def test_who_gives_up_waiting_lets_others_pass(tmp_path: Path) -> None:
    leases = tmp_path / "leases"
    held = LeaseBook(leases, (0, 1), "experiment A").acquire(1, 0, (), exclusive=False)
    assert held is not None
    backend = LocalBackend(tmp_path / "b", leases_dir=leases)
    said: list[str] = []
    backend.reserve(WorkerNeeds(["local.1cpu"], 1, exclusive=True), said.append, lambda: bool(said))
    assert LeaseBook(leases, (0, 1)).acquire(1, 0, (), exclusive=False) is not None
    backend.close()


def test_who_waits_in_turn_is_not_overtaken(tmp_path: Path) -> None:
    wide, narrow, other = (LeaseBook(tmp_path, (0, 1), f"experiment {name}") for name in "ABC")
    held = narrow.acquire(1, 0, (), exclusive=False)
    assert held is not None
    assert wide.acquire(2, 0, (), exclusive=False, in_turn=True) is None
    assert other.acquire(1, 0, (), exclusive=False, in_turn=True) is None
    held.release()
    both = wide.acquire(2, 0, (), exclusive=False, in_turn=True)
    assert both is not None
    both.release()
    assert other.acquire(1, 0, (), exclusive=False, in_turn=True) is not None
