"""What every server does behind the front; each has a class of tests that inherits this one."""

from __future__ import annotations

import json
import os
import signal
import struct
import time
from pathlib import Path
from typing import Any

import pytest

from backends.common import process_tree
from backends.serving.base import BINARY
from tests.backends.serving.front_bench import ROW, request_body
from tests.backends.serving.onnx_packages import archive, config, linear_model, package


def until(true, seconds=100.0):
    """Wait for another process to get somewhere."""
    give_up_at = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)


def descendants(bench) -> list[process_tree.Process]:
    """Return the processes of a front's server, and not its watchdog."""
    found = [process for process in process_tree.descendants(bench.process.pid) if process.pid != bench.process.pid]
    return [process for process in found if b"watchdog_process" not in Path(f"/proc/{process.pid}/cmdline").read_bytes()]


def gone(processes) -> bool:
    """Return whether none of these runs any more."""
    now = [(one, process_tree.read_process(one.pid)) for one in processes]
    return not any(later is not None and later.alive and later.start_ticks == one.start_ticks for one, later in now)


def row_named(name: str) -> bytes:
    """Return the body of a request with one row for an input of this name."""
    return json.dumps({"inputs": [{"name": name, "datatype": "FP32", "shape": [1, 4], "data": [-3.0, 0.5, 1.0, 9.0]}]}).encode()


class ServerContract:
    """Tests of one server, which a subclass names."""

    server = "ort"
    cycles = 3
    weights_bytes = 64 << 20
    settings: dict[str, Any] = {}  # noqa: RUF012 (each subclass has its own)

    def bench(self, front, **settings):
        """Start a front before the server."""
        made = front(server=self.server, **{**self.settings, **settings})
        assert made.said["ready"], made.said["error"]
        return made

    def test_models_are_told_apart_and_loaded_when_called(self, front, tmp_path):
        for name, factor in (("a.tar.gz", 2.0), ("b.tar.gz", 3.0)):
            package(tmp_path / "targets" / name, factor)
        bench = self.bench(front)
        answers = [bench.invoke(name) for name in ("a.tar.gz", "b.tar.gz", "a.tar.gz")]
        assert [answer.outputs for answer in answers] == [[2.0, 4.0, 6.0, 8.0], [3.0, 6.0, 9.0, 12.0], [2.0, 4.0, 6.0, 8.0]]
        assert [answer.headers["x-outrider-cold"] for answer in answers] == ["1", "1", "0"]

    def test_rows_go_in_and_come_out_in_order(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz")
        answer = self.bench(front).invoke("a.tar.gz", [[float(row)] * 4 for row in range(8)])
        assert answer.value["outputs"][0]["shape"] == [8, 4]
        assert answer.outputs[::4] == [2.0 * row for row in range(8)]

    def test_binary_tensors_go_in_and_out(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz")
        row = {"name": "x", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": 16}}
        head = json.dumps({"inputs": [row], "parameters": {"binary_data_output": True}}).encode()
        kind = f"{BINARY};json-header-size={len(head)}"
        answer = self.bench(front).invoke("a.tar.gz", body=head + struct.pack("<4f", *ROW), Content_Type=kind)
        said, _, length = answer.headers["content-type"].partition(";json-header-size=")
        assert (answer.status, said) == (200, BINARY)
        assert struct.unpack("<4f", answer.body[int(length) :]) == (2.0, 4.0, 6.0, 8.0)

    def test_what_a_model_cannot_be_given_is_a_client_s_error(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz")
        bench = self.bench(front)
        for body in (request_body([ROW], "z"), request_body([[1.0, 2.0]]), request_body([ROW] * 9)):
            answer = bench.invoke("a.tar.gz", body=body)
            assert (answer.status, answer.value["OriginalStatusCode"] // 100) == (424, 4), (body, answer.value)
        assert bench.invoke("a.tar.gz").outputs == [2.0, 4.0, 6.0, 8.0]

    def test_a_package_that_cannot_be_loaded_is_refused_and_others_are_served(self, front, tmp_path):
        bad = {
            "none.tar.gz": {"linear/config.pbtxt": config(), "linear/1/model.onnx": b"no model"},
            "opset.tar.gz": {"linear/config.pbtxt": config(), "linear/1/model.onnx": linear_model(opset=999)},
            "other.tar.gz": {"linear/config.pbtxt": config(), "linear/1/other": b"x"},
            "config.tar.gz": {"linear/config.pbtxt": "max_batch_size {", "linear/1/model.onnx": linear_model()},
        }
        for name, files in bad.items():
            archive(tmp_path / "targets" / name, files)
        package(tmp_path / "targets" / "good.tar.gz")
        bench = self.bench(front)
        assert [bench.invoke(name).status for name in bad] == [424] * 4
        assert bench.invoke("good.tar.gz").outputs == [2.0, 4.0, 6.0, 8.0]
        assert (bench.status()["failed_loads"], bench.status()["resident"]) == (4, ["good.tar.gz"])

    def test_what_is_unloaded_gives_its_memory_back_and_can_be_loaded_again(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz", weights=64 << 20)
        bench = self.bench(front)
        seen = []
        for _ in range(self.cycles):
            assert bench.invoke("a.tar.gz").status == 200
            loaded = bench.status()["memory_bytes"]
            assert bench.ask("POST", "/unload", json.dumps({"target": "a.tar.gz"}).encode()).value == {"unloaded": True}
            seen.append((loaded, bench.status()["memory_bytes"]))
        assert all(loaded - left > 60 << 20 for loaded, left in seen)
        # The first loads may leave what all later ones share.
        assert seen[-1][1] < 1.05 * seen[-2][1]
        assert bench.status()["unloads"] == self.cycles

    def test_memory_for_some_is_shared_by_those_that_were_used_last(self, front, tmp_path):
        for name in ("a", "b", "c"):
            package(tmp_path / "targets" / f"{name}.tar.gz", weights=self.weights_bytes)
        alone = self.bench(front)
        assert alone.invoke("a.tar.gz").status == 200
        measured = alone.status()
        each_bytes = measured["memory_bytes"] - measured["base_bytes"]
        bench = self.bench(front, limit_bytes=int(measured["base_bytes"] + 2.5 * each_bytes))
        assert [bench.invoke(f"{name}.tar.gz").status for name in "abac"] == [200] * 4
        status = bench.status()
        assert (sorted(status["resident"]), status["evictions"]) == (["a.tar.gz", "c.tar.gz"], 1)
        assert status["memory_bytes"] <= status["limit_bytes"]

    def test_a_model_s_process_that_is_killed_comes_back(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz")
        bench = self.bench(front)
        assert bench.invoke("a.tar.gz").status == 200
        os.kill(descendants(bench)[-1].pid, signal.SIGKILL)
        until(lambda: bench.invoke("a.tar.gz").status == 200)
        assert bench.invoke("a.tar.gz").outputs == [2.0, 4.0, 6.0, 8.0]

    def test_a_server_that_is_killed_comes_back_and_leaves_nothing(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz")
        bench = self.bench(front)
        assert bench.invoke("a.tar.gz").status == 200
        before = descendants(bench)
        os.kill(before[0].pid, signal.SIGKILL)
        until(lambda: bench.status()["restarts"] == 1 and bench.invoke("a.tar.gz").status == 200)
        until(lambda: gone(before))

    @pytest.mark.parametrize("how", ["closed", "killed"])
    def test_nothing_outlives_the_front(self, front, tmp_path, how):
        package(tmp_path / "targets" / "a.tar.gz")
        bench = self.bench(front)
        assert bench.invoke("a.tar.gz").status == 200
        processes = descendants(bench)
        assert processes
        if how == "closed":
            assert bench.close() == 0
            assert gone(processes)
        else:
            bench.process.kill()
            until(lambda: gone(processes))

    def test_its_log_is_kept(self, front, tmp_path):
        bench = self.bench(front)
        bench.close()
        assert bench.log.read_bytes()


class TorchScriptContract(ServerContract):
    """Tests of a server that serves TorchScript too."""

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_a_torchscript_file_is_served(self, front, tmp_path):
        assert self.torchscript(front, tmp_path).invoke("a.tar.gz", body=row_named("INPUT__0")).outputs == [-2.0, 0.5, 1.0, 2.0]

    def torchscript(self, front, tmp_path):
        """Return a front before a model that keeps numbers between -2 and 2."""
        torch = pytest.importorskip("torch")
        torch.jit.trace(torch.nn.Hardtanh(-2.0, 2.0), torch.zeros(1, 4)).save(tmp_path / "model.pt")
        text = config().replace("onnxruntime_onnx", "pytorch_libtorch").replace('"x"', '"INPUT__0"').replace('"y"', '"OUTPUT__0"')
        archive(tmp_path / "targets" / "a.tar.gz", {"m/config.pbtxt": text, "m/1/model.pt": (tmp_path / "model.pt").read_bytes()})
        return self.bench(front)
