"""What is said, and how soon, of a node that does not answer while its jobs are ended."""

from __future__ import annotations

import logging
import os
import signal

import pytest

from backends.common import process_tree
from backends.events import Reported
from backends.ray.backend import RayBackend
from backends.ray.closing import silent_text
from tests.backends.contract import collect, has
from tests.backends.ray.test_life import ENDLESS, LIMIT_S, job, metrics


def test_where_it_may_run_and_how_to_end_it_is_said():
    text = silent_text("gpu-7", ["one", "two"], 24.2)
    assert text.startswith("node gpu-7 did not answer within 24 s when its jobs were to end, and these may still run there: one, two;")
    assert "pkill -f backends.ray.node_process" in text


@pytest.mark.slow
@pytest.mark.needs_ray
@pytest.mark.timeout(300)
def test_a_job_on_a_node_that_does_not_answer_is_not_taken_for_ended(cluster, tmp_path, caplog):
    backend = RayBackend(tmp_path / "experiment", address=cluster.address, grace_s=1.0)
    backend.submit(job(tmp_path, "one", ENDLESS))
    events = collect(backend, has("one", Reported), LIMIT_S)
    script = process_tree.read_process(metrics(events, "one")["pid"])
    runner = process_tree.read_process(script.parent)
    os.kill(runner.pid, signal.SIGSTOP)
    try:
        with caplog.at_level(logging.ERROR):
            assert backend.close(1.0) == ["one"]
        assert "may still run there: one;" in caplog.text
    finally:
        for process in (runner, script):
            process_tree.send(process, signal.SIGKILL)
