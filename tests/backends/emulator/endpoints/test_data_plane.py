"""Invocations by unmodified boto3: what is really served, errors in the service's words, faults, what a death leaves."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ClientError

from backends.emulator import Emulator
from tests.backends.emulator.asking import control
from tests.backends.emulator.endpoints.hosting_bench import IMAGE, HostingBench, refused
from tests.backends.serving.onnx_packages import archive, package

pytestmark = pytest.mark.slow
ROW = [1.0, 2.0, 3.0, 4.0]
BODY = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": ROW}]})


class ServingBench(HostingBench):
    """Endpoints that serve, with models in `s3://bucket/models/`."""

    def __init__(self, emulator, folder):
        super().__init__(emulator)
        emulator.create_bucket("bucket")
        self.folder, self.s3, self.runtime = folder, emulator.client("s3"), emulator.client("sagemaker-runtime")

    def put(self, key, path):
        self.s3.put_object(Bucket="bucket", Key=key, Body=path.read_bytes())
        return f"s3://bucket/{key}"

    def models(self, *names, **how):
        for number, name in enumerate(names, 1):
            self.put(f"models/{name}.tar.gz", package(self.folder / f"{name}.tar.gz", factor=float(number), **how))

    def serving(self, name=None, limit_bytes=None, **parts):
        environment = {"OUTRIDER_SERVER": "ort", **({"OUTRIDER_MEMORY_BYTES": str(limit_bytes)} if limit_bytes else {})}
        container = {"Image": IMAGE, "Mode": "MultiModel", "ModelDataUrl": "s3://bucket/models/", "Environment": environment}
        name = self.endpoint(name, **{"container": container, **parts})
        self.until(name, "InService")
        return name

    def invoke(self, name, target=None, body=BODY, **rest):
        named = {"TargetModel": target} if target else {}
        found = self.runtime.invoke_endpoint(EndpointName=name, Body=body, ContentType="application/json", **named, **rest)
        return {**found, "Body": json.loads(found["Body"].read())}

    def numbers(self, *given, **rest):
        return self.invoke(*given, **rest)["Body"]["outputs"][0]["data"]

    def fronts_status(self, name, number=0):
        """Return what one of an endpoint's fronts says of itself."""
        told = control(self.emulator.environment, "GET", "endpoints")[1][name][number]
        with urllib.request.urlopen(urllib.request.Request(told["status_url"], headers={"X-Outrider-Key": told["key"]})) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with Emulator() as emulator:
        bench = ServingBench(emulator, tmp_path_factory.mktemp("models"))
        bench.models("a", "b", "c")
        yield bench


@pytest.fixture
def made(tmp_path):
    import contextlib

    with contextlib.ExitStack() as stack:
        yield lambda **rest: ServingBench(stack.enter_context(Emulator(**rest)), tmp_path)


def test_targets_are_loaded_from_s3_as_they_are_called(lab):
    name = lab.serving()
    assert lab.numbers(name, "b.tar.gz") == [2.0, 4.0, 6.0, 8.0]
    cold = lab.invoke(name, "c.tar.gz")
    assert cold["Body"]["outputs"][0]["data"] == [3.0, 6.0, 9.0, 12.0]
    assert cold["InvokedProductionVariant"] == "AllTraffic"
    headers = cold["ResponseMetadata"]["HTTPHeaders"]
    assert headers["x-outrider-cold"] == "1"
    assert lab.invoke(name, "c.tar.gz")["ResponseMetadata"]["HTTPHeaders"]["x-outrider-cold"] == "0"


def test_one_model_is_served_from_its_archive(lab):
    uri = lab.put("one/model.tar.gz", package(lab.folder / "one.tar.gz", factor=5.0))
    name = lab.serving(container={"Image": IMAGE, "ModelDataUrl": uri, "Environment": {"OUTRIDER_SERVER": "ort"}})
    assert lab.numbers(name) == [5.0, 10.0, 15.0, 20.0]
    code, message = refused(lab.invoke, name=name, target="a.tar.gz")
    assert (code, "not a multi-model endpoint" in message) == ("ValidationError", True)


def test_errors_are_worded_as_the_services(lab):
    name = lab.serving()
    wrong = refused(lab.invoke, name="nobody", target="a.tar.gz")
    assert wrong == ("ValidationError", "Endpoint nobody of account 123456789012 not found.")
    code, message = refused(lab.invoke, name=name, target="none.tar.gz")
    assert (code, "Failed to download model data (bucket: bucket, key: models/none.tar.gz)" in message) == ("ValidationError", True)
    with pytest.raises(ClientError) as caught:
        lab.invoke(name, "a.tar.gz", body="{}")
    response = caught.value.response
    assert (response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]) == ("ModelError", 424)
    assert response["OriginalStatusCode"] == 400
    assert response["OriginalMessage"]
    with pytest.raises(ClientError) as caught:
        lab.invoke(name, "a.tar.gz", body=b"x" * 6_291_457)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 413
    assert "exceeded 6291456 bytes" in str(caught.value)
    assert lab.numbers(name, "a.tar.gz") == ROW


def test_who_has_no_credentials_of_the_run_is_refused(lab):
    name = lab.serving()
    stranger = boto3.client(
        "sagemaker-runtime",
        endpoint_url=lab.emulator.endpoint_url,
        region_name="us-east-1",
        aws_access_key_id="AKIAX",
        aws_secret_access_key="x",
    )
    with pytest.raises(ClientError) as caught:
        stranger.invoke_endpoint(EndpointName=name, Body=BODY, TargetModel="a.tar.gz")
    assert caught.value.response["Error"]["Code"] == "UnrecognizedClientException"


def test_an_archive_that_would_leave_its_folder_is_refused_and_what_is_no_model_too(lab):
    name = lab.serving()
    lab.put("models/evil.tar.gz", archive(lab.folder / "evil.tar.gz", {"../evil": "x"}))
    (lab.folder / "broken.tar.gz").write_bytes(b"no archive")
    lab.put("models/broken.tar.gz", lab.folder / "broken.tar.gz")
    for target, words in (("evil", "outside of the model's folder"), ("broken", "cannot be unpacked")):
        code, message = refused(lab.invoke, name=name, target=f"{target}.tar.gz")
        assert (code, words in message) == ("ValidationError", True), message


def test_a_model_that_is_missing_or_broken_fails_an_endpoint_of_one_model(lab):
    uri = lab.put("gone/model.tar.gz", package(lab.folder / "gone.tar.gz"))
    name = lab.parts(container={"Image": IMAGE, "ModelDataUrl": uri, "Environment": {"OUTRIDER_SERVER": "ort"}})
    lab.s3.delete_object(Bucket="bucket", Key="gone/model.tar.gz")
    lab.sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)
    reason = lab.until(name, "Failed")["FailureReason"]
    assert reason.startswith("The primary container for production variant AllTraffic did not pass the ping health check.")
    assert "Failed to download model data (bucket: bucket, key: gone/model.tar.gz)" in reason


def test_memory_is_as_it_is_set(made):
    bench = made()
    bench.models("a", "b", weights=24_000_000)
    name = bench.serving()
    bench.numbers(name, "a.tar.gz")
    bench.numbers(name, "b.tar.gz")
    there = bench.fronts_status(name)
    one_bytes = (there["memory_bytes"] - there["base_bytes"]) / 2
    assert there["limit_bytes"] == 8 << 30
    tight = bench.serving(limit_bytes=int(there["base_bytes"] + 1.5 * one_bytes))
    bench.numbers(tight, "a.tar.gz")
    bench.numbers(tight, "b.tar.gz")
    found = bench.fronts_status(tight)
    assert (found["resident"], found["evictions"]) == (["b.tar.gz"], 1)


def test_a_stall_holds_answers(made):
    bench = made(faults=[{"kind": "stall", "job": "held*", "seconds": 1.0}])
    bench.models("a")
    name = bench.serving("held")
    began = time.monotonic()
    assert bench.numbers(name, "a.tar.gz") == ROW
    assert time.monotonic() - began >= 1.0


def test_an_unload_makes_a_model_cold_once(made):
    bench = made(faults=[{"kind": "unload", "at_s": 0.1}])
    bench.models("a")
    name = bench.serving()
    end, colds = time.monotonic() + 90, 0
    while colds < 2 and time.monotonic() < end:
        colds += bench.invoke(name, "a.tar.gz")["ResponseMetadata"]["HTTPHeaders"]["x-outrider-cold"] == "1"
    assert colds == 2
    assert [bench.invoke(name, "a.tar.gz")["ResponseMetadata"]["HTTPHeaders"]["x-outrider-cold"] for _ in range(5)] == ["0"] * 5


def test_faults_of_calls_apply_to_invocations(made):
    fault = {"kind": "error", "operation": "InvokeEndpoint", "code": "ServiceUnavailable", "status": 503, "times": 1}
    bench = made(faults=[fault, {"kind": "throttle", "operation": "InvokeEndpoint", "rate_per_s": 0.001, "burst": 1}])
    bench.models("a")
    name = bench.serving()
    assert refused(bench.invoke, name=name, target="a.tar.gz")[0] == "ServiceUnavailable"
    assert bench.numbers(name, "a.tar.gz") == ROW
    assert refused(bench.invoke, name=name, target="a.tar.gz")[0] == "ThrottlingException"


def test_a_front_that_is_killed_is_replaced_and_nothing_is_left_of_it(made):
    bench = made()
    bench.models("a")
    name = bench.serving()
    bench.numbers(name, "a.tar.gz")
    (front,) = processes(bench.emulator)
    os.kill(front, signal.SIGKILL)
    end, codes = time.monotonic() + 100.0, set()
    while True:
        try:
            assert bench.numbers(name, "a.tar.gz") == ROW
            break
        except ClientError as error:
            codes.add(error.response["Error"]["Code"])
            assert time.monotonic() < end
            time.sleep(0.05)
    assert codes <= {"ServiceUnavailable"}
    bench.sagemaker.delete_endpoint(EndpointName=name)
    bench.gone(name)
    assert processes(bench.emulator) == []


def test_instances_take_turns(made):
    bench = made()
    bench.models("a")
    name = bench.serving(count=2)
    for _ in range(6):
        bench.numbers(name, "a.tar.gz")
    counts = [bench.fronts_status(name, number)["hits"] + bench.fronts_status(name, number)["cold"] for number in (0, 1)]
    assert counts == [3, 3]


def processes(emulator):
    """Return the processes of fronts below an emulator's folder."""
    mark = str(emulator.folder).encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"backends.serving.front" in words and any(mark in word for word in words):
            found.append(int(entry.name))
    return found
