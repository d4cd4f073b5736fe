"""Faults of the service and models that cannot be served, through the command itself: what a trial is then, what is told, kept and left."""

from __future__ import annotations

import contextlib
import re

import pytest

from backends.emulator import Emulator, Settings
from backends.emulator.core.settings import ENDPOINT_QUOTA
from tests.backends.emulator.asking import control
from tests.backends.serving.onnx_packages import linear_model
from tests.backends.tag_bench import BUCKET, QUOTAS, hasten, use
from tests.launch.conftest import ROOT, rows
from tests.launch.endpoint_lab import EndpointLab

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SEARCHED = f"""\
name: served
script: endpoint_load.py
source_dir: {ROOT / "benchmarking" / "workloads"}
models: {{linear: {{type: onnx, path: linear.onnx, max_batch_size: 8}}}}
endpoint: {{mode: multi, server: ort, deploy_s: 120}}
arguments: {{instance_type: ml.m5.xlarge, load: search, slo_ms: 250, percentile: 80, probe_s: 1, rate: 10}}
space: {{copies: {{choice: [1]}}}}
method: GRID
objectives: {{max_rate_per_s: max}}
fidelity: {{kind: progressive, argument: rungs, reported_as: rung, full: 3}}
budget: {{max_num_trials: 1, max_run: 600}}
"""

SIZES = f"""\
name: served
script: endpoint_load.py
source_dir: {ROOT / "benchmarking" / "workloads"}
models:
  small: {{type: onnx, path: small.onnx, max_batch_size: 8}}
  large: {{type: onnx, path: large.onnx, max_batch_size: 8}}
endpoint: {{mode: multi, server: ort, deploy_s: 120, client_cores: 0, memory: 128MB}}
arguments: {{instance_type: %s, load: open, rate: 5, duration_s: 1, timeout_s: 60}}
space: {{model: {{choice: [large, small]}}, mode: {{choice: [single, multi]}}}}
method: GRID
objectives: {{service_p99_ms: min}}
budget: {{max_num_trials: 4, max_run: 600}}
n_workers: 1
"""

SMALL = f"""\
name: served
script: endpoint_load.py
source_dir: {ROOT / "benchmarking" / "workloads"}
models: {{small: {{type: onnx, path: small.onnx, max_batch_size: 8}}}}
endpoint: {{mode: multi, server: ort, deploy_s: 120}}
arguments: {{instance_type: ml.m5.xlarge, load: open, rate: 5, duration_s: 1}}
space: {{copies: {{choice: [1, 2]}}}}
method: GRID
objectives: {{service_p99_ms: min}}
budget: {{max_run: 600}}
n_workers: 1
"""

NONE = {ENDPOINT_QUOTA.format("*"): 0}


@pytest.fixture
def lab(toy, monkeypatch, tmp_path, request):
    hasten(monkeypatch)
    with contextlib.ExitStack() as stack:
        emulator = stack.enter_context(Emulator(tmp_path / "emulator", settings=Settings(quotas=getattr(request, "param", QUOTAS))))
        emulator.create_bucket(BUCKET)
        use(monkeypatch, emulator.environment, tmp_path)
        yield EndpointLab(toy.folder, emulator)


def told(lab, path, faults):
    assert control(lab.emulator.environment, "POST", path, faults)[0] == 200


def test_credentials_expire_during_a_probe_and_what_was_known_is_not_measured_again(lab, controller):
    (lab.folder / "linear.onnx").write_bytes(linear_model(3.0))
    (lab.folder / "served.yaml").write_text(SEARCHED)
    # More than 30/s is refused, so that there is a rate which does not pass.
    told(lab, "faults", [{"kind": "throttle", "operation": "InvokeEndpoint", "rate_per_s": 30.0, "burst": 40}])
    one = controller("--benchmark", "served.yaml", "--backend", "sagemaker", "--experiment_tag", "t", "--verbose")

    def reports():
        return [one["metrics"] for one in lab.records("reported")]

    lab.until(lambda: any(metrics.get("rung") == 1 for metrics in reports()), one)
    told(lab, "faults", [{"kind": "expired_token", "operation": "InvokeEndpoint"}])
    lab.until(lambda: lab.records("closed"), one)
    (closed,) = lab.records("closed")
    assert closed["cause"] == "credentials_expired"
    assert "requests were denied: " in closed["message"]
    before = reports()
    told(lab, "faults/clear", {"kind": "expired_token"})
    lab.until(lambda: one.process.poll() is not None)
    code, out, err = one.finish()
    assert code == 0, out + err
    assert lab.statuses() == ["completed"]
    rungs = [metrics["rung"] for metrics in reports() if "rung" in metrics]
    assert rungs == sorted(set(rungs))
    first = {metrics["probe_rate_per_s"] for metrics in before if "probe_rate_per_s" in metrics}
    later = [metrics["probe_rate_per_s"] for metrics in reports()[len(before) :] if "probe_rate_per_s" in metrics]
    # The one that was cut short alone is asked again.
    assert len(first & {*later}) <= 1
    assert lab.left() == []
    lab.until(lambda: not lab.processes())
    lab.check_bill()


@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_a_model_larger_than_the_memory_is_infeasible_alone_and_among_others(lab, run, backend):
    (lab.folder / "small.onnx").write_bytes(linear_model(3.0))
    (lab.folder / "large.onnx").write_bytes(linear_model(3.0, weights=120_000_000))
    (lab.folder / "served.yaml").write_text(SIZES % {"local": "local.1cpu", "sagemaker": "ml.m5.xlarge"}[backend])
    code, out, err = run("--benchmark", "served.yaml", "--backend", backend, "--experiment_tag", "t", "--verbose")
    (path,) = (lab.folder / "results" / "t").rglob("trials.csv")
    found = {(row["model"], row["mode"]): row["status"] for row in rows(path)}
    assert found == {
        ("large", "single"): "infeasible",
        ("large", "multi"): "infeasible",
        ("small", "single"): "completed",
        ("small", "multi"): "completed",
    }, out + err
    assert len(re.findall("does not fit into memory even alone", out + err)) >= 2
    assert code == 0
    assert lab.left() == []


@pytest.mark.parametrize("lab", [QUOTAS | NONE], indirect=True)
def test_a_quota_of_no_endpoints_ends_a_run_before_it_starts_and_is_named(lab, run):
    (lab.folder / "linear.onnx").write_bytes(linear_model(3.0))
    (lab.folder / "served.yaml").write_text(SEARCHED)
    code, out, err = run("--benchmark", "served.yaml", "--backend", "sagemaker", "--experiment_tag", "t")
    assert code != 0
    said = "benchmark served: ml.m5.xlarge does not fit here\n  the quota 'ml.m5.xlarge for endpoint usage' is 0 in us-east-1; `aws "
    assert said in err, out + err
    assert [*(lab.folder / "results").rglob("journal.sqlite")] == []
    assert lab.left() == []


def test_one_that_allows_none_any_more_is_named_on_resume(lab, run, monkeypatch, tmp_path):
    (lab.folder / "small.onnx").write_bytes(linear_model(3.0))
    (lab.folder / "served.yaml").write_text(SMALL)
    given = ("--benchmark", "served.yaml", "--backend", "sagemaker", "--experiment_tag", "t")
    run(*given, "--max_num_trials", "1")
    assert lab.statuses() == ["completed"]
    with Emulator(tmp_path / "other", settings=Settings(quotas=QUOTAS | NONE)) as other:
        other.create_bucket(BUCKET)
        use(monkeypatch, other.environment, tmp_path)
        code, out, err = run("--resume", "t", "--max_num_trials", "2")
    assert code != 0
    assert "does not fit here\n  the quota 'ml.m5.xlarge for endpoint usage' is 0 in us-east-1; `aws " in err, out + err
    assert len(lab.records("closed")) == 1
