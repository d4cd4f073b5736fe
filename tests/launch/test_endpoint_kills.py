"""Controllers of endpoints, and what serves, are killed at any moment: nothing is left then, measured twice or unbilled."""

from __future__ import annotations

import contextlib
import os
import time

import pytest

from backends.emulator import Emulator, Settings
from backends.serving.triton.server import TritonServer
from launch.__main__ import main
from tests.backends.emulator.asking import control
from tests.backends.tag_bench import BUCKET, QUOTAS, hasten, use
from tests.launch.endpoint_lab import FRONT, MODEL, SERVER, TRITON, EndpointLab

WHEEL = TritonServer.missing()
WITH_WHEEL = pytest.mark.skipif(bool(WHEEL), reason=WHEEL)
KILLED = [("ort", FRONT), ("ort", SERVER), *(pytest.param("triton", one, marks=WITH_WHEEL) for one in (TRITON, MODEL))]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def made(toy, monkeypatch, tmp_path):
    hasten(monkeypatch)
    with contextlib.ExitStack() as stack:

        def make(*faults):
            emulator = stack.enter_context(Emulator(tmp_path / "emulator", settings=Settings(quotas=QUOTAS), faults=list(faults)))
            emulator.create_bucket(BUCKET)
            use(monkeypatch, emulator.environment, tmp_path)
            return EndpointLab(toy.folder, emulator)

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
    bench.until(lambda: not bench.processes())
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
    bench.until(lambda: not bench.processes())
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
    bench.until(lambda: not bench.processes())
    bench.let_through(1)
    code, out, err = run("--resume", "t")
    assert code == 0, out + err
    bench.until(lambda: not bench.processes())
    assert bench.statuses() == ["completed"]
    assert sorted(epoch for _, epoch in bench.reported()) == [1, 2, 3]


@pytest.mark.parametrize(("server", "who"), KILLED)
def test_what_serves_an_endpoint_is_killed_under_load(made, controller, server, who):
    bench = made()
    bench.define(server=server)
    one = controller(*words("sagemaker"))
    bench.until(lambda: len(bench.reported()) == 2, one)
    bench.call()
    bench.kill(who)
    bench.call()  # by what the service has put in its place
    bench.let_through(1)
    code, out, err = one.finish()
    assert code == 0, out + err
    assert bench.left() == []
    bench.until(lambda: not bench.processes())
    assert (bench.statuses(), bench.reported()) == (["completed"], [(bench.reported()[0][0], epoch) for epoch in (1, 2, 3)])
    bench.check_bill()


@pytest.mark.parametrize(("server", "who"), KILLED)
def test_what_serves_on_this_machine_is_killed_under_load(made, controller, server, who):
    bench = made()
    bench.define(instance="local.1cpu", server=server)
    began_at = time.time()
    one = controller(*words("local"))
    bench.until(lambda: len(bench.reported()) == 2, one)
    reported_at = time.time()
    bench.kill(who)
    killed_at = time.time()
    if who == FRONT:
        # Its job has lost what it measures, and ends by itself.
        bench.until(lambda: not bench.processes())
    else:
        bench.let_through(1)
    ended_at = time.time()
    code, out, err = one.finish()
    bench.until(lambda: not bench.processes())
    assert bench.statuses() == (["failed"] if who == FRONT else ["completed"]), (code, out + err)
    # Paid for from before its first report until it has ended, once.
    ended_at = ended_at if who == FRONT else time.time()
    assert killed_at - reported_at <= bench.journal_s() <= ended_at - began_at
    assert bench.cost_usd() == pytest.approx(bench.journal_s() / 3600 * 0.05, rel=1e-6)
