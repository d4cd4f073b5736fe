"""An endpoint whose load waits where a test wants it, an emulator that outlives controllers, and what both say at the end."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import sqlite3
import time
from pathlib import Path

from botocore.exceptions import ClientError

from tests.backends.emulator.asking import control
from tests.backends.serving.onnx_packages import linear_model
from tests.waiting import looks

LOAD = """\
import argparse, json, os, pathlib, time, urllib.request
from outrider_report import checkpoint_dir, report
parser = argparse.ArgumentParser()
parser.add_argument("--gate")
parser.add_argument("--copies")
given = parser.parse_known_args()[0]
gate = pathlib.Path(given.gate + given.copies)
targets = json.load(open(os.environ["OUTRIDER_ENDPOINT_TARGETS"]))["targets"]
ROW = b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1.0, 2.0, 3.0, 4.0]}]}'
def call():
    # On this machine alone, as the service would have it signed; again and again, as its server may have died.
    headers = {"X-Outrider-Key": os.environ["OUTRIDER_ENDPOINT_KEY"], "X-Amzn-SageMaker-Target-Model": targets[0]["target"]}
    while not os.environ["OUTRIDER_ENDPOINT_REGION"]:
        try:
            asked = urllib.request.Request(os.environ["OUTRIDER_ENDPOINT_URL"], ROW, {**headers, "Content-Type": "application/json"})
            assert json.loads(urllib.request.urlopen(asked).read())["outputs"][0]["data"] == [3.0, 6.0, 9.0, 12.0]
            return
        except OSError:
            time.sleep(0.05)
path = checkpoint_dir() / "epoch"
done = int(path.read_text()) if path.exists() else 0
for epoch in range(done + 1, 4):
    call()
    report(epoch=epoch, score=epoch)
    path.write_text(str(epoch))
    # Until the test lets it go on, so that it is killed where it is meant to be.
    while epoch == 2 and not gate.exists():
        time.sleep(0.02)
"""

ROW = b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1.0, 2.0, 3.0, 4.0]}]}'
FRONT, SERVER, TRITON, MODEL = "backends.serving.front", "backends.serving.ort.program", "bin/tritonserver", "triton_python_backend_stub"
"""By what the programs are known that serve."""
SERVING = (FRONT, SERVER, TRITON, MODEL, "load.py")

DEFINITION = """\
name: served
script: load.py
models: {{linear: {{type: onnx, path: linear.onnx, max_batch_size: 8}}}}
endpoint: {{mode: multi, server: {server}, deploy_s: 120}}
arguments: {{instance_type: {instance}, gate: {gate}}}
space: {{copies: {{choice: {copies}}}}}
method: GRID
objectives: {{score: max}}
budget: {{max_num_trials: {trials}, max_run: 300}}
n_workers: 1
"""


class EndpointLab:
    """A definition in a folder, an emulator that outlives controllers, and what both say at the end."""

    def __init__(self, folder, emulator):
        self.folder, self.emulator = folder, emulator
        self.sagemaker = emulator.client("sagemaker")

    def define(self, trials=1, instance="ml.m5.xlarge", server="ort"):
        (self.folder / "load.py").write_text(LOAD)
        (self.folder / "linear.onnx").write_bytes(linear_model(3.0))
        (self.folder / "served.yaml").write_text(
            DEFINITION.format(trials=trials, copies=[1, 2][:trials], gate=self.folder / "gate", instance=instance, server=server)
        )

    def let_through(self, copies):
        """Let the trial of so many copies go on after its second epoch."""
        (self.folder / f"gate{copies}").touch()

    def endpoints(self):
        return {one["EndpointName"]: one["EndpointStatus"] for one in self.sagemaker.list_endpoints(MaxResults=100)["Endpoints"]}

    def left(self):
        configs = self.sagemaker.list_endpoint_configs()["EndpointConfigs"]
        models = self.sagemaker.list_models()["Models"]
        return [*self.endpoints(), *(one["EndpointConfigName"] for one in configs), *(one["ModelName"] for one in models)]

    def processes(self, mark=""):
        """Return what serves and loads in this test by number: command lines, or those with a mark in them."""
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ") if entry.name.isdigit() else ""
            except OSError:
                continue
            if str(self.folder) in line and any(one in line for one in SERVING) and mark in line:
                found[int(entry.name)] = line
        return found

    def kill(self, mark):
        """Kill the one process of a kind that serves, and wait until it is gone."""
        (pid,) = self.processes(mark)
        os.kill(pid, signal.SIGKILL)
        self.until(lambda: pid not in self.processes(mark))

    def call(self):
        """Call the endpoint on the emulator until it answers, whatever has died."""
        (name,), runtime = self.endpoints(), self.emulator.client("sagemaker-runtime")
        asked = {"EndpointName": name, "TargetModel": "linear-v0.tar.gz", "Body": ROW, "ContentType": "application/json"}
        give_up_at = time.monotonic() + 300.0
        while True:
            try:
                answer = runtime.invoke_endpoint(**asked)
                assert json.loads(answer["Body"].read())["outputs"][0]["data"] == [3.0, 6.0, 9.0, 12.0]
                return
            except ClientError:
                assert time.monotonic() < give_up_at
                time.sleep(0.05)

    def until(self, condition, controller=None, longest_s=300.0):
        """Wait for a condition, which a controller that has ended brings about no more."""
        for _ in looks(longest_s):
            if condition():
                return
            assert controller is None or controller.process.poll() is None, controller.finish()
        raise AssertionError((self.endpoints(), self.processes()))

    def records(self, kind):
        """Return what is in the journal, and so outlives its controller; nothing as long as there is none."""
        for journal in (self.folder / "results" / "t").rglob("journal.sqlite"):
            with contextlib.closing(sqlite3.connect(journal)) as database, contextlib.suppress(sqlite3.OperationalError):
                query = "SELECT body FROM records WHERE kind = ? ORDER BY rowid"
                return [json.loads(body) for (body,) in database.execute(query, (kind,))]
        return []

    def reported(self):
        return [(one["job"], one["metrics"]["epoch"]) for one in self.records("reported")]

    def journal_s(self):
        """Return the seconds that the journal says were paid for, kept endpoints included."""
        closed = sum(one["billable_s"] for one in self.records("closed"))
        return closed + sum(one["billable_s"] or 0.0 for one in self.records("retained"))

    def check_bill(self):
        """Assert that the journal bills what the emulator does, and until somebody could see that it was gone."""
        now, ended = time.time(), control(self.emulator.environment, "GET", "state")[1]["billed_endpoints"]
        emulator_s = sum(one["deleted_at"] - one["created_at"] for one in ended)
        # Who takes over sees that it is gone when it looks, which is before now.
        late_s = sum(now - one["deleted_at"] for one in ended)
        assert -0.5 <= self.journal_s() - emulator_s <= late_s + 2.0

    def rows(self):
        """Return the rows of trials.csv."""
        (path,) = (self.folder / "results" / "t").rglob("trials.csv")
        with path.open(newline="", encoding="utf-8") as file:
            return [*csv.DictReader(file)]

    def statuses(self):
        return [row["status"] for row in self.rows()]

    def cost_usd(self):
        return sum(float(row["cost_usd"]) for row in self.rows())
