"""Cores and GPUs are leased to one job at a time, on the whole machine, and jobs run where their lease says."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.common.child_process import allowed_cores
from backends.common.leases import LeaseBook
from backends.common.leases_folder import leases_folder
from backends.events import Accepted, Closed, Ended, Event, Noted, Rejected, Reported, Started
from backends.failures import Cause, Outcome
from backends.local.backend import LocalBackend
from definitions.errors import UserError
from tests.backends.contract import all_closed, closed, collect, has, of_job
from tests.backends.local_bench import LocalBench

pytestmark = pytest.mark.slow

CORES = len(allowed_cores())
ALL = f"local.{CORES}cpu"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LocalBench]:
    bench = LocalBench(tmp_path, gpus=lambda _: ("0", "3"))
    yield bench
    assert bench.backend.close() == []


def test_leases_are_exact_and_given_back(tmp_path: Path) -> None:
    book = LeaseBook(tmp_path, (4, 5, 7))
    first = book.acquire(2, 1, ("0", "3"), exclusive=False)
    assert first is not None
    assert (first.cores, first.gpus) == ((4, 5), ("0",))
    assert book.acquire(2, 0, (), exclusive=False) is None
    second = book.acquire(1, 1, ("0", "3"), exclusive=False)
    assert second is not None
    assert (second.cores, second.gpus) == ((7,), ("3",))
    first.release()
    first.release()
    third = book.acquire(2, 0, (), exclusive=False)
    assert third is not None
    assert third.cores == (4, 5)


def test_a_lease_that_fails_leaves_nothing_locked(tmp_path: Path) -> None:
    book = LeaseBook(tmp_path, (0, 1))
    assert book.acquire(1, 2, ("0",), exclusive=False) is None
    both = LeaseBook(tmp_path, (0, 1)).acquire(2, 1, ("0",), exclusive=True)
    assert both is not None


def test_an_exclusive_lease_waits_for_all_others_and_lets_no_new_ones_pass(tmp_path: Path) -> None:
    mine, other = LeaseBook(tmp_path, (0, 1)), LeaseBook(tmp_path, (0, 1))
    held = other.acquire(1, 0, (), exclusive=False)
    assert held is not None
    assert mine.acquire(1, 0, (), exclusive=True) is None
    assert other.acquire(1, 0, (), exclusive=False) is None
    held.release()
    alone = mine.acquire(1, 0, (), exclusive=True)
    assert alone is not None
    assert other.acquire(1, 0, (), exclusive=False) is None
    alone.release()
    assert other.acquire(1, 0, (), exclusive=False) is not None


def test_who_gives_up_an_exclusive_lease_lets_others_pass(tmp_path: Path) -> None:
    mine, other = LeaseBook(tmp_path, (0, 1)), LeaseBook(tmp_path, (0, 1))
    held = other.acquire(1, 0, (), exclusive=False)
    assert held is not None
    assert mine.acquire(1, 0, (), exclusive=True) is None
    mine.give_up()
    assert other.acquire(1, 0, (), exclusive=False) is not None


def test_who_holds_what_is_said_in_words(tmp_path: Path) -> None:
    mine = LeaseBook(tmp_path, (0, 1), "experiment B")
    other = LeaseBook(tmp_path, (0, 1), "experiment A")
    assert mine.held_by_others() == ""
    held = other.acquire(1, 1, ("0",), exclusive=False)
    assert held is not None
    me = os.getpid()
    assert mine.held_by_others() == f"1 of 2 cores is leased by experiment A, process {me}"
    assert mine.held_by_others(("0",)).endswith(f"; the only GPU is leased by experiment A, process {me}")
    more = LeaseBook(tmp_path, (0, 1), "experiment C").acquire(1, 0, (), exclusive=False)
    assert more is not None
    assert mine.held_by_others() == f"both cores are leased by experiment A, process {me} and experiment C, process {me}"
    held.release()
    more.release()
    assert mine.held_by_others() == ""
    own = mine.acquire(2, 0, (), exclusive=False)
    assert own is not None
    assert mine.held_by_others() == ""
    own.release()


def test_who_waits_for_the_whole_machine_is_named_too(tmp_path: Path) -> None:
    mine, other = LeaseBook(tmp_path, (0, 1), "experiment B"), LeaseBook(tmp_path, (0, 1), "experiment A")
    held = mine.acquire(1, 0, (), exclusive=False)
    assert held is not None
    assert other.acquire(1, 0, (), exclusive=True) is None
    assert mine.held_by_others() == f"experiment A, process {os.getpid()} waits too and is first"


def test_a_dead_process_holds_no_lease(tmp_path: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path; from backends.common.leases import LeaseBook\n"
        "lease = LeaseBook(Path(sys.argv[1]), (0,)).acquire(1, 0, (), exclusive=True)\nprint(lease.cores, flush=True)\ninput()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"(0,)\n"
    book = LeaseBook(tmp_path, (0,))
    assert book.acquire(1, 0, (), exclusive=False) is None
    holder.kill()
    holder.communicate()
    assert book.acquire(1, 0, (), exclusive=False) is not None


def test_the_folder_of_leases_can_be_named_and_must_be_usable(tmp_path: Path) -> None:
    assert leases_folder({"OUTRIDER_LEASES": "/x/y"}) == Path("/x/y")
    assert leases_folder({}).name == f"outrider-leases-{os.getuid()}"
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="OUTRIDER_LEASES"):
        LeaseBook(tmp_path / "file" / "leases", (0,))


def overlap(events: list[Event], first: str, second: str) -> bool:
    """Return whether two jobs held slots at the same time."""
    spans = [(of_job(events, name, Accepted)[0].at, of_job(events, name, Ended)[0].at) for name in (first, second)]
    return spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]


def test_jobs_that_do_not_fit_together_run_one_after_the_other_in_order(bench: LocalBench) -> None:
    jobs = [bench.job(f"j{n}", "report(n=1)\n", instance_type=ALL) for n in range(3)]
    events = bench.run(*jobs)
    order = [event.job for event in events if isinstance(event, Started)]
    assert order == ["j0", "j1", "j2"]
    assert not overlap(events, "j0", "j1")
    assert not overlap(events, "j1", "j2")


def test_two_back_ends_share_the_cores(bench: LocalBench) -> None:
    other = bench.another("other")
    try:
        bench.begin(bench.job("one", "import time\nreport(n=1)\ntime.sleep(60)\n", instance_type=ALL))
        other.submit(bench.job("two", "report(n=1)\n", instance_type=ALL))
        assert other.wait(0.2) == []
        bench.backend.stop("one", Cause.SCHEDULER)
        collect(bench.backend, all_closed("one"))
        events = collect(other, all_closed("two"))
        assert closed(events, "two").outcome is Outcome.COMPLETED
    finally:
        assert other.close() == []


def test_what_another_experiment_holds_is_said_once_and_by_whom(bench: LocalBench) -> None:
    other = LocalBackend(bench.folder / "other", **bench.options, tag="B")
    holder = LocalBackend(bench.folder / "holder", **bench.options, tag="A")
    try:
        holder.submit(bench.job("one", "import time\nreport(n=1)\ntime.sleep(60)\n", instance_type=ALL))
        collect(holder, has("one", Reported, 1))
        other.submit(bench.job("two", "report(n=1)\n", instance_type=ALL))
        said = collect(other, has("", Noted))
        assert [event.text for event in said if isinstance(event, Noted)] == [
            f"waiting: {_all()} leased by experiment A, process {os.getpid()}"
        ]
        assert other.wait(1.2) == []
        holder.stop("one", Cause.SCHEDULER)
        collect(holder, all_closed("one"))
        assert closed(collect(other, all_closed("two")), "two").outcome is Outcome.COMPLETED
    finally:
        assert [*holder.close(), *other.close()] == []


def _all() -> str:
    return {1: "the only core is", 2: "both cores are"}.get(CORES, f"all {CORES} cores are")


def test_nothing_runs_beside_an_exclusive_job(bench: LocalBench) -> None:
    other = bench.another("other")
    try:
        alone = bench.job("alone", "import time\nreport(n=1)\ntime.sleep(60)\n", exclusive=True)
        bench.begin(alone)
        other.submit(bench.job("two", "report(n=1)\n"))
        assert other.wait(0.2) == []
        bench.backend.stop("alone", Cause.SCHEDULER)
        collect(bench.backend, all_closed("alone"))
        assert closed(collect(other, all_closed("two")), "two").outcome is Outcome.COMPLETED
    finally:
        assert other.close() == []


def test_a_waiting_job_can_be_stopped_and_the_next_one_starts(bench: LocalBench) -> None:
    slow = "import time\nreport(n=1)\ntime.sleep(60)\n"
    bench.begin(bench.job("one", slow))
    bench.backend.submit(bench.job("waiting", slow, exclusive=True))
    bench.backend.submit(bench.job("next", "report(n=1)\n"))
    assert bench.backend.wait(0.1) == []
    bench.backend.stop("waiting", Cause.BUDGET)
    events = collect(bench.backend, all_closed("waiting"))
    assert [type(event) for event in of_job(events, "waiting")] == [Ended, Closed]
    if CORES > 1:
        collect(bench.backend, all_closed("next"), into=events)
        assert closed(events, "next").outcome is Outcome.COMPLETED


@pytest.mark.skipif(CORES < 2, reason="one core cannot be told from all")
def test_a_job_runs_on_its_cores_from_the_start_and_the_controller_keeps_its_own(bench: LocalBench) -> None:
    before = os.sched_getaffinity(0)
    code = "import os, time\nreport(cores=sorted(os.sched_getaffinity(0)), threads=os.environ['OMP_NUM_THREADS'])\ntime.sleep(0.5)\n"
    events = bench.run(bench.job("one", code), bench.job("two", code))
    found = [of_job(events, name, Reported)[0].metrics for name in ("one", "two")]
    assert [metrics["cores"] for metrics in found] == [[core] for core in sorted(before)[:2]]
    assert [metrics["threads"] for metrics in found] == ["1", "1"]
    assert os.sched_getaffinity(0) == before


def test_gpus_are_leased_by_name_and_hidden_from_jobs_without(bench: LocalBench) -> None:
    code = "import os\nreport(gpus=os.environ['CUDA_VISIBLE_DEVICES'])\n"
    assert bench.metrics_of(bench.job("none", code)) == [{"gpus": ""}]
    assert bench.metrics_of(bench.job("two", code, instance_type="local.1cpu.2gpu")) == [{"gpus": "0,3"}]


def test_jobs_that_want_the_same_gpu_take_turns_and_others_run_beside(bench: LocalBench) -> None:
    code = """
        import os, time
        began = time.monotonic()
        time.sleep(0.2)
        report(gpu=os.environ["CUDA_VISIBLE_DEVICES"], at=[began, time.monotonic()])
    """
    wide, narrow = "local.1cpu.2gpu", "local.1cpu.1gpu"
    events = bench.run(*(bench.job(name, code, instance_type=kind) for name, kind in (("a", wide), ("b", narrow), ("c", narrow))))
    found = {name: of_job(events, name, Reported)[0].metrics for name in "abc"}
    assert found["a"]["gpu"] == "0,3"
    assert all(found["a"]["at"][1] <= found[name]["at"][0] for name in "bc")
    if CORES > 1:
        assert {found["b"]["gpu"], found["c"]["gpu"]} == {"0", "3"}


def test_a_forked_job_has_the_gpus_of_its_lease(tmp_path: Path) -> None:
    bench = LocalBench(tmp_path, gpus=lambda _: ("0", "3"), preload=("decimal",))
    code = "import os, sys\nreport(gpus=os.environ['CUDA_VISIBLE_DEVICES'], warm='decimal' in sys.modules)\n"
    kinds = ("local.1cpu", "local.1cpu.1gpu", "local.1cpu.2gpu")
    found = [bench.metrics_of(bench.job(f"j{n}", code, instance_type=kind))[0] for n, kind in enumerate(kinds)]
    assert found == [{"gpus": gpus, "warm": True} for gpus in ("", "0", "0,3")]
    assert bench.backend.close() == []


def test_room_counts_cores_gpus_and_memory(bench: LocalBench) -> None:
    assert bench.backend.capacity("local.1cpu") == CORES
    assert bench.backend.capacity(ALL) == 1
    assert bench.backend.capacity("local.1cpu.2gpu") == 1
    assert bench.backend.capacity("local.1cpu.3gpu") == 0
    assert bench.backend.capacity("local.1cpu.999999gib") == 0
    with pytest.raises(UserError, match="local"):
        bench.backend.capacity("ml.g5.xlarge")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance_type": "local.1cpu.3gpu"}, "2 GPUs"),
        ({"instance_type": "ml.g5.xlarge"}, "is one of back-end sagemaker, and this job runs on this machine"),
        ({"instance_count": 2}, "instance_count 2"),
    ],
)
def test_what_can_never_run_is_rejected_for_good(bench: LocalBench, change: dict[str, object], message: str) -> None:
    (event,) = bench.run(dataclasses.replace(bench.job("one", ""), **change))
    assert isinstance(event, Rejected)
    assert (event.cause, event.retry_at) == (Cause.BAD_REQUEST, None)
    assert message in event.message


def test_a_controller_within_a_job_leases_from_the_jobs_own_folder(bench: LocalBench) -> None:
    code = "import os\nreport(leases=os.environ['OUTRIDER_LEASES'], mark=os.environ['OUTRIDER_CONTROLLER'])\n"
    found = bench.metrics_of(bench.job("one", code))[0]
    assert found["leases"] == str(bench.folder / "experiment" / "jobs" / "one" / "leases")


def test_a_lock_file_that_cannot_be_made_is_what_is_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "leases"
    book = LeaseBook(folder, (0,), "experiment A")
    # Without permissions for it, a folder in the file's place stands for a disk that is full.
    (folder / "core-0.lock").mkdir()
    assert book.acquire(1, 0, (), False) is None
    assert book.held_by_others() == f"{folder / 'core-0.lock'} cannot be opened: Is a directory"
    (folder / "core-0.lock").rmdir()
    lease = book.acquire(1, 0, (), False)
    assert lease is not None
    assert book.held_by_others() == ""
    lease.release()
