"""Room that others have, that no node has, and a node without any on its disk; on a cluster of two nodes with four cores each."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backends.backend_context import BackendContext
from backends.checks import CheckRequest, CheckStatus
from backends.events import Closed, Noted
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.ray import agent
from backends.ray.backend import RayBackend
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from tests.backends.contract import all_closed, closed, collect

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray]

OTHERS = """
import sys, ray
ray.init(address=sys.argv[1], log_to_driver=False)
groups = [ray.util.placement_group([{"CPU": 4}]) for _ in range(2)]
ray.get([group.ready() for group in groups])
print("they have it", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def others_have_all(address: str):
    """Let another program have all cores of the cluster until the end of the block."""
    command = [sys.executable, "-c", OTHERS, address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "they have it\n"
        yield
        program.stdin.close()
        assert program.wait(60) == 0


def job(folder: Path, name: str = "one", instance_type: str = "ray.1cpu") -> JobSpec:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "main.py").write_text("from outrider_report import report\nreport(loss=1.0)\n")
    return JobSpec(name, 0, 1, str(source / "main.py"), source_dir=str(source), instance_type=instance_type)


def definition(source: Path, **block: object) -> BenchmarkDefinition:
    asked = {
        "name": "toy",
        "script": "main.py",
        "source_dir": str(source),
        "objectives": {"loss": "min"},
        "trials": [{"x": 1}],
        "ray": block,
    }
    return BenchmarkDefinition.model_validate(asked)


def test_no_room_now_is_waited_for_and_said_and_doctor_names_who_has_it(cluster, tmp_path):
    backend = RayBackend(tmp_path / "experiment", address=cluster.address)
    with contextlib.closing(backend):
        with others_have_all(cluster.address):
            backend.submit(job(tmp_path))
            events = collect(backend, lambda events: any(isinstance(event, Noted) and "room" in event.text for event in events))
            (said,) = [event.text for event in events if isinstance(event, Noted) and "room" in event.text]
            assert said == "waiting for room: ray.1cpu on one node; the cluster has 0 CPUs free, others use the rest"
            asked = definition(tmp_path, address=cluster.address)
            request = CheckRequest({}, tmp_path, asked, ("ray.1cpu", "ray.64cpu"), block=asked.blocks["ray"])
            checks = {check.name: check for check in RayBackend.checks(request)}
            assert checks["in use"].verdict is CheckStatus.WARNING
            assert checks["in use"].found.startswith("8 of 8 CPUs are taken, connected: ")
            assert "-c" in checks["in use"].found  # the command of the other program
            assert checks["instance type ray.1cpu"].found == "8 fit at once"
            assert checks["instance type ray.64cpu"].verdict is CheckStatus.FAILED
            assert checks["instance type ray.64cpu"].found.startswith("it never has room: the cluster has 2 nodes: ")
            assert checks["largest job"].found.startswith("4 CPUs, no GPU, ")
            assert len([name for name in checks if name.startswith("disk of ")]) == 2
        collect(backend, all_closed("one"), into=events)
        assert closed(events, "one").outcome is Outcome.COMPLETED


def test_where_there_is_room_nobody_is_told_of_waiting(cluster, tmp_path):
    with contextlib.closing(RayBackend(tmp_path / "experiment", address=cluster.address)) as backend:
        backend.submit(job(tmp_path))
        events = collect(backend, all_closed("one"))
    assert [event for event in events if isinstance(event, Noted)] == []


def test_where_nodes_join_by_themselves_what_none_has_is_waited_for_and_said(cluster, tmp_path):
    with contextlib.closing(RayBackend(tmp_path / "experiment", address=cluster.address, autoscaling=True)) as backend:
        assert backend.capacity("ray.1gpu.h100") > 0
        backend.submit(job(tmp_path, instance_type="ray.1gpu.h100"))
        events = collect(backend, lambda events: any(isinstance(event, Noted) for event in events))
        assert [event.text for event in events] == ["waiting for a node to join that has room for ray.1gpu.h100: none has as much"]
        backend.stop("one", Cause.SCHEDULER)
        events = collect(backend, all_closed("one"))
        assert closed(events, "one").outcome is Outcome.STOPPED


def test_a_node_without_room_on_its_disk_is_the_cause(cluster, tmp_path, monkeypatch):
    put = agent.NodeAgent.put

    def full(self, digest, archive):
        """As `put`, but nothing of a source can be written; it is a nested function, so that it travels with the class."""
        if b"main.py" in archive[:512]:  # the name of the first file in a TAR archive
            raise OSError(28, "No space left on device")
        return put(self, digest, archive)

    monkeypatch.setattr(agent.NodeAgent, "put", full)
    with contextlib.closing(RayBackend(tmp_path / "experiment", address=cluster.address)) as backend:
        backend.submit(job(tmp_path))
        ended = closed(collect(backend, all_closed("one")), "one")
    assert isinstance(ended, Closed)
    assert ended.cause is Cause.DISK_FULL
    assert re.search(r"its node \S+ could not run it: .*No space left on device", ended.message)


def test_a_node_that_could_not_run_a_job_runs_the_next_one_also_where_jobs_outlive_their_controller(cluster, tmp_path, monkeypatch):
    put = agent.NodeAgent.put

    def full(self, digest, archive):
        """As `put`, but there is no room for a source with a large file."""
        if b"large.py" in archive[:512]:
            raise OSError(28, "No space left on device")
        return put(self, digest, archive)

    monkeypatch.setattr(agent.NodeAgent, "put", full)
    (tmp_path / "large" / "source").mkdir(parents=True)
    (tmp_path / "large" / "source" / "large.py").write_text("")
    with contextlib.closing(RayBackend(tmp_path / "experiment", address=cluster.address, detach=True)) as backend:
        backend.submit(job(tmp_path / "large", "large"))
        assert closed(collect(backend, all_closed("large")), "large").cause is Cause.DISK_FULL
        for name in ("one", "two"):  # each has a node of its own, so that one of them is the one above
            backend.submit(job(tmp_path, name, "ray.3cpu"))
        events = collect(backend, all_closed("one", "two"))
    assert [closed(events, name).outcome for name in ("one", "two")] == [Outcome.COMPLETED] * 2


def test_a_source_over_the_limit_is_refused_before_a_cluster_is_looked_for(tmp_path):
    with (tmp_path / "weights.bin").open("wb") as file:
        file.truncate(501 * 1024**2)
    (tmp_path / "main.py").write_text("")
    context = BackendContext(definition(tmp_path, address="127.0.0.1:1"), tmp_path / "experiment")
    with pytest.raises(UserError, match=r"too large to be brought to nodes[\s\S]*at most 500\.0 MiB[\s\S]*weights\.bin \(501\.0 MiB\)"):
        RayBackend.create(context)
    assert not (tmp_path / "experiment").exists()
