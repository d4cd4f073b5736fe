"""The front as a program: what an endpoint answers, whose models it has, and what its end leaves."""

from __future__ import annotations

import json
import os
import signal
import struct
import threading

import pytest

from backends.common import process_tree
from backends.serving.base import BINARY
from tests.backends.serving.front_bench import ROW, request_body
from tests.backends.serving.onnx_packages import archive, config, linear_model, package
from tests.backends.serving.server_contract import descendants, until

pytestmark = pytest.mark.slow


def server_pid(bench) -> int:
    """Return the number of the server's process."""
    (server,) = descendants(bench)
    return server.pid


def test_a_target_is_loaded_on_its_first_call(front, tmp_path):
    for name, factor in (("a.tar.gz", 2.0), ("b.tar.gz", 3.0)):
        package(tmp_path / "targets" / name, factor)
    bench = front()
    answers = [bench.invoke(name) for name in ("a.tar.gz", "b.tar.gz", "a.tar.gz")]
    assert [answer.outputs for answer in answers] == [[2.0, 4.0, 6.0, 8.0], [3.0, 6.0, 9.0, 12.0], [2.0, 4.0, 6.0, 8.0]]
    assert [answer.headers["x-outrider-cold"] for answer in answers] == ["1", "1", "0"]
    assert float(answers[0].headers["x-outrider-load-ms"]) > 0 == float(answers[2].headers["x-outrider-load-ms"])
    status = bench.status()
    assert (status["resident"], status["loads"], status["hits"], status["cold"]) == (["b.tar.gz", "a.tar.gz"], 2, 1, 2)
    assert 0 < status["base_bytes"] < status["memory_bytes"]
    assert status["server_cpu_s"] > 0


def test_binary_tensors_go_in_and_out(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    bench = front()
    head = json.dumps(
        {
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": 16}}],
            "parameters": {"binary_data_output": True},
        }
    ).encode()
    answer = bench.invoke("a.tar.gz", body=head + struct.pack("<4f", *ROW), Content_Type=f"{BINARY};json-header-size={len(head)}")
    kind, _, length = answer.headers["content-type"].partition(";json-header-size=")
    assert (answer.status, kind) == (200, BINARY)
    assert struct.unpack("<4f", answer.body[int(length) :]) == (2.0, 4.0, 6.0, 8.0)


def test_errors_are_worded_as_the_service_words_them(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    bench = front()
    wrong_name = bench.invoke("a.tar.gz", body=request_body([ROW], "z"))
    assert (wrong_name.status, wrong_name.headers["x-amzn-errortype"], wrong_name.value["OriginalStatusCode"]) == (424, "ModelError", 400)
    assert "takes the inputs x" in wrong_name.value["OriginalMessage"]
    wrong_shape = bench.invoke("a.tar.gz", [[1.0, 2.0]])
    assert (wrong_shape.status, wrong_shape.value["OriginalStatusCode"]) == (424, 400)
    assert "has the shape [-1, 4]; [1, 2] came" in wrong_shape.value["OriginalMessage"]
    missing = bench.invoke("other.tar.gz")
    assert (missing.status, missing.headers["x-amzn-errortype"]) == (400, "ValidationError")
    assert bench.invoke().value["message"] == "Endpoint endpoint is a multi-model endpoint: TargetModel is missing."
    unknown = bench.ask("POST", "/endpoints/another/invocations", b"{}")
    assert (unknown.status, unknown.value["message"]) == (400, "Endpoint another not found.")
    assert bench.invoke("a.tar.gz", body=b" " * (6_291_456 + 1)).status == 413
    assert bench.invoke("a.tar.gz", body=b" " * 6_291_456).status == 424, "at the limit it is the model that refuses it"
    assert bench.invoke("a.tar.gz").status == 200


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"linear/config.pbtxt": config()}, "holds no model"),
        ({"linear/1/../../../evil": b"x", "linear/1/model.onnx": b"x"}, "outside of the model's folder"),
        ({"/linear/1/model.onnx": b"x"}, "outside of the model's folder"),
        ({"linear/config.pbtxt": config(), "linear/1/model.pt": b"x"}, "has no 1/model.onnx; in its folder 1 is model.pt"),
        ({"linear/config.pbtxt": config(), "linear/1/model.onnx": b"no model"}, "does not take 1/model.onnx"),
        ({"linear/config.pbtxt": config(), "linear/1/model.onnx": linear_model(opset=999)}, "does not take 1/model.onnx"),
        ({"linear/config.pbtxt": "max_batch_size {", "linear/1/model.onnx": linear_model()}, "config.pbtxt"),
    ],
)
def test_a_package_that_cannot_be_served_is_refused_with_the_reason(front, tmp_path, files, words):
    archive(tmp_path / "targets" / "bad.tar.gz", files)
    package(tmp_path / "targets" / "good.tar.gz")
    bench = front()
    answer = bench.invoke("bad.tar.gz")
    assert answer.status in (400, 424)
    assert words in answer.value["Message"]
    assert not (tmp_path / "evil").exists()
    assert bench.invoke("good.tar.gz").status == 200
    assert bench.status()["failed_loads"] == 1


def test_a_broken_archive_is_refused(front, tmp_path):
    good = package(tmp_path / "targets" / "a.tar.gz").read_bytes()
    (tmp_path / "targets" / "cut.tar.gz").write_bytes(good[: len(good) // 2])
    assert "cannot be unpacked" in front().invoke("cut.tar.gz").value["Message"]


def test_only_who_has_the_key_is_let_in(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    bench = front(key="sesame")
    assert bench.invoke("a.tar.gz").status == 200
    bench.key = ""
    assert bench.invoke("a.tar.gz").status == 403
    assert (tmp_path / "settings.json").stat().st_mode & 0o777 == 0o600


def test_one_model_is_loaded_before_it_says_that_it_is_ready(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    bench = front(mode="single", model="a.tar.gz")
    answer = bench.invoke()
    assert (answer.outputs[0], answer.headers["x-outrider-cold"]) == (2.0, "0")
    assert bench.invoke("a.tar.gz").value["message"] == "Endpoint endpoint is not a multi-model endpoint."
    other = front(mode="single", model="b.tar.gz")
    assert other.said["ready"] is False
    assert "there is no b.tar.gz" in other.said["error"]


def test_with_memory_for_some_models_the_least_recently_used_goes(front, tmp_path):
    names = [f"{letter}.tar.gz" for letter in "abcd"]
    for number, name in enumerate(names):
        package(tmp_path / "targets" / name, number + 1.0, weights=64 << 20)
    alone = front()
    alone.invoke("a.tar.gz")
    measured = alone.status()
    each_bytes = measured["memory_bytes"] - measured["base_bytes"]
    assert each_bytes > 64 << 20
    bench = front(limit_bytes=int(measured["base_bytes"] + 2.5 * each_bytes))
    for name in ("a.tar.gz", "b.tar.gz", "a.tar.gz", "c.tar.gz"):
        assert bench.invoke(name).status == 200
    status = bench.status()
    assert (status["resident"], status["evictions"]) == (["a.tar.gz", "c.tar.gz"], 1)
    assert status["memory_bytes"] <= status["limit_bytes"]
    assert bench.invoke("b.tar.gz").headers["x-outrider-cold"] == "1"


def test_a_model_that_is_larger_than_the_memory_is_said_to_be(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz", weights=96 << 20)
    package(tmp_path / "targets" / "small.tar.gz")
    bench = front(limit_bytes=96 << 20)
    assert bench.invoke("small.tar.gz").status == 200
    answer = bench.invoke("a.tar.gz")
    assert (answer.status, answer.value["OriginalStatusCode"]) == (424, 507)
    assert "does not fit into memory even alone" in answer.value["OriginalMessage"]
    assert bench.invoke("small.tar.gz").status == 200


def test_callers_of_one_model_wait_for_one_load(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz", weights=64 << 20)
    bench = front()
    found = []
    callers = [threading.Thread(target=lambda: found.append(bench.invoke("a.tar.gz"))) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert [answer.status for answer in found] == [200] * 8
    status = bench.status()
    assert (status["loads"], status["cold"] + status["hits"]) == (1, 8)


def test_a_load_that_is_not_done_in_time_answers_429_and_goes_on(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz", weights=64 << 20)
    bench = front(load_wait_s=0.001)
    answer = bench.invoke("a.tar.gz")
    assert (answer.status, answer.headers["x-amzn-errortype"]) == (429, "ModelNotReadyException")
    until(lambda: bench.status()["resident"] == ["a.tar.gz"])
    assert bench.invoke("a.tar.gz").headers["x-outrider-cold"] == "0"


def test_nothing_of_a_front_outlives_its_starter(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    bench = front()
    bench.invoke("a.tar.gz")
    server = process_tree.read_process(server_pid(bench))
    assert bench.close() == 0
    assert process_tree.read_process(server.pid) is None
    assert not (tmp_path / "work").exists()


def test_a_server_ends_when_its_front_is_killed(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    bench = front()
    pid = server_pid(bench)
    bench.process.kill()
    until(lambda: (now := process_tree.read_process(pid)) is None or not now.alive)


def test_a_server_that_is_killed_is_started_again_and_its_models_are_cold(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    bench = front()
    bench.invoke("a.tar.gz")
    os.kill(server_pid(bench), signal.SIGKILL)
    until(lambda: bench.status()["restarts"] == 1 and bench.ask("GET", "/ping").status == 200)
    answer = bench.invoke("a.tar.gz")
    assert (answer.status, answer.headers["x-outrider-cold"]) == (200, "1")


def test_a_port_that_is_taken_is_said(front, tmp_path):
    package(tmp_path / "targets" / "a.tar.gz")
    port = front().said["port"]
    other = front(port=port)
    assert other.said["ready"] is False
    assert str(port) in other.said["error"]


def test_an_unknown_server_is_said(front):
    bench = front(server="otr")
    assert bench.said["ready"] is False
    assert "did you mean 'ort'?" in bench.said["error"]
    assert bench.process.wait(90) == 2
