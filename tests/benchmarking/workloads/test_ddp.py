import os
import socket
import subprocess
import sys

import pytest
import torch

from backends.reports import ReportParser
from benchmarking.workloads import ddp, ranks
from benchmarking.workloads.rendezvous import candidate_ports
from tests.benchmarking.workloads.workload_runs import ROOT, WORKLOADS, cut, job_of, program, reports, summaries

SMALL = ("--samples", 600, "--hidden", 16, "--batch_size", 50)


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    monkeypatch.syspath_prepend(str(WORKLOADS))
    for name in ("RANK", "WORLD_SIZE", "SM_HOSTS", "SM_CURRENT_HOST", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ddp")
    ran = program("ddp.py", "--processes", 2, "--epochs", 2, *SMALL, OUTRIDER_CORES="2", OUTRIDER_CHECKPOINT_DIR=str(folder))
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, folder


@pytest.mark.slow
def test_each_rank_reports_its_half_under_its_rank(two_ranks):
    found = reports(two_ranks[0])
    assert sorted((one["outrider_rank"], one["epoch"]) for one in found) == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert all(one["own_samples"] == 300 and one["ranks"] == 2 for one in found)
    by_rank = {one["outrider_rank"]: one for one in found if one["epoch"] == 2}
    assert by_rank[0]["own_loss"] != by_rank[1]["own_loss"]
    # Gradients were averaged, so both ranks have the same weights, and agree on what all ranks together lost.
    assert by_rank[0]["accuracy"] == by_rank[1]["accuracy"]
    assert by_rank[0]["loss"] == pytest.approx((by_rank[0]["own_loss"] + by_rank[1]["own_loss"]) / 2, rel=1e-5)
    assert {rank: summary["samples"] for rank, summary in summaries(two_ranks[0]).items()} == {0: 600, 1: 600}


@pytest.mark.slow
def test_only_rank_0_is_delivered(two_ranks):
    parser = ReportParser()
    delivered = parser.feed(two_ranks[0].encode())
    assert [one.metrics["epoch"] for one in delivered] == [1, 2]
    assert parser.counts.other_ranks == 2
    assert parser.counts.alien == 0


@pytest.mark.slow
def test_two_ranks_learn_what_one_learns_with_twice_the_batch(capfd, two_ranks):
    """Same samples in each step, so the same averaged gradient: 2 ranks x 50 is 1 x 100."""
    ddp.main(["--epochs", "2", "--samples", "600", "--hidden", "16", "--batch_size", "100"], {"OUTRIDER_CORES": "1"})
    alone = cut(reports(capfd.readouterr().out))
    together = cut([one for one in reports(two_ranks[0]) if one["outrider_rank"] == 0])
    assert [one["loss"] for one in alone] == pytest.approx([one["loss"] for one in together], rel=1e-4)


@pytest.mark.slow
def test_it_goes_on_from_rank_0s_checkpoint_with_another_number_of_ranks(capfd, monkeypatch, two_ranks):
    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(two_ranks[1]))
    ddp.main(["--epochs", "3", *map(str, SMALL)], {"OUTRIDER_CORES": "1"})
    assert [one["epoch"] for one in reports(capfd.readouterr().out)] == [3]


def test_shares_are_disjoint_equal_and_new_each_epoch():
    parts = [ddp.share(103, 4, rank, 4, seed=1) for rank in range(4)]
    assert [len(part) for part in parts] == [25, 25, 25, 25]
    assert len(set(torch.cat(parts).tolist())) == 100
    assert ddp.share(103, 5, 0, 4, seed=1).tolist() != parts[0].tolist()


@pytest.mark.slow
def test_two_hosts_meet_although_another_process_listens_at_their_port_and_says_nothing(capfd, monkeypatch, tmp_path):
    """The first host's rank is this process; the second host's launcher runs as SageMaker starts it."""
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    shared = {"OUTRIDER_JOB": f"ddp-{os.getpid()}", "MASTER_ADDR": "127.0.0.1", "OUTRIDER_CORES": "1", "GLOO_SOCKET_IFNAME": "lo"}
    hosts = {**shared, "SM_HOSTS": '["algo-1", "algo-2"]'}
    (first,) = ranks.rank_variables(ranks.group_of({**hosts, "SM_CURRENT_HOST": "algo-1"}, 1), hosts, tmp_path)
    with socket.create_server(("127.0.0.1", candidate_ports(shared["OUTRIDER_JOB"])[0])):
        ours, theirs, code = _two_hosts(shared, hosts, first, capfd)
    assert code == 0
    assert (ours["outrider_rank"], theirs["outrider_rank"]) == (0, 1)
    assert ours["accuracy"] == theirs["accuracy"]
    assert ours["ranks"] == theirs["ranks"] == 2


def _two_hosts(shared, hosts, first, capfd):
    second = subprocess.Popen(
        [sys.executable, str(WORKLOADS / "ddp.py"), "--epochs", "1", *map(str, SMALL)],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "backends" / "reporter"),
            **hosts,
            "SM_CURRENT_HOST": "algo-2",
        },
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        ddp.main(["--epochs", "1", *map(str, SMALL)], {**shared, **first})
        (theirs,) = reports(second.communicate(timeout=100)[0])
    finally:
        # Told to end, the launcher ends its rank too.
        second.terminate()
        second.wait(90)
    (ours,) = reports(capfd.readouterr().out)
    return ours, theirs, second.returncode


def test_no_ranks_are_refused():
    with pytest.raises(SystemExit, match="--processes 0: at least one"):
        ddp.main(["--processes", "0"], {})


@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_the_definition_gives_what_the_script_takes(backend):
    job = job_of("ddp", backend)
    asked = ddp.parse_arguments(list(job.arguments))
    assert asked.samples == 12000
    assert (asked.processes, job.instance_count) in ({"local": (2, 1), "sagemaker": (1, 2)}[backend], (1, 1))
