"""Messages that are lost on their way, by Ray's own injection of faults: no report is lost or doubled, and no job starts twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.launch.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(300)]

REPORTS, JOBS = 150, 3
PROGRAM = """
import json, pathlib, sys
from backends.events import Closed, Reported
from backends.job_spec import JobSpec
from backends.ray.backend import RayBackend
import ray
lost = []
get = ray.get
def counting(*given, **named):
    try:
        return get(*given, **named)
    except ray.exceptions.ActorUnavailableError:
        lost.append(1)
        raise
ray.get = counting
folder, jobs, reports = pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
source = folder / "source"
source.mkdir()
(source / "counts.py").write_text(f'''
import time
from outrider_report import report
with open({str(folder / "starts")!r}, "a") as file:
    file.write("one\\\\n")
for k in range({reports}):
    time.sleep(0.03)
    report(epoch=k)
''')
backend = RayBackend(folder / "experiment", address=sys.argv[1], grace_s=1.0)
for number in range(jobs):
    backend.submit(JobSpec(f"job{number}", number, 1, str(source / "counts.py"), source_dir=str(source), instance_type="ray.1cpu"))
events = []
while sum(isinstance(event, Closed) for event in events) < jobs:
    events += backend.wait(60.0)
backend.close()
told = {f"job{number}": [] for number in range(jobs)}
for event in events:
    if isinstance(event, Reported):
        told[event.job].append(event.metrics["epoch"])
print(json.dumps({"lost": len(lost), "told": told, "ends": [[str(e.outcome), e.message] for e in events if isinstance(e, Closed)]}))
"""


def test_over_a_connection_that_loses_messages_each_report_comes_once_and_each_job_starts_once(cluster, tmp_path):
    faults = {"num_failures": 40, "req_failure_prob": 15, "resp_failure_prob": 15}
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "RAY_testing_rpc_failure": json.dumps({"CoreWorkerService.grpc_client.PushTask": faults}),
        "RAY_testing_rpc_failure_avoid_intra_node_failures": "0",
    }
    command = [sys.executable, "-c", PROGRAM, cluster.address, str(tmp_path), str(JOBS), str(REPORTS)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["lost"] > 0, "nothing was lost on its way, so that nothing is shown"
    assert found["ends"] == [["completed", ""]] * JOBS
    assert found["told"] == {f"job{number}": [*range(REPORTS)] for number in range(JOBS)}
    assert (tmp_path / "starts").read_text().split() == ["one"] * JOBS
