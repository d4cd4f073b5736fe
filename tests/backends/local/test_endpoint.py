"""Jobs that serve an endpoint: front, server and load as one process tree, with cores and memory of their own."""

from __future__ import annotations

import os
import signal
import textwrap
import time
from pathlib import Path

import pytest

from backends.adopted import AdoptedJob
from backends.common import process_tree
from backends.deployment import Deployment, ModelPackage, Tensor
from backends.events import Closed, Rejected, Reported
from backends.failures import Cause, Outcome
from backends.local.shares import parse_local
from backends.processes.endpoint_job import EndpointShare, endpoint_refusal, share_of, split_cores
from tests.backends.contract import closed, collect, has, of_job
from tests.backends.local_bench import LocalBench
from tests.backends.serving.onnx_packages import archive, config, package

GIB = 1 << 30

CALL = """
    import json, os, urllib.request
    def call(target, data=(1.0, 2.0, 3.0, 4.0)):
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": list(data)}]}).encode()
        headers = {"X-Outrider-Key": os.environ["OUTRIDER_ENDPOINT_KEY"], "Content-Type": "application/json"}
        headers |= {"X-Amzn-SageMaker-Target-Model": target} if target else {}
        request = urllib.request.Request(os.environ["OUTRIDER_ENDPOINT_URL"], body, headers)
        return json.loads(urllib.request.urlopen(request).read())["outputs"][0]["data"]
    def status():
        headers = {"X-Outrider-Key": os.environ["OUTRIDER_ENDPOINT_KEY"]}
        request = urllib.request.Request(os.environ["OUTRIDER_ENDPOINT_STATUS_URL"], headers=headers)
        return json.loads(urllib.request.urlopen(request).read())
    told = json.load(open(os.environ["OUTRIDER_ENDPOINT_TARGETS"]))
"""


def deployment(path, mode="multi", copies=2, instance_type="local.1cpu", **fields):
    """Return a deployment of one archive."""
    tensors = (Tensor("x", "FP32", (4,)),), (Tensor("y", "FP32", (4,)),)
    one = ModelPackage("linear", str(path), "", "0" * 64, fields.pop("platform", "onnx"), *tensors, 8)
    return Deployment((one,), mode, fields.pop("server", "ort"), copies, instance_type, **{"client_cores": 0, **fields})


@pytest.fixture
def bench(tmp_path):
    made = LocalBench(tmp_path)
    yield made
    made.backend.close()


def load(bench, code, served, **fields):
    """Return a job that runs this load against a deployment."""
    return bench.job("load", textwrap.dedent(CALL) + textwrap.dedent(code), endpoint=served, instance_type=served.instance_type, **fields)


def living(bench):
    """Return the processes that have the folder of the bench in their command line."""
    found = []
    for pid in process_tree.all_processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        process = process_tree.read_process(pid)
        if str(bench.folder).encode() in words and pid != os.getpid() and process is not None and process.alive:
            found.append(pid)
    return found


def gone(bench):
    """Wait until nothing of the bench runs."""
    give_up_at = time.monotonic() + 45
    while living(bench):
        assert time.monotonic() < give_up_at
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["single", "multi"])
def test_a_load_runs_against_an_endpoint_of_its_own(bench, tmp_path, mode):
    served = deployment(package(tmp_path / "linear.tar.gz", 3.0), mode, 1 if mode == "single" else 2)
    code = """
    answers = [call(one["target"]) for one in told["targets"]]
    report(first=answers[0][0], targets=len(answers), loads=status()["loads"], shares=int(told["client_shares_cores"]))
    """
    events = bench.run(load(bench, code, served))
    (report,) = of_job(events, "load", Reported)
    count = 1 if mode == "single" else 2
    assert report.metrics == {"first": 3.0, "targets": count, "loads": count, "shares": 1}
    end = closed(events, "load")
    assert end.outcome is Outcome.COMPLETED, end.message
    measured = end.usage["endpoint"]
    assert measured["loads"] == count
    assert measured["server_cpu_s"] > 0 < measured["client_cpu_s"]
    assert measured["server_rss_bytes"] > measured["base_bytes"] > 10 << 20 < measured["client_peak_rss_bytes"]
    assert measured["client_shares_cores"] is True
    assert living(bench) == []
    left = {path.name for path in (bench.folder / "experiment" / "jobs" / "load" / "endpoint").iterdir()}
    assert "work" not in left
    assert "server.log" in left


@pytest.mark.slow
@pytest.mark.parametrize("max_run_s", [70.0, None])
def test_a_load_is_told_how_long_its_job_may_still_take(bench, tmp_path, max_run_s):
    """What the server took of `max_run` to come up is none of it any more; where nothing limits the job, nothing is said."""
    served = deployment(package(tmp_path / "linear.tar.gz"))
    code = """
    report(left=float(os.environ.get("OUTRIDER_ENDPOINT_LEFT_S", "-1")))
    """
    (metrics,) = bench.metrics_of(load(bench, code, served, max_run_s=max_run_s))
    assert metrics["left"] == -1 if max_run_s is None else 0 < metrics["left"] < max_run_s


@pytest.mark.slow
def test_server_and_load_have_cores_of_their_own(bench, tmp_path):
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        pytest.skip("one core cannot be divided")
    served = deployment(package(tmp_path / "linear.tar.gz"), client_cores=1)
    code = """
    call("linear-v0.tar.gz")
    front = int(open(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read().split()[0])
    server = int(open(f"/proc/{front}/task/{front}/children").read().split()[0])
    of = [sorted(os.sched_getaffinity(pid)) for pid in (0, front, server)]
    report(own=of[0][0], front=of[1][0], server=of[2][0], counts=sum(map(len, of)), cores=int(os.environ["OUTRIDER_CORES"]))
    """
    (metrics,) = bench.metrics_of(load(bench, code, served))
    assert metrics["own"] != metrics["server"] == metrics["front"]
    assert (metrics["counts"], metrics["cores"]) == (3, 1)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["front", "server"])
def test_a_job_whose_front_or_server_is_killed_leaves_nothing(bench, tmp_path, who):
    served = deployment(package(tmp_path / "linear.tar.gz"))
    code = """
    import time
    call("linear-v0.tar.gz")
    front = int(open(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read().split()[0])
    server = int(open(f"/proc/{front}/task/{front}/children").read().split()[0])
    report(front=front, server=server)
    while True:
        time.sleep(0.05)
        try:
            if status()["restarts"] == 1:
                call("linear-v0.tar.gz")
                break
        except OSError:
            pass
    report(front=front, server=0)
    """
    job = load(bench, code, served)
    begun = bench.begin(job)
    os.kill(int(of_job(begun, "load", Reported)[0].metrics[who]), signal.SIGKILL)
    end = closed(collect(bench.backend, has("load", Closed)), "load")
    if who == "server":
        assert end.outcome is Outcome.COMPLETED, "it is started again, as a container is"
    else:
        assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.SCRIPT_ERROR)
        assert "the endpoint's front was ended by signal 9 while the load ran" in end.message
    gone(bench)


@pytest.mark.slow
def test_an_endpoint_that_does_not_come_up_fails_with_the_reason(bench, tmp_path):
    broken = archive(tmp_path / "linear.tar.gz", {"linear/config.pbtxt": config(), "linear/1/model.onnx": b"no model"})
    end = bench.end_of(load(bench, "report(x=1)", deployment(broken, "single", 1)))
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.SCRIPT_ERROR)
    assert "does not take 1/model.onnx" in end.message


@pytest.mark.slow
def test_a_model_larger_than_the_memory_makes_a_trial_infeasible(bench, tmp_path):
    served = deployment(package(tmp_path / "linear.tar.gz", weights=96 << 20), "single", 1, memory_bytes=96 << 20)
    end = bench.end_of(load(bench, "report(x=1)", served))
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.OUT_OF_MEMORY)
    assert "does not fit into memory even alone" in end.message


@pytest.mark.slow
def test_a_stop_ends_server_and_load_together(bench, tmp_path):
    served = deployment(package(tmp_path / "linear.tar.gz"))
    bench.begin(load(bench, "import time\ncall('linear-v0.tar.gz')\nreport(x=1)\ntime.sleep(60)", served))
    bench.backend.stop("load", Cause.SCHEDULER)
    end = closed(collect(bench.backend, has("load", Closed)), "load")
    assert (end.outcome, end.cause) == (Outcome.STOPPED, Cause.SCHEDULER)
    gone(bench)


@pytest.mark.slow
def test_nothing_of_an_endpoint_outlives_a_killed_controller(bench, tmp_path):
    served = deployment(package(tmp_path / "linear.tar.gz"))
    job = load(bench, "import time\ncall('linear-v0.tar.gz')\nreport(x=1)\ntime.sleep(60)", served)
    controller = os.fork()
    if not controller:
        try:
            own = bench.another("killed")
            own.submit(job)
            collect(own, has("load", Reported))
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(controller, 0)[1]) == signal.SIGKILL
    gone(bench)
    work = bench.folder / "killed" / "jobs" / "load" / "endpoint" / "work"
    assert work.exists()
    heir = bench.another("killed")
    heir.adopt([AdoptedJob(job, 0.0)], 0.0)
    assert [event.cause for event in heir.wait(0.0) if isinstance(event, Closed)] == [Cause.CONTROLLER]
    assert not work.exists()
    heir.close()


@pytest.mark.slow
def test_the_limit_of_time_holds(bench, tmp_path):
    served = deployment(package(tmp_path / "linear.tar.gz"))
    job = load(bench, "import time\nreport(x=1)\ntime.sleep(60)", served, max_run_s=2.0)
    end = bench.end_of(job)
    assert end.cause is Cause.TIME_OUT
    gone(bench)


@pytest.mark.slow
def test_a_load_that_leaves_a_child_behind_ends_with_it(bench, tmp_path):
    served = deployment(package(tmp_path / "linear.tar.gz"))
    code = "import subprocess, sys\nreport(x=1)\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', __file__])"
    assert bench.end_of(load(bench, code, served)).outcome is Outcome.COMPLETED
    gone(bench)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"server": "ort", "platform": "trt"}, "server ort does not serve platform trt: nothing here serves platform trt"),
        ({"existing": "mine"}, "no endpoint that exists"),
        ({"client_cores": 1000}, "client_cores: 0"),
        ({"memory_bytes": 1 << 60}, "for models: local.1cpu has"),
        ({"instance_count": 2}, "this machine is one instance"),
    ],
)
def test_what_this_machine_cannot_serve_is_refused_before_anything_starts(bench, tmp_path, fields, words):
    served = deployment(package(tmp_path / "linear.tar.gz"), **fields)
    job = load(bench, "report(x=1)", served, instance_count=served.instance_count)
    bench.backend.submit(job)
    (event,) = of_job(collect(bench.backend, has("load", Rejected)), "load", Rejected)
    assert event.cause is Cause.BAD_REQUEST
    assert words in event.message
    assert not (bench.folder / "experiment" / "jobs" / "load").exists()


def test_a_load_has_memory_beside_its_server():
    served = deployment("a", client_cores=1, instance_type="local.2cpu")
    assert share_of(served, parse_local("local.2cpu"), 8, 32 * GIB) == EndpointShare(3, 1, 8 * GIB, 12 * GIB)
    limited = deployment("a", memory_bytes=GIB, client_cores=0)
    assert share_of(limited, parse_local("local.2cpu.4gib"), 8, 32 * GIB) == EndpointShare(2, 0, GIB, 5 * GIB)


def test_cores_are_divided_from_the_end():
    assert split_cores([4, 5, 6], 1) == ((4, 5), (6,))
    assert split_cores([4, 5], 0) == ((4, 5), (4, 5))


def test_a_machine_that_is_too_small_for_both_says_so():
    served = deployment("a", client_cores=1, instance_type="local.2cpu")
    words = endpoint_refusal(served, parse_local("local.2cpu"), 2, 32 * GIB)
    assert "the server's 2 and the load's 1 cores do not fit: this machine has 2" in words
    assert endpoint_refusal(served, parse_local("local.2cpu"), 3, 32 * GIB) == ""
