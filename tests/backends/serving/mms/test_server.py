"""multi-model-server behind the front; and why it cannot be had where it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backends.serving.environment import ServingEnvironment
from backends.serving.mms.server import MmsServer, reason_against
from tests.backends.serving.onnx_packages import archive, config, package
from tests.backends.serving.server_contract import ServerContract

MISSING = MmsServer.missing()


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
class TestMms(ServerContract):
    server = "mms"
    cycles = 5  # the virtual machine loads classes for longer

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_a_torchscript_file_is_served(self, front, tmp_path):
        torch = pytest.importorskip("torch")
        torch.jit.trace(torch.nn.Hardtanh(-2.0, 2.0), torch.zeros(1, 4)).save(tmp_path / "model.pt")
        text = config().replace("onnxruntime_onnx", "pytorch_libtorch").replace('"x"', '"INPUT__0"').replace('"y"', '"OUTPUT__0"')
        archive(tmp_path / "targets" / "a.tar.gz", {"m/config.pbtxt": text, "m/1/model.pt": (tmp_path / "model.pt").read_bytes()})
        body = {"inputs": [{"name": "INPUT__0", "datatype": "FP32", "shape": [1, 4], "data": [-3.0, 0.5, 1.0, 9.0]}]}
        bench = self.bench(front)
        assert bench.invoke("a.tar.gz", body=json.dumps(body).encode()).outputs == [-2.0, 0.5, 1.0, 2.0]
        body["inputs"][0]["name"] = "INPUT__1"
        assert "takes the inputs INPUT__0" in bench.invoke("a.tar.gz", body=json.dumps(body).encode()).value["OriginalMessage"]

    def test_two_of_them_do_not_meet(self, front, tmp_path):
        for name, factor in (("a.tar.gz", 2.0), ("b.tar.gz", 3.0)):
            package(tmp_path / "targets" / name, factor)
        one, other = self.bench(front), self.bench(front)
        assert [one.invoke("a.tar.gz").outputs[0], other.invoke("b.tar.gz").outputs[0], one.invoke("a.tar.gz").outputs[0]] == [
            2.0,
            3.0,
            2.0,
        ]


def test_what_is_lacking_is_said():
    found = ServingEnvironment("/e/bin/python", Path("/e"), "", "3.11", {})
    assert reason_against(found, "/usr/bin/java") == ""
    assert "there is no `java` on the path" in reason_against(found, None)
    assert "make serving" in reason_against(None, "/usr/bin/java")
