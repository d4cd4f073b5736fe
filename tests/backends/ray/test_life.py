"""What happens to jobs on a Ray cluster when their node, their neighbours or the way to them fail; jobs on several nodes."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backends.common import process_tree
from backends.events import Closed, Reported, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.ray.backend import RayBackend
from tests.backends.contract import all_closed, check_order, closed, collect, has, of_job

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(300)]
LIMIT_S = 120.0
WORKLOADS = Path(__file__).parents[3] / "benchmarking" / "workloads"
ENDLESS = "import os, time\nfrom outrider_report import report\nreport(epoch=1, pid=os.getpid())\nwhile True:\n    time.sleep(60)\n"
STUBBORN = """\
import os, signal, time
from outrider_report import report
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setsid()
    while True:
        time.sleep(60)
report(epoch=1, pid=os.getpid(), child=child)
while True:
    time.sleep(60)
"""
COUNTS = "from outrider_report import report\nfor k in range(1, 201):\n    report(epoch=k)\n"


@pytest.fixture
def backend(cluster, tmp_path):
    made = RayBackend(tmp_path / "experiment", address=cluster.address, grace_s=1.0, checkpoints=tmp_path / "checkpoints")
    yield made
    assert made.close() == []


@pytest.fixture
def spare(cluster):
    """A node that can be lost; jobs that ask for `spare` run on it."""
    made = cluster.add_node(num_cpus=2, resources={"spare": 2}, node_ip_address="127.0.0.1", object_store_memory=128 << 20)
    cluster.wait_for_nodes()
    yield made
    if made in cluster.worker_nodes:
        cluster.remove_node(made)


def job(folder: Path, name: str, code: str, instance_type: str = "ray.1cpu", **fields) -> JobSpec:
    source = folder / f"source-{name}"
    source.mkdir(exist_ok=True)
    (source / f"{name}.py").write_text(code)
    return JobSpec(name, 0, 1, str(source / f"{name}.py"), source_dir=str(source), instance_type=instance_type, **fields)


def metrics(events, name):
    return of_job(events, name, Reported)[0].metrics


def test_scripts_that_end_with_their_node_are_lost_and_not_ended_by_somebody(spare, cluster, backend, tmp_path):
    for name in ("first", "second"):
        backend.submit(job(tmp_path, name, ENDLESS, "ray.1cpu.spare"))
    backend.submit(job(tmp_path, "beside", ENDLESS))
    events = collect(backend, lambda seen: all(has(name, Reported)(seen) for name in ("first", "second", "beside")), LIMIT_S)
    # A machine that is shut down ends its programs first.
    for name in ("first", "second"):
        os.kill(metrics(events, name)["pid"], signal.SIGTERM)
    cluster.remove_node(spare, allow_graceful=False)
    collect(backend, all_closed("first", "second"), LIMIT_S, events)
    for name in ("first", "second"):
        assert (closed(events, name).outcome, closed(events, name).cause) == (Outcome.FAILED, Cause.LOST)
        assert "died" in closed(events, name).message
    assert not of_job(events, "beside", Closed)
    backend.submit(job(tmp_path, "again", COUNTS))
    collect(backend, all_closed("again"), LIMIT_S, events)
    check_order(events)
    assert closed(events, "again").outcome is Outcome.COMPLETED


def test_a_node_that_is_drained_and_then_taken_away_has_lost_its_jobs(spare, cluster, backend, tmp_path):
    backend.submit(job(tmp_path, "one", ENDLESS, "ray.1cpu.spare"))
    events = collect(backend, has("one", Reported), LIMIT_S)
    # As a provider does that takes machines back with notice, or what scales a cluster down.
    words = ["drain-node", "--address", cluster.address, "--node-id", spare.node_id, "--reason", "DRAIN_NODE_REASON_PREEMPTION"]
    words += ["--reason-message", "taken back", "--deadline-remaining-seconds", "5"]
    done = subprocess.run([sys.executable, "-m", "ray.scripts.scripts", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    cluster.remove_node(spare, allow_graceful=True)
    collect(backend, all_closed("one"), LIMIT_S, events)
    check_order(events)
    assert (closed(events, "one").outcome, closed(events, "one").cause) == (Outcome.FAILED, Cause.LOST)
    assert process_tree.read_process(metrics(events, "one")["pid"]) is None
    backend.submit(job(tmp_path, "again", COUNTS))
    collect(backend, all_closed("again"), LIMIT_S, events)
    assert closed(events, "again").outcome is Outcome.COMPLETED


def test_two_trials_on_a_node_with_gpus_have_one_each_and_none_where_none_is_asked_for(cluster, backend, tmp_path):
    # Devices are numbers to Ray and to scripts' libraries alike, so that what a script would see needs none.
    node = cluster.add_node(num_cpus=3, num_gpus=2, resources={"devices": 3}, node_ip_address="127.0.0.1", object_store_memory=128 << 20)
    cluster.wait_for_nodes()
    code = "import os, time\nfrom outrider_report import report\nreport(seen=os.environ.get('CUDA_VISIBLE_DEVICES', 'unset'))\n"
    code += "time.sleep(600)\n"
    try:
        for name in ("first", "second"):
            backend.submit(job(tmp_path, name, code, "ray.1cpu.1gpu.devices"))
        backend.submit(job(tmp_path, "without", code, "ray.1cpu.devices"))
        events = collect(backend, lambda seen: all(has(name, Reported)(seen) for name in ("first", "second", "without")), LIMIT_S)
        seen = {name: metrics(events, name)["seen"] for name in ("first", "second", "without")}
        assert sorted([seen["first"], seen["second"]]) == ["0", "1"]
        assert seen["without"] in ("", "unset", "-1")
        backend.submit(job(tmp_path, "third", code, "ray.1cpu.1gpu.devices"))
        backend.stop("first", Cause.SCHEDULER)
        collect(backend, has("third", Reported), LIMIT_S, events)
        assert metrics(events, "third")["seen"] == seen["first"]
        for name in ("second", "third", "without"):
            backend.stop(name, Cause.SCHEDULER)
        collect(backend, all_closed("second", "third", "without"), LIMIT_S, events)
    finally:
        cluster.remove_node(node)


def test_a_script_that_somebody_ends_on_a_node_that_lives_was_ended_by_somebody(backend, tmp_path):
    backend.submit(job(tmp_path, "one", ENDLESS))
    events = collect(backend, has("one", Reported), LIMIT_S)
    os.kill(metrics(events, "one")["pid"], signal.SIGTERM)
    collect(backend, all_closed("one"), LIMIT_S, events)
    check_order(events)
    assert (closed(events, "one").outcome, closed(events, "one").cause) == (Outcome.STOPPED, Cause.OUTSIDE)


def test_a_script_that_forks_and_ignores_term_is_killed_with_its_tree_on_its_node(spare, backend, tmp_path):
    backend.submit(job(tmp_path, "one", STUBBORN, "ray.1cpu.spare"))
    events = collect(backend, has("one", Reported), LIMIT_S)
    backend.stop("one", Cause.SCHEDULER)
    collect(backend, all_closed("one"), LIMIT_S, events)
    check_order(events)
    assert closed(events, "one").cause is Cause.SCHEDULER
    for name in ("pid", "child"):
        found = process_tree.read_process(metrics(events, "one")[name])
        assert found is None or not found.alive


def test_ranks_on_two_nodes_find_each_other_and_are_one_job(backend, tmp_path):
    words = ("--epochs", "2", "--samples", "400", "--hidden", "8")
    spec = JobSpec("ddp", 0, 1, str(WORKLOADS / "ddp.py"), words, source_dir=str(WORKLOADS), instance_type="ray.1cpu", instance_count=2)
    backend.submit(dataclasses.replace(spec, checkpoint="ddp"))
    events = collect(backend, all_closed("ddp"), LIMIT_S)
    check_order(events)
    assert closed(events, "ddp").outcome is Outcome.COMPLETED, closed(events, "ddp")
    assert [(one.metrics["epoch"], one.metrics["ranks"]) for one in of_job(events, "ddp", Reported)] == [(1, 2), (2, 2)]
    assert backend.checkpoints.exists("ddp")
    assert (tmp_path / "experiment" / "logs" / "ddp.rank1.log").stat().st_size > 0


def test_a_rank_that_fails_ends_the_others(backend, tmp_path):
    code = "import os, time\nif os.environ['SM_CURRENT_HOST'] == 'algo-2':\n    raise ValueError('no')\n" + ENDLESS
    backend.submit(job(tmp_path, "two", code, instance_count=2))
    events = collect(backend, all_closed("two"), LIMIT_S)
    check_order(events)
    end = closed(events, "two")
    assert (end.outcome, end.cause, end.message) == (Outcome.FAILED, Cause.SCRIPT_ERROR, "rank 1: ValueError: no")


def test_a_job_on_more_nodes_than_there_are_is_refused(backend, tmp_path):
    backend.submit(job(tmp_path, "wide", COUNTS, instance_count=9))
    (event,) = [one for one in backend.wait(1.0) if one.job == "wide"]
    assert "ray.1cpu on 9 nodes does not fit" in event.message


def test_an_exclusive_job_is_alone_on_its_node(backend, tmp_path):
    backend.submit(job(tmp_path, "alone", ENDLESS, exclusive=True))
    events = collect(backend, has("alone", Reported), LIMIT_S)
    # The other node has four places, so that one of five jobs waits.
    for number in range(5):
        backend.submit(job(tmp_path, f"beside{number}", ENDLESS))
    collect(backend, lambda seen: sum(isinstance(one, Reported) for one in seen) == 5, LIMIT_S, events)
    assert not any(isinstance(one, Started) for one in backend.wait(3.0))
    backend.stop("alone", Cause.SCHEDULER)
    collect(backend, lambda seen: sum(isinstance(one, Reported) for one in seen) == 6, LIMIT_S, events)


def test_a_clock_that_is_four_minutes_ahead_on_the_nodes_shows_nowhere(cluster, tmp_path, monkeypatch):
    root = Path(__file__).parents[3]
    ahead = tmp_path / "ahead"
    ahead.mkdir()
    for name in ("backends", "definitions"):
        (ahead / name).symlink_to(root / name)
    (ahead / "sitecustomize.py").write_text("import time\ntime.time = lambda true=time.time: true() + 240.0\n")
    monkeypatch.setattr("backends.ray.links.NodeLinks.code", lambda self: (str(ahead), "", None))
    backend = RayBackend(tmp_path / "experiment", address=cluster.address, grace_s=1.0)
    try:
        before = backend.now()
        backend.submit(job(tmp_path, "one", COUNTS))
        events = collect(backend, all_closed("one"), LIMIT_S)
        check_order(events)
        assert all(before <= event.at <= backend.now() for event in events)
        end = closed(events, "one")
        assert before <= end.started_at <= end.ended_at <= backend.now()
    finally:
        assert backend.close() == []
