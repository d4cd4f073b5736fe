"""Controllers of endpoints are killed at any moment: after `stop` or `--resume` nothing is left, measured twice or unbilled."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from backends.emulator import Emulator, Settings
from launch.__main__ import main
from tests.backends.emulator.asking import control
from tests.backends.serving.onnx_packages import linear_model
from tests.backends.tag_bench import BUCKET, QUOTAS, hasten, use

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LOAD = """\
import argparse, json, os, pathlib, time
from outrider_report import checkpoint_dir, report
parser = argparse.ArgumentParser()
parser.add_argument("--gate")
parser.add_argument("--copies")
given = parser.parse_known_args()[0]
gate = pathlib.Path(given.gate + given.copies)
assert json.load(open(os.environ["OUTRIDER_ENDPOINT_TARGETS"]))["targets"]
path = checkpoint_dir() / "epoch"
done = int(path.read_text()) if path.exists() else 0
for epoch in range(done + 1, 4):
    report(epoch=epoch, score=epoch)
    path.write_text(str(epoch))
    # Until the test lets it go on, so that it is killed where it is meant to be.
    while epoch == 2 and not gate.exists():
        time.sleep(0.02)
"""

DEFINITION = """\
name: served
script: load.py
models: {{linear: {{type: onnx, path: linear.onnx, max_batch_size: 8}}}}
endpoint: {{mode: multi, server: ort, deploy_s: 120}}
arguments: {{instance_type: {instance}, gate: {gate}}}
space: {{copies: {{choice: {copies}}}}}
method: GRID
objectives: {{score: max}}
budget: {{max_num_trials: {trials}, max_run: 300}}
n_workers: 1
"""


class KillBench:
    """A definition in a folder, an emulator that outlives controllers, and what both say at the end."""

    def __init__(self, folder, emulator):
        self.folder, self.emulator = folder, emulator
        self.sagemaker = emulator.client("sagemaker")

    def define(self, trials=1, instance="ml.m5.xlarge"):
        (self.folder / "load.py").write_text(LOAD)
        (self.folder / "linear.onnx").write_bytes(linear_model(3.0))
        (self.folder / "served.yaml").write_text(
            DEFINITION.format(trials=trials, copies=[1, 2][:trials], gate=self.folder / "gate", instance=instance)
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

    def processes(self):
        """Return the command lines of load scripts and fronts that have to do with this test."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if str(self.folder / "load.py") in words or ("backends.serving.front" in words and str(self.folder) in " ".join(words)):
                found.append(" ".join(words))
        return found

    def until(self, condition, controller=None, longest_s=300.0):
        """Wait for a condition, which a controller that has ended brings about no more."""
        end = time.monotonic() + longest_s
        while not condition():
            assert time.monotonic() < end, (self.endpoints(), self.processes())
            assert controller is None or controller.process.poll() is None, controller.finish()
            time.sleep(0.05)

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

    def statuses(self):
        (path,) = (self.folder / "results" / "t").rglob("trials.csv")
        with path.open(newline="", encoding="utf-8") as file:
            return [row["status"] for row in csv.DictReader(file)]


@pytest.fixture
def made(toy, monkeypatch, tmp_path):
    hasten(monkeypatch)
    with contextlib.ExitStack() as stack:

        def make(*faults):
            emulator = stack.enter_context(Emulator(tmp_path / "emulator", settings=Settings(quotas=QUOTAS), faults=list(faults)))
            emulator.create_bucket(BUCKET)
            use(monkeypatch, emulator.environment, tmp_path)
            return KillBench(toy.folder, emulator)

        yield make


def words(backend):
    return ("--benchmark", "served.yaml", "--backend", backend, "--experiment_tag", "t", "--verbose")


@pytest.mark.parametrize("way", ["resume", "stop"])
@pytest.mark.parametrize("moment", ["creating", "loaded", "deleting"])
def test_a_killed_controller_of_one_endpoint(made, controller, run, moment, way):
    slow = {"creating": [{"kind": "pending", "seconds": 6.0}], "deleting": [{"kind": "slow_stop", "seconds": 6.0}]}
    bench = made(*slow.get(moment, []))
    bench.define()
    if moment == "deleting":
        bench.let_through(1)
    one = controller(*words("sagemaker"))
    if moment == "loaded":
        bench.until(lambda: len(bench.reported()) == 2, one)
    else:
        bench.until(lambda: moment.title() in bench.endpoints().values(), one)
    one.process.kill()
    one.finish()
    if way == "stop":
        assert main(["stop", "t"]) == 0
        assert bench.left() == []
    bench.let_through(1)
    code, out, err = run("--resume", "t")
    assert code == 0, out + err
    assert bench.left() == []
    bench.until(lambda: bench.processes() == [])
    assert bench.statuses() == ["completed"]
    assert not [line for line in err.splitlines() if line.endswith("trial 0 ")]  # what is noted for the next controller is not shown
    # A deployment that somebody deleted under its load is measured anew, from the checkpoint on; all others once.
    assert sorted(epoch for _, epoch in bench.reported()) == [1, 2, 3]
    bench.check_bill()


@pytest.mark.parametrize("way", ["resume", "stop"])
def test_a_controller_that_is_killed_while_a_kept_endpoint_is_under_load(made, controller, run, way):
    bench = made()
    bench.define(trials=2)
    bench.let_through(1)
    one = controller(*words("warm_pool"))
    bench.until(lambda: len(bench.reported()) == 5, one)
    one.process.kill()
    one.finish()
    before = bench.endpoints()
    if way == "stop":
        assert main(["stop", "t"]) == 0
        assert bench.left() == []
    bench.let_through(2)
    code, out, err = run("--resume", "t")
    assert code == 0, out + err
    assert bench.left() == []
    bench.until(lambda: bench.processes() == [])
    assert bench.statuses() == ["completed"] * 2
    assert sorted(epoch for _, epoch in bench.reported()) == [1, 1, 2, 2, 3, 3]
    names = [one["name"] for one in control(bench.emulator.environment, "GET", "state")[1]["billed_endpoints"]]
    assert (len(before), names == [*before]) == (1, way == "resume")
    bench.check_bill()


def test_a_controller_that_is_killed_takes_the_servers_of_this_machine_with_it(made, controller, run):
    bench = made()
    bench.define(instance="local.1cpu")
    one = controller(*words("local"))
    bench.until(lambda: len(bench.reported()) == 2, one)
    assert len(bench.processes()) >= 2
    os.kill(one.process.pid, 9)
    one.finish()
    bench.until(lambda: bench.processes() == [])
    bench.let_through(1)
    code, out, err = run("--resume", "t")
    assert code == 0, out + err
    bench.until(lambda: bench.processes() == [])
    assert bench.statuses() == ["completed"]
    assert sorted(epoch for _, epoch in bench.reported()) == [1, 2, 3]
