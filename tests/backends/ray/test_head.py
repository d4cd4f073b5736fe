"""A head that is gone: it is waited for, said, and given up in the end."""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import time

import pytest

from backends.ray.head import HeadBack, HeadGone, HeadWatch, gone_text
from tests.backends.ray.test_kills import all_trials_once, start, until_said
from tests.launch.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

GATED = """\
import argparse, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--gate")
given = parser.parse_args()
from outrider_report import report
report(epoch=1, loss=1.0)
while not os.path.exists(given.gate):
    time.sleep(0.05)
report(epoch=2, loss=given.x)
"""
GIVEN_UP = """
import sys, pathlib
from backends.job_spec import JobSpec
from backends.ray.backend import RayBackend
from definitions.errors import UserError
folder = pathlib.Path(sys.argv[2])
(folder / "endless.py").write_text("import time\\ntime.sleep(600)\\n")
backend = RayBackend(folder / "experiment", address=sys.argv[1], grace_s=1.0, head_wait_s=3.0)
backend.submit(JobSpec("one", 0, 1, str(folder / "endless.py"), source_dir=str(folder), instance_type="ray.1cpu"))
while not any(type(event).__name__ == "Started" for event in backend.wait(60.0)):
    pass
print("runs", flush=True)
try:
    while True:
        for event in backend.wait(60.0):
            print(getattr(event, "text", ""), flush=True)
except UserError as error:
    print(error, flush=True)
print(backend.close())
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A cluster whose head keeps its state, and which can do without it for a while."""
    added = {
        "RAY_gcs_storage": "rocksdb",
        "RAY_gcs_storage_path": str(tmp_path_factory.mktemp("gcs")),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_TOKEN": "a-token-of-tests-alone-0123456789abcdef",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in added.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        made = Cluster()
        made.head = made.add_node(num_cpus=2, node_ip_address="127.0.0.1", object_store_memory=128 << 20, include_dashboard=False)
        yield made
        made.shutdown()


@pytest.mark.needs_ray
def test_a_head_that_restarts_is_waited_for_and_nothing_is_lost(stored, toy):
    (toy.folder / "toy.py").write_text(GATED)
    gate = toy.folder.with_name(f"{toy.folder.name}-gate")
    toy.define(
        arguments=f"{{gate: {gate}}}", fidelity="", exclusive="false", n_workers="1", ray=f"{{address: '{stored.address}', grace_s: 1}}"
    )
    with start(toy, "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", "h", "--max_num_trials", "2") as controller:
        until_said(controller, " starts")
        stored.head.kill_gcs_server()
        until_said(controller, "does not answer")
        gate.touch()
        time.sleep(1.0)  # reports and the end come while nobody is there
        stored.head.start_gcs_server()
        until_said(controller, "answers again")
        said = controller.stderr.read()
    assert controller.returncode == 0, said
    found = all_trials_once(toy, "h", 2)
    assert [row["attempts"] for row in found] == ["1"] * 2


@pytest.mark.needs_ray
def test_a_head_that_stays_away_is_given_up_with_what_to_do(stored, tmp_path):
    command = [sys.executable, "-c", GIVEN_UP, stored.address, str(tmp_path)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        first = program.stdout.readline()
        assert first == "runs\n", first + program.stdout.read()
        stored.head.kill_gcs_server()
        text = program.stdout.read()
    stored.head.start_gcs_server()
    assert program.returncode == 0, text
    assert f"the head of the Ray cluster at {stored.address} does not answer" in text
    assert "`--resume`" in text
    assert "was waited for, for 3 s" in text


def test_a_head_is_gone_when_two_looks_find_no_answer_and_back_with_the_first_that_does():
    said: queue.SimpleQueue = queue.SimpleQueue()
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{head.getsockname()[1]}"
        watch = HeadWatch(address, said.put, every_s=0.02)
        gone = said.get(timeout=60)
        assert isinstance(gone, HeadGone)
        assert gone_text(address, gone.why, 300.0).startswith(f"the head of the Ray cluster at {address} does not answer (")
        head.listen()
        assert isinstance(said.get(timeout=60), HeadBack)
        watch.close()
        assert said.empty()
